import type { MaybePromise } from '../core/json.ts';
import type { ApprovalState } from '../core/ports/approval-states.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredApprovals } from '../core/ports/stored-approvals.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { idleClock } from '../system/clock.ts';

/** Looks at the store for everything in a crib that waits for approvals: one timer, and one query for all requests that are watched. */
export interface ApprovalPoller {
  /** Tells the state of a request at every look; undefined if the request is not there. */
  watch(id: string, told: (state: ApprovalState | undefined) => void): Subscription;
  /** Does this at every look, once at a time. Work that takes long holds up nobody else. */
  subscribe(work: () => Promise<void>): Subscription;
  close(): void;
}

/** The place of one who waits. */
export interface Subscription {
  /** Looks now, for all; during a look, once more after it. Resolves when the own work is done, and never rejects. */
  look(): Promise<void>;
  stop(): void;
}

/** What a poller looks at. */
interface PollerOptions {
  /** Undefined without a store. */
  readonly approvals: Pick<StoredApprovals, 'statesOf' | 'onAnswer'> | undefined;
  /** Looks for calls whose process is gone; every look begins with it. */
  findLost(): Promise<unknown>;
  warn(message: string): void;
  readonly clock?: Clock;
}

/** How long what another process did may go unnoticed. */
const LOOK_EVERY_MS = 500;
const IDS_PER_QUERY = 500;

/** A poller that rests while nobody waits. What happens in this process makes it look at once. */
export function createPoller({ approvals, findLost, warn, clock = idleClock }: PollerOptions): ApprovalPoller {
  const watchers = new Set<Watcher>();
  const works = new Set<() => Promise<void>>();
  let isClosed = false;
  const attempt = attemptWith((message) => isClosed || warn(message));
  let stopTimer: (() => void) | undefined;
  let stopListening: (() => void) | undefined;

  const look = oneByOne(async () => {
    rest();
    if (isClosed) return;
    await findLost();
    for (const work of works) void work();
    await attempt(() => tellStates(watchers, { approvals, attempt }));
    wait();
  });
  const rest = (): void => {
    stopTimer?.();
    stopTimer = undefined;
  };
  const wait = (): void => {
    if (isClosed || watchers.size + works.size === 0) return;
    stopTimer ??= clock.setTimer(LOOK_EVERY_MS, () => void look());
    stopListening ??= approvals?.onAnswer((answered) => {
      if (works.size > 0 || [...watchers].some(({ id }) => id === answered)) void look();
    });
  };
  const join = <T>(all: Set<T>, one: T): Subscription => {
    all.add(one);
    wait();
    return {
      look,
      stop() {
        all.delete(one);
        if (watchers.size + works.size === 0) leave();
      },
    };
  };
  const leave = (): void => {
    rest();
    stopListening?.();
    stopListening = undefined;
  };
  return {
    watch: (id, told) => join(watchers, { id, told }),
    subscribe(work) {
      const inTurn = oneByOne(async () => (works.has(own) ? attempt(work) : undefined));
      let last: Promise<void> | undefined;
      const own = () => (last = inTurn());
      return { ...join(works, own), look: () => look().then(() => last) };
    },
    close() {
      isClosed = true;
      leave();
    },
  };
}

type Attempt = (work: () => MaybePromise<void>) => Promise<void>;

/** Does something that may fail. A store that does not answer is asked again, and that is not worth a word. */
function attemptWith(warn: (message: string) => void): Attempt {
  return async (work) => {
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) warn(`Approvals could not be looked at: ${messageOf(cause)}`);
    }
  };
}

interface Watcher {
  readonly id: string;
  told(state: ApprovalState | undefined): void;
}

type Telling = Pick<PollerOptions, 'approvals'> & { readonly attempt: Attempt };

async function tellStates(watchers: ReadonlySet<Watcher>, { approvals, attempt }: Telling): Promise<void> {
  const watching = [...watchers];
  for (let start = 0; start < watching.length; start += IDS_PER_QUERY) {
    const some = watching.slice(start, start + IDS_PER_QUERY);
    const states = await approvals?.statesOf([...new Set(some.map(({ id }) => id))]);
    for (const watcher of some) if (watchers.has(watcher)) void attempt(() => watcher.told(states?.get(watcher.id)));
  }
}

/** One after the other; who asks during one gets another after it. */
function oneByOne(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return next ?? begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
