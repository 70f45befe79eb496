import type { Clock } from '../../core/ports/crib-context.ts';
import { PythonFailure, type PythonWorker, type WorkerQuestion } from './python-worker.ts';

/** Workers that questions are put to; an answer is told once, however it ends. */
export interface Lane {
  /** Asks, now or when there is a worker. Returns how to call it off: then `onLost` is told when the work has ended. */
  ask(question: WorkerQuestion): () => void;
  /** Lets running work end and starts no more. */
  retire(): void;
  /** Ends everything. */
  close(): Promise<void>;
}

/** Starts a worker; `onEnd` is told when it is over. */
export type StartWorker = (onEnd: () => void) => PythonWorker;

export interface InTurnOptions {
  readonly start: StartWorker;
  readonly maxWorkers: number;
  /** For what may as well not happen any more. */
  readonly idleClock: Clock;
}

interface Seat {
  readonly worker: PythonWorker;
  question: WorkerQuestion | undefined;
  wasUsed: boolean;
}

/** How many questions may wait for a worker. */
const MAX_WAITING = 1000;
/** How long a tool has to put away what it has in hand. */
export const GRACE_MS = 1000;
/** After this long without work a worker that is not the last one ends. */
const IDLE_MS = 60_000;

/** Workers for functions that block: each has one question at a time, so that ending one hits nobody else. */
export function workersInTurn({ start, idleClock, maxWorkers }: InTurnOptions): Lane {
  const seats = new Set<Seat>();
  const free: Seat[] = [];
  const waiting = new Set<WorkerQuestion>();
  let isRetired = false;
  let stopSweep: (() => void) | undefined;

  const leave = (seat: Seat): void => {
    seats.delete(seat);
    const index = free.indexOf(seat);
    if (index !== -1) free.splice(index, 1);
  };
  const end = (seat: Seat): Promise<void> => {
    leave(seat);
    return seat.worker.end(GRACE_MS);
  };
  const open = (): Seat => {
    const seat: Seat = {
      worker: start(() => {
        leave(seat);
        seatNext();
      }),
      question: undefined,
      wasUsed: true,
    };
    seats.add(seat);
    return seat;
  };
  const sweep = (): void => {
    stopSweep = undefined;
    for (const seat of [...free]) {
      if (!seat.wasUsed && seats.size > 1) void end(seat);
      seat.wasUsed = false;
    }
    sweepLater();
  };
  const sweepLater = (): void => {
    if (seats.size > 1) stopSweep ??= idleClock.setTimer(IDLE_MS, sweep);
  };
  const put = (seat: Seat, question: WorkerQuestion): void => {
    seat.question = question;
    seat.wasUsed = true;
    seat.worker.keepAlive(true);
    seat.worker.ask({
      request: question.request,
      onAnswer(answer) {
        if (seat.question !== question) return; // called off
        if (answer.kind !== 'yield') vacate(seat, answer.kind === 'again' && answer.why.stale === true);
        question.onAnswer(answer);
      },
      onLost(failure) {
        if (seat.question !== question) return; // likewise
        question.onLost(failure);
      },
    });
  };
  const vacate = (seat: Seat, isStale: boolean): void => {
    seat.question = undefined;
    if (isStale || isRetired) void end(seat);
    else {
      seat.worker.keepAlive(false);
      free.push(seat);
    }
    seatNext();
  };
  const seatNext = (): void => {
    for (const question of waiting) {
      if (free.length === 0 && seats.size >= maxWorkers) return;
      waiting.delete(question);
      if (question.begin?.() === false) question.onLost(calledOff());
      else put(free.pop() ?? open(), question);
    }
    sweepLater();
  };
  const callOff = (question: WorkerQuestion): void => {
    const over = () => question.onLost(calledOff());
    if (waiting.delete(question)) {
      over();
      return;
    }
    const seat = [...seats].find((one) => one.question === question);
    if (seat === undefined) return;
    seat.question = undefined;
    void end(seat).then(over);
    seatNext();
  };

  return {
    ask(question) {
      if (waiting.size >= MAX_WAITING)
        queueMicrotask(() => question.onLost(new PythonFailure('busy', `${MAX_WAITING} calls wait for it already`)));
      else waiting.add(question);
      seatNext();
      return () => callOff(question);
    },
    retire() {
      isRetired = true;
      for (const seat of [...free]) void end(seat);
    },
    async close() {
      isRetired = true;
      stopSweep?.();
      const left = [...waiting];
      waiting.clear();
      for (const { onLost } of left) onLost(new PythonFailure('cancelled', 'the crib was closed'));
      await Promise.all([...seats].map(end));
    },
  };
}

/** What is said of work that the caller does not want any more. */
export function calledOff(): PythonFailure {
  return new PythonFailure('cancelled', 'it was called off');
}
