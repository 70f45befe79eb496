import { setImmediate } from 'node:timers/promises';
import { copyJson, type JsonObject, NotJsonError } from '../core/json.ts';
import type { KeptListPort, StoredList } from '../core/ports/store.ts';
import type { LiveSource, SourceContext, SourceStatus } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createListeners } from '../system/listeners.ts';

/** The list that a live source shows, how it is doing, and who wants to hear of it. */
export interface SpecListing extends Pick<LiveSource, 'specs' | 'onChange' | 'status'> {
  /** Shows a list, and tells if it is not the one that was shown. */
  show(specs: readonly ToolSpec[], note?: ListingNote): void;
  /** The list could not be read: the last one stays. */
  fail(reason: string): void;
  close(): void;
}

/** What there is to say about a list that was read. */
interface ListingNote {
  /** Why a part of it is as it was before. */
  readonly down?: string | undefined;
  /** What had to be left out. */
  readonly leftOut?: string | undefined;
}

/** Starts with an empty list that nobody has read yet. */
export function createListing(): SpecListing {
  const listeners = createListeners();
  let listed: readonly ToolSpec[] = [];
  let wasRead = false;
  let status: SourceStatus = { state: 'failed', reason: 'it has not been read yet' };
  return {
    specs: () => listed,
    status: () => status,
    onChange: listeners.add,
    show(specs, { down, leftOut } = {}) {
      wasRead ||= down === undefined || specs.length > 0;
      status = down === undefined ? withReason('ready', leftOut) : { state: wasRead ? 'down' : 'failed', reason: down };
      if (specs.length === listed.length && specs.every((spec, index) => spec === listed[index])) return;
      listed = specs;
      listeners.tell();
    },
    fail(reason) {
      status = { state: wasRead ? 'down' : 'failed', reason };
    },
    close: listeners.clear,
  };
}

function withReason(state: SourceStatus['state'], reason: string | undefined): SourceStatus {
  return reason === undefined ? { state } : { state, reason };
}

/** The last list of a source, kept for the time when it cannot be fetched. A store that fails costs nothing but that. */
export interface KeptList {
  /** What is kept; nothing if there is none, or if the store does not say so soon. */
  read(): Promise<StoredList | undefined>;
  /** Keeps a list, later; nobody waits for it. */
  write(entries: readonly unknown[], list: Omit<StoredList, 'specs' | 'at'>): void;
  /** Resolves when everything is written. */
  written(): Promise<void>;
}

/** How long a start waits for what is kept. */
const READ_MS = 1000;

type Surroundings = Pick<SourceContext, 'clock' | 'warn'>;

/** Keeps the lists of one source in a port; without one, keeps nothing. */
export function createKeptList(port: KeptListPort | undefined, { clock, warn }: Surroundings): KeptList {
  let writing: Promise<void> = Promise.resolve();
  let isReachable = true;
  const failed = (what: string) => (cause: unknown) => warn(`its last list cannot be ${what}: ${messageOf(cause)}`);
  if (port === undefined) return { read: async () => undefined, write() {}, written: () => writing };
  return {
    read: () =>
      new Promise((resolve) => {
        isReachable = false;
        const stop = clock.setTimer(READ_MS, () => resolve(undefined));
        const ask = async () => {
          const list = await port.get();
          isReachable = true;
          return list;
        };
        ask()
          .catch(failed('read from the store'))
          .then((list) => {
            stop();
            resolve(list ?? undefined);
          });
      }),
    write(entries, list) {
      // Who closes the crib waits for what is being written, but not for a store that has just not answered.
      if (!isReachable) {
        isReachable = true; // the next list may have more luck
        return;
      }
      const put = async () => {
        await setImmediate(); // a start that is under way comes first
        await port.put({ ...list, specs: entries.flatMap(toData), at: Math.round(clock.now()) });
      };
      writing = writing.then(put).catch(failed('kept in the store'));
    },
    written: () => writing,
  };
}

/** What is no entry at all, or no JSON, could not be read and never will be. */
function toData(entry: unknown): readonly JsonObject[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [];
  try {
    return [copyJson(entry) as JsonObject]; // a copy of an object is one
  } catch (cause) {
    if (cause instanceof NotJsonError) return [];
    throw cause;
  }
}

/** Troubles that were told: each once, and again if it was mended in between. */
export interface WarnOnce {
  tell(trouble: string): void;
  forget(): void;
}

export function createWarnOnce(warn: (trouble: string) => void): WarnOnce {
  const told = new Set<string>();
  return {
    tell(trouble) {
      if (!told.has(trouble)) warn(trouble);
      told.add(trouble);
    },
    forget: () => told.clear(),
  };
}
