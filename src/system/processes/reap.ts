import { type Family, livingByFamily, signalAll } from './process-tree.ts';

/** Ends families of processes, however many, by few looks at all processes. */
export interface ProcessSweep {
  /** Asks all of a family to end, forces them after `graceMs`, and resolves when nobody is left. */
  end(family: Family, options: EndOptions): Promise<void>;
  /** Some time later, forces whoever of a family is left; nobody waits for it. */
  later(family: Family): void;
  /** Does now what was left for later. */
  settle(): Promise<void>;
}

interface EndOptions {
  readonly graceMs: number;
  /** One who ends with the others and only by force, if there is such. */
  readonly spared?: number | undefined;
}

interface Ending extends EndOptions {
  readonly family: Family;
  readonly deadline: number;
  readonly asked: Set<number>;
  resolve(): void;
}

const LOOK_AGAIN_MS = 20;
const LATER_MS = 500;
/** A look takes longer the more runs on the machine: what it costs must not grow with that. */
const BUSY_SHARE = 4;
const IDLE_SHARE = 100;

/** Nothing is to be ended yet. */
export function createProcessSweep(): ProcessSweep {
  const endings = new Set<Ending>();
  let left: Family[] = [];
  let lookMs = 0;
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;

  const look = (): void => {
    timer = undefined;
    const begin = performance.now();
    const swept = left;
    left = [];
    const living = livingByFamily([...swept, ...Array.from(endings, ({ family }) => family)]);
    for (const family of swept) signalAll(living.get(family) ?? [], 'SIGKILL');
    for (const ending of endings) {
      const members = living.get(ending.family) ?? [];
      if (members.length > 0) {
        press(ending, members);
        continue;
      }
      endings.delete(ending);
      ending.resolve();
    }
    lookMs = performance.now() - begin;
    plan();
  };

  const plan = (): void => {
    if (endings.size > 0) lookIn(Math.max(LOOK_AGAIN_MS, BUSY_SHARE * lookMs));
    else if (left.length > 0) lookIn(Math.max(LATER_MS, IDLE_SHARE * lookMs));
  };
  const lookIn = (delayMs: number): void => {
    const at = performance.now() + delayMs;
    if (timer !== undefined && timer.at <= at) return;
    clearTimeout(timer?.handle);
    timer = { at, handle: setTimeout(look, delayMs) };
    if (endings.size === 0) timer.handle.unref(); // should this process end first, its guard does it
  };

  const end: ProcessSweep['end'] = (family, options) =>
    new Promise((resolve) => {
      endings.add({ ...options, family, deadline: performance.now() + options.graceMs, asked: new Set(), resolve });
      lookIn(0); // all who are ended in this moment are looked for together
    });
  return {
    end,
    later(family) {
      left.push(family);
      plan();
    },
    async settle() {
      const rest = left;
      left = [];
      await Promise.all(rest.map((family) => end(family, { graceMs: 0 })));
    },
  };
}

/** Each is asked once, and all are forced when the time is over. */
function press({ asked, deadline, spared }: Ending, members: readonly number[]): void {
  const isOver = performance.now() >= deadline;
  signalAll(
    isOver ? members : members.filter((pid) => pid !== spared && !asked.has(pid)),
    isOver ? 'SIGKILL' : 'SIGTERM',
  );
  for (const pid of members) asked.add(pid);
}
