import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/ports.ts';
import { createOutputTail, type OutputTail } from '../../system/processes/output-tail.ts';
import type { ChildCommand } from '../../system/processes/start-child.ts';
import { workersTogether } from './async-worker.ts';
import { type Lane, workersInTurn } from './blocking-pool.ts';
import { findInterpreter, workerScript } from './interpreter.ts';
import { startPythonWorker } from './python-worker.ts';
import { MAX_ANSWER_BYTES } from './worker-answer.ts';
import type { WorkerProcesses } from './worker-processes.ts';

/** How Python is run; read anew before each call, so that edits count. */
export interface PythonSettings {
  /** A program, or the folder of a virtual environment; default python3. */
  readonly interpreter?: string | undefined;
  /** How many functions that block may run at the same time in one folder; default 4. */
  readonly workers?: number | undefined;
  /** What else the environment of workers is made of; only compared. */
  readonly env?: unknown;
}

/** What workers are started with. */
export interface PythonSurroundings {
  settings(): PythonSettings;
  /** The program that these settings mean. */
  interpreter(): string;
  /** All of the environment of a worker; secrets are looked up now. */
  environment(): Promise<Readonly<Record<string, string>>>;
  readonly clock: Clock;
  /** For what may as well not happen any more. */
  readonly idleClock: Clock;
}

/** What a function was found to be. */
export interface Trait {
  readonly isAsync: boolean;
  /** Whether it wants to know about the call. */
  readonly takesCall: boolean;
}

/** The workers of one folder. */
export interface PythonShop {
  /** For functions that block. */
  readonly inTurn: Lane;
  /** For async functions. */
  readonly together: Lane;
  readonly output: OutputTail;
  /** What functions were found to be, by module and name; the others block and know nothing of the call. */
  readonly traits: Map<string, Trait>;
  /** Lets running work end and starts no more. */
  retire(): void;
  close(): Promise<void>;
}

const DEFAULT_WORKERS = 4;

export interface ShopSurroundings extends PythonSurroundings {
  readonly processes: WorkerProcesses;
}

/** Nothing is started before the first question. */
export function openShop(folder: string, settings: PythonSettings, surroundings: ShopSurroundings): PythonShop {
  const { clock, idleClock, environment, processes } = surroundings;
  const output = createOutputTail();
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
  // No compiled files beside the tools: in a folder that is watched they would look like an edit.
  return { command: findInterpreter(interpreter), args: ['-B', workerScript(), JSON.stringify(order)] };
}
