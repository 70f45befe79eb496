import type { JsonObject } from '../../core/json.ts';
import { calledOff, type Lane } from './blocking-pool.ts';
import { PythonFailure, type WorkerAnswer, type WorkerQuestion } from './python-worker.ts';
import { openPool, type PythonSettings, type PythonSurroundings, type Trait, type WorkerPool } from './worker-pool.ts';
import { createWorkerProcesses } from './worker-processes.ts';

/** The final answer to a call or an inspection. */
export type PythonAnswer = Exclude<WorkerAnswer, { readonly kind: 'again' | 'yield' }>;

/** Common options of calls and inspections. */
interface PythonWork {
  /** The folder that modules are imported from. */
  readonly folder: string;
  onYield(value: unknown, size: number): void;
  /** Calls `listener` when the caller stops waiting, at once if it already has; returns a function that stops listening. */
  onAbort(listener: () => void): () => void;
}

/** A call to a function. */
interface PythonCall extends PythonWork {
  readonly module: string;
  readonly function: string;
  readonly args: JsonObject;
  /** Called right before a worker gets the call; false if it must not start any more. */
  begin(): boolean;
  /** Facts about the call; created only for a function that takes them. */
  about(): JsonObject;
  /** True if the function must take the call, because it needs services from it. */
  readonly mustTakeCall: boolean;
}

/** An inspection of files; each item is a yield. */
interface PythonLook extends PythonWork {
  readonly find: readonly JsonObject[];
}

/** Warm Python processes, by the folder of their modules. */
export interface PythonWorkers {
  /** Calls a function. Rejects with a `PythonFailure`; after an abort only when the work has really ended. */
  call(call: PythonCall): Promise<PythonAnswer>;
  look(look: PythonLook): Promise<PythonAnswer>;
  /** The current interpreter, for detecting changes. */
  interpreter(): string;
  /** Changes whenever Python is run with other settings. */
  settingsText(): string;
  /** The end of the output of a folder's tools. */
  output(folder: string): string;
  /** A sentence naming network variables that the worker did not get; empty if its output is not about the network. */
  describeWithheld?(said: string): string;
  close(): Promise<void>;
}

/** Workers whose output can be followed. */
export interface FollowedPythonWorkers extends PythonWorkers {
  /** Returns a function that stops listening. */
  onOutput(folder: string, listener: (printed: Uint8Array) => void): () => void;
}

/** A file that changes constantly must not delay a call without limit. */
const MAX_TRIES = 8;
const ORDINARY: Trait = { isAsync: false, takesCall: false };

/** Starts nothing before the first call. */
export function createPythonWorkers(surroundings: PythonSurroundings): PythonWorkers {
  const processes = createWorkerProcesses();
  const pools = new Map<string, WorkerPool>();
  const retired: WorkerPool[] = [];
  let opened: PythonSettings = surroundings.settings();

  const poolOf = (folder: string): WorkerPool => {
    const settings = surroundings.settings();
    if (opened !== settings && JSON.stringify(opened) !== JSON.stringify(settings)) {
      for (const pool of pools.values()) pool.retire();
      retired.push(...pools.values());
      pools.clear();
    }
    opened = settings;
    const pool = pools.get(folder) ?? openPool(folder, settings, { ...surroundings, processes });
    pools.set(folder, pool);
    return pool;
  };

  return {
    async call(call) {
      const { folder, module, function: name, args, mustTakeCall } = call;
      const key = `${module}\0${name}`;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const pool = poolOf(folder);
        const trait = pool.traits.get(key) ?? ORDINARY;
        const about = { ...(trait.takesCall && { call: call.about() }), ...(mustTakeCall && { mustTakeCall }) };
        const request = { module, function: name, args, ...about };
        const answer = await ask(trait.isAsync ? pool.together : pool.inTurn, { request, begin: call.begin }, call);
        if (answer.kind !== 'again') return answer;
        const { stale, ...learned } = answer.why;
        if (stale === true) pool.traits.clear();
        else pool.traits.set(key, { ...trait, ...learned });
      }
      throw unsteady();
    },
    async look(look) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const answer = await ask(poolOf(look.folder).inTurn, { request: { find: look.find } }, look);
        if (answer.kind !== 'again') return answer;
      }
      throw unsteady();
    },
    interpreter: () => surroundings.interpreter(),
    settingsText: () => JSON.stringify(surroundings.settings()),
    output: (folder) => pools.get(folder)?.output.text() ?? '',
    async close() {
      await Promise.all([...retired, ...pools.values()].map((pool) => pool.close()));
      await processes.close();
    },
  };
}

function unsteady(): PythonFailure {
  return new PythonFailure('busy', 'its files keep changing');
}

type LastAnswer = Exclude<WorkerAnswer, { readonly kind: 'yield' }>;

function ask(
  lane: Lane,
  question: Pick<WorkerQuestion, 'request' | 'begin'>,
  { onYield, onAbort }: PythonWork,
): Promise<LastAnswer> {
  return new Promise((resolve, reject) => {
    let isWanted = true;
    let callOff = () => {};
    const stop = onAbort(() => {
      isWanted = false;
      callOff();
    });
    if (!isWanted) return reject(calledOff());
    callOff = lane.ask({
      ...question,
      onAnswer(answer) {
        if (answer.kind === 'yield') return onYield(answer.value, answer.size);
        stop();
        resolve(answer);
      },
      onLost(failure) {
        stop();
        reject(failure);
      },
    });
  });
}
