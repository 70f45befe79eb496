import type { Clock } from '../../core/ports/crib-context.ts';
import { PythonFailure, type PythonWorker, type WorkerQuestion } from './python-worker.ts';

/** A group of workers. Each request gets exactly one final answer or failure. */
export interface Lane {
  /** Sends a request, or queues it until a worker is free. Returns a function that cancels it; `onLost` is called when the work has ended. */
  ask(question: WorkerQuestion): () => void;
  /** Lets running work finish and starts no more. */
  retire(): void;
  /** Stops all workers and fails queued requests. */
  close(): Promise<void>;
}

/** Starts a worker; calls `onEnd` when it has ended. */
export type StartWorker = (onEnd: () => void) => PythonWorker;

export interface InTurnOptions {
  readonly start: StartWorker;
  readonly maxWorkers: number;
  /** For background work; does not keep the process alive. */
  readonly idleClock: Clock;
}

interface Seat {
  readonly worker: PythonWorker;
  question: WorkerQuestion | undefined;
  wasUsed: boolean;
}

/** Limit of queued requests. */
const MAX_WAITING = 1000;
/** Grace period for a tool to clean up. */
export const GRACE_MS = 1000;
/** Idle time after which a worker ends, unless it is the last one. */
const IDLE_MS = 60_000;

/** A pool for blocking functions. Each worker runs one request at a time, so that ending it affects no other. */
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
        if (seat.question !== question) return; // cancelled
        if (answer.kind !== 'yield') vacate(seat, answer.kind === 'again' && answer.why.stale === true);
        question.onAnswer(answer);
      },
      onLost(failure) {
        if (seat.question !== question) return; // cancelled
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
        queueMicrotask(() => question.onLost(new PythonFailure('busy', `${MAX_WAITING} calls are already queued`)));
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
      for (const { onLost } of left) onLost(new PythonFailure('cancelled', 'the crib is closed'));
      await Promise.all([...seats].map(end));
    },
  };
}

/** The failure of a cancelled request. */
export function calledOff(): PythonFailure {
  return new PythonFailure('cancelled', 'it was cancelled');
}
