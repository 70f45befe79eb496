import type { MaybePromise } from '../core/json.ts';
import type { ApprovalState } from '../core/ports/approval-states.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredApprovals } from '../core/ports/stored-approvals.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { idleClock } from '../system/clock.ts';

/** Polls the store for all waiting calls of a crib, with one timer and one query. */
export interface ApprovalPoller {
  /** Reports the state of a request at every poll; undefined if the request does not exist. */
  watch(id: string, told: (state: ApprovalState | undefined) => void): Subscription;
  /** Runs `work` at every poll, never twice at a time. Slow work does not delay other subscribers. */
  subscribe(work: () => Promise<void>): Subscription;
  close(): void;
}

/** A subscription to the poller. */
export interface Subscription {
  /** Polls now, for all subscribers; during a poll, once more after it. Resolves when this subscriber's work is done. Never rejects. */
  look(): Promise<void>;
  stop(): void;
}

/** Options for creating a poller. */
interface PollerOptions {
  /** Undefined without a store. */
  readonly approvals: Pick<StoredApprovals, 'statesOf' | 'onAnswer'> | undefined;
  /** Finds calls whose process is gone. Runs at the start of every poll. */
  findLost(): Promise<unknown>;
  warn(message: string): void;
  readonly clock?: Clock;
}

/** Poll interval for changes made by other processes. */
const LOOK_EVERY_MS = 500;
const IDS_PER_QUERY = 500;

/** Creates a poller. It is idle without subscribers, and polls at once after an answer in this process. */
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

/** Runs work that may fail. A store that is not available is polled again, without a warning. */
function attemptWith(warn: (message: string) => void): Attempt {
  return async (work) => {
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) warn(`Polling the approvals failed: ${messageOf(cause)}`);
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

/** Runs the work one at a time; a request during a run causes one more run after it. */
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
