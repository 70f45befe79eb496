import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { createOutputTail, type OutputTail } from '../../system/processes/child-output.ts';
import type { ChildCommand } from '../../system/processes/start-child.ts';
import { calledOff, GRACE_MS, type Lane, type StartWorker, workersInTurn } from './blocking-pool.ts';
import { findInterpreter, workerScript } from './interpreter.ts';
import { MAX_ANSWER_BYTES, type PythonWorker, startPythonWorker, type WorkerQuestion } from './python-worker.ts';
import type { WorkerProcesses } from './worker-processes.ts';

/** Python settings; read before each call, so that edits take effect. */
export interface PythonSettings {
  /** A program, or the folder of a virtual environment; default python3. */
  readonly interpreter?: string | undefined;
  /** Most blocking functions that run at the same time in one folder; default 4. */
  readonly workers?: number | undefined;
  /** Further environment variables of workers; only compared here. */
  readonly env?: unknown;
}

/** Options for starting workers. */
export interface PythonSurroundings {
  settings(): PythonSettings;
  /** The program that the settings name. */
  interpreter(): string;
  /** The complete environment of a worker; resolves secrets. */
  environment(): Promise<Readonly<Record<string, string>>>;
  readonly clock: Clock;
  /** For background work; does not keep the process alive. */
  readonly idleClock: Clock;
  /** Receives the output of a folder's tools. */
  onOutput?(folder: string, printed: Uint8Array): void;
}

/** Known properties of a function. */
export interface Trait {
  readonly isAsync: boolean;
  /** True if it takes the call. */
  readonly takesCall: boolean;
}

/** The workers of one folder. */
export interface WorkerPool {
  /** For blocking functions. */
  readonly inTurn: Lane;
  /** For async functions. */
  readonly together: Lane;
  readonly output: OutputTail;
  /** Known traits of functions, by module and name; by default a function blocks and does not take the call. */
  readonly traits: Map<string, Trait>;
  /** Lets running work finish and starts no more. */
  retire(): void;
  close(): Promise<void>;
}

const DEFAULT_WORKERS = 4;

export interface PoolSurroundings extends PythonSurroundings {
  readonly processes: WorkerProcesses;
}

/** Starts nothing before the first request. */
export function openPool(folder: string, settings: PythonSettings, surroundings: PoolSurroundings): WorkerPool {
  const { clock, idleClock, environment, processes } = surroundings;
  const output = createOutputTail();
  output.onAdd((printed) => surroundings.onOutput?.(folder, printed));
  const start = (isAsync: boolean) => (onEnd: () => void) =>
    startPythonWorker({
      processes,
      async command() {
        const order = { folder, isAsync, maxBytes: MAX_ANSWER_BYTES };
        return { ...commandOf(order, settings), cwd: folder, env: await environment() };
      },
      output,
      maxBytes: MAX_ANSWER_BYTES,
      onEnd,
    });
  const maxWorkers = settings.workers ?? DEFAULT_WORKERS;
  const inTurn = workersInTurn({ start: start(false), idleClock, maxWorkers });
  const together = workersTogether({ start: start(true), clock });
  return {
    inTurn,
    together,
    output,
    traits: new Map(),
    retire() {
      inTurn.retire();
      together.retire();
    },
    async close() {
      await Promise.all([inTurn.close(), together.close()]);
    },
  };
}

function commandOf(order: JsonObject, { interpreter }: PythonSettings): Pick<ChildCommand, 'command' | 'args'> {
  // -B: compiled files next to the tools would look like edits in a watched folder.
  return { command: findInterpreter(interpreter), args: ['-B', workerScript(), JSON.stringify(order)] };
}

interface Shared {
  readonly worker: PythonWorker;
  /** Pending requests, with their ids in the worker. */
  readonly questions: Map<WorkerQuestion, number>;
  /** Cancelled requests, each with a function that stops its grace timer. */
  readonly calledOff: Map<WorkerQuestion, () => void>;
}

interface TogetherOptions {
  readonly start: StartWorker;
  readonly clock: Clock;
}

/** One worker with an event loop for all async functions. If a cancelled function does not stop, the worker is ended with all its requests. */
function workersTogether({ start, clock }: TogetherOptions): Lane {
  const all = new Set<Shared>();
  let current: Shared | undefined;
  let isRetired = false;

  const open = (): Shared => {
    const shared: Shared = {
      worker: start(() => {
        all.delete(shared);
        if (current === shared) current = undefined;
      }),
      questions: new Map(),
      calledOff: new Map(),
    };
    all.add(shared);
    return shared;
  };
  const release = (shared: Shared): void => {
    if (shared.questions.size > 0) return;
    shared.worker.keepAlive(false);
    if (shared !== current || isRetired) void shared.worker.end(GRACE_MS);
  };
  const end = (shared: Shared): Promise<void> => {
    if (current === shared) current = undefined;
    return shared.worker.end(GRACE_MS);
  };
  const put = (shared: Shared, question: WorkerQuestion): void => {
    const over = (): boolean => {
      shared.questions.delete(question);
      release(shared);
      shared.calledOff.get(question)?.();
      return shared.calledOff.delete(question);
    };
    shared.worker.keepAlive(true);
    shared.questions.set(question, 0);
    const id = shared.worker.ask({
      request: question.request,
      onAnswer(answer) {
        if (answer.kind === 'again' && answer.why.stale === true && current === shared) current = undefined;
        if (answer.kind === 'yield') return shared.calledOff.has(question) ? undefined : question.onAnswer(answer);
        if (over()) question.onLost(calledOff());
        else question.onAnswer(answer);
      },
      onLost: (failure) => question.onLost(over() ? calledOff() : failure),
    });
    if (shared.questions.has(question)) shared.questions.set(question, id);
  };
  const callOff = (shared: Shared, question: WorkerQuestion): void => {
    const id = shared.questions.get(question);
    if (id === undefined) return;
    shared.calledOff.set(
      question,
      clock.setTimer(GRACE_MS, () => void end(shared)),
    );
    shared.worker.cancel(id);
  };

  return {
    ask(question) {
      if (question.begin?.() === false) {
        queueMicrotask(() => question.onLost(calledOff()));
        return () => {};
      }
      current ??= open();
      const shared = current;
      put(shared, question);
      return () => callOff(shared, question);
    },
    retire() {
      isRetired = true;
      for (const shared of all) release(shared);
    },
    async close() {
      isRetired = true;
      await Promise.all([...all].map(end));
    },
  };
}
