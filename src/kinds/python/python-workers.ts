import type { JsonObject } from '../../core/json.ts';
import { calledOff, type Lane } from './blocking-pool.ts';
import { PythonFailure, type WorkerAnswer, type WorkerQuestion } from './python-worker.ts';
import { openShop, type PythonSettings, type PythonShop, type PythonSurroundings, type Trait } from './worker-pool.ts';
import { createWorkerProcesses } from './worker-processes.ts';

/** The last word on a call or a look. */
export type PythonAnswer = Exclude<WorkerAnswer, { readonly kind: 'again' | 'yield' }>;

/** What both calls and looks say. */
interface PythonWork {
  /** The folder that modules are found from. */
  readonly folder: string;
  onYield(value: unknown, size: number): void;
  /** Calls `listener` when nobody wants the answer any more, at once if so; returns how to stop. */
  onAbort(listener: () => void): () => void;
}

/** A call of a function. */
interface PythonCall extends PythonWork {
  readonly module: string;
  readonly function: string;
  readonly args: JsonObject;
  /** Asked right before a worker gets the call; false: it must not begin any more. */
  begin(): boolean;
  /** What a function may know about the call; made only for one that asks. */
  about(): JsonObject;
  /** True if it must not run where it does not ask: what it needs would not reach it. */
  readonly mustTakeCall: boolean;
}

/** A look at what files offer; each thing is a yield. */
interface PythonLook extends PythonWork {
  readonly find: readonly JsonObject[];
}

/** Python processes that stay warm, by the folder that their modules lie in. */
export interface PythonWorkers {
  /** Calls a function. Rejects with a `PythonFailure`; after an abort only when the work has really ended. */
  call(call: PythonCall): Promise<PythonAnswer>;
  look(look: PythonLook): Promise<PythonAnswer>;
  /** The program that runs now, to notice that it is another one. */
  interpreter(): string;
  /** Other text whenever Python is run in another way. */
  settingsText(): string;
  /** The end of what tools of a folder printed. */
  output(folder: string): string;
  /** A sentence about what a worker that cannot reach the network was not given; empty where what it said is about something else. */
  describeWithheld?(said: string): string;
  close(): Promise<void>;
}

/** The same, and what tools print as it comes. */
export interface FollowedPythonWorkers extends PythonWorkers {
  /** Returns how to stop. */
  onOutput(folder: string, listener: (printed: Uint8Array) => void): () => void;
}

/** A file that is being edited without end must not keep a call for ever. */
const MAX_TRIES = 8;
const ORDINARY: Trait = { isAsync: false, takesCall: false };

/** Nothing is started before the first call. */
export function createPythonWorkers(surroundings: PythonSurroundings): PythonWorkers {
  const processes = createWorkerProcesses();
  const shops = new Map<string, PythonShop>();
  const retired: PythonShop[] = [];
  let opened: PythonSettings = surroundings.settings();

  const shopOf = (folder: string): PythonShop => {
    const settings = surroundings.settings();
    if (opened !== settings && JSON.stringify(opened) !== JSON.stringify(settings)) {
      for (const shop of shops.values()) shop.retire();
      retired.push(...shops.values());
      shops.clear();
    }
    opened = settings;
    const shop = shops.get(folder) ?? openShop(folder, settings, { ...surroundings, processes });
    shops.set(folder, shop);
    return shop;
  };

  return {
    async call(call) {
      const { folder, module, function: name, args, mustTakeCall } = call;
      const key = `${module}\0${name}`;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const shop = shopOf(folder);
        const trait = shop.traits.get(key) ?? ORDINARY;
        const about = { ...(trait.takesCall && { call: call.about() }), ...(mustTakeCall && { mustTakeCall }) };
        const request = { module, function: name, args, ...about };
        const answer = await ask(trait.isAsync ? shop.together : shop.inTurn, { request, begin: call.begin }, call);
        if (answer.kind !== 'again') return answer;
        const { stale, ...learned } = answer.why;
        if (stale === true) shop.traits.clear();
        else shop.traits.set(key, { ...trait, ...learned });
      }
      throw unsteady();
    },
    async look(look) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const answer = await ask(shopOf(look.folder).inTurn, { request: { find: look.find } }, look);
        if (answer.kind !== 'again') return answer;
      }
      throw unsteady();
    },
    interpreter: () => surroundings.interpreter(),
    settingsText: () => JSON.stringify(surroundings.settings()),
    output: (folder) => shops.get(folder)?.output.text() ?? '',
    async close() {
      await Promise.all([...retired, ...shops.values()].map((shop) => shop.close()));
      await processes.close();
    },
  };
}

function unsteady(): PythonFailure {
  return new PythonFailure('busy', 'its files do not stop changing');
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
