import { setImmediate } from 'node:timers/promises';
import { copyJson, type JsonObject, NotJsonError } from '../core/json.ts';
import type { KeptListPort, StoredList } from '../core/ports/store.ts';
import type { LiveSource, SourceContext, SourceStatus } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createListeners } from '../system/listeners.ts';

/** The list of a live source, with its status and listeners. */
export interface SpecListing extends Pick<LiveSource, 'specs' | 'onChange' | 'status'> {
  /** Shows a list, and notifies the listeners if it differs. */
  show(specs: readonly ToolSpec[], note?: ListingNote): void;
  /** Records that the list could not be read. The last one stays. */
  fail(reason: string): void;
  close(): void;
}

/** Problems of a list that was read. */
interface ListingNote {
  /** The reason why a part of the list is outdated. */
  readonly down?: string | undefined;
  /** The first problem with an entry that was left out. */
  readonly leftOut?: string | undefined;
}

/** Starts with an empty list and the status `failed`. */
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

/** The last list of a source, stored for a start at which it cannot be fetched. A failing store only costs this fallback. */
export interface KeptList {
  /** The stored list; undefined if there is none, or if the store does not answer in time. */
  read(): Promise<StoredList | undefined>;
  /** Stores a list in the background. */
  write(entries: readonly unknown[], list: Omit<StoredList, 'specs' | 'at'>): void;
  /** Resolves when all lists are written. */
  written(): Promise<void>;
}

/** Timeout for reading the stored list at startup. */
const READ_MS = 3000;

type Surroundings = Pick<SourceContext, 'clock' | 'warn'>;

/** Stores the lists of one source in a port; without a port, it stores nothing. */
export function createKeptList(port: KeptListPort | undefined, { clock, warn }: Surroundings): KeptList {
  let writing: Promise<void> = Promise.resolve();
  let isReachable = true;
  const failed = (what: string) => (cause: unknown) => warn(`the last list cannot be ${what}: ${messageOf(cause)}`);
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
      // Closing the crib waits for pending writes, but not for a store that has just not answered.
      if (!isReachable) {
        isReachable = true; // try again with the next list
        return;
      }
      const put = async () => {
        await setImmediate(); // a start in progress comes first
        await port.put({ ...list, specs: entries.flatMap(toData), at: Math.round(clock.now()) });
      };
      writing = writing.then(put).catch(failed('written to the store'));
    },
    written: () => writing,
  };
}

/** Entries that are not objects or not JSON are dropped: they could never be read back. */
function toData(entry: unknown): readonly JsonObject[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [];
  try {
    return [copyJson(entry) as JsonObject]; // a copy of an object is one
  } catch (cause) {
    if (cause instanceof NotJsonError) return [];
    throw cause;
  }
}

/** Reports each problem once, and again if it was fixed in between. */
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
