import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredIndex, StoredIndexes } from '../core/ports/store.ts';
import type { Admission } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { lineEndsOf, type SpecEntry } from './entry-collector.ts';
import { type HeadReader, headOf, type SpecHead, toPattern } from './indexed-spec.ts';
import { createEntryReader } from './spec-entry.ts';
import { INDEX_FORMAT, type SpecIndex } from './spec-index.ts';
import { markLength } from './spec-text.ts';

/** The stored indexes of large files. A store that is slow, fails or returns wrong data only costs the time that indexes save. */
export interface SpecIndexes {
  readonly admission: Admission;
  /** The stored index of a file; undefined if the store does not answer in time. */
  find(path: string): Promise<StoredIndex | undefined>;
  /** Schedules an index of the file to be made and stored. */
  keep(file: IndexableFile): void;
  /** Marks the index of a file as wrong: it is ignored until the file has been read without it. */
  doubt(path: string): void;
  isDoubted(path: string): boolean;
  /** Stores the pending indexes. */
  close(): Promise<void>;
}

/** A file that was read completely. */
interface IndexableFile extends ReadFile {
  readonly path: string;
  readonly hash: string;
}

export interface SpecIndexesOptions {
  readonly stored: StoredIndexes;
  readonly clock: Clock;
  /** The rules by which the crib accepts specs; without a crib, all are accepted. */
  readonly admission?: Admission | undefined;
  /** Called when a file must be read again. */
  onDoubt(): void;
}

const MAX_WAIT_MS = 2000;
const KEEP_AFTER_MS = 1000; // after startup

const NO_CRIB: Admission = { rules: () => 'none', admits: () => true, isCheckedAnew: () => false };

export function createSpecIndexes(options: SpecIndexesOptions): SpecIndexes {
  const { stored, clock, admission = NO_CRIB, onDoubt } = options;
  const doubted = new Set<string>();
  const waiting = new Map<string, IndexableFile>();
  let isReachable = true;
  let isClosed = false;
  let stopTimer: (() => void) | undefined;
  let keeping = Promise.resolve();

  const keepAll = (): Promise<void> => {
    stopTimer?.();
    stopTimer = undefined;
    const files = [...waiting.values()];
    waiting.clear();
    keeping = keeping.then(async () => {
      for (const file of files) await keepOne(file);
    });
    return keeping;
  };

  const keepOne = async (file: IndexableFile): Promise<void> => {
    try {
      const text = await writeIndex(file, admission);
      if (text !== undefined) await stored.put(file.path, { hash: file.hash, text });
    } catch {
      // Any error: the store reports its own state, and the file is read without an index.
    }
  };

  return {
    admission,
    async find(path) {
      if (doubted.has(path)) return undefined;
      const answer = await soon(async () => stored.get(path), clock);
      isReachable = answer.ok;
      return answer.ok ? answer.value : undefined;
    },
    keep(file) {
      doubted.delete(file.path);
      if (!isReachable || isClosed) return; // closing a crib must not wait for a store that does not answer
      waiting.set(file.path, file);
      stopTimer ??= clock.setTimer(KEEP_AFTER_MS, () => void keepAll());
    },
    doubt(path) {
      doubted.add(path);
      onDoubt();
    },
    isDoubted: (path) => doubted.has(path),
    close() {
      isClosed = true;
      return keepAll();
    },
  };
}

type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

function soon<T>(ask: () => Promise<T>, clock: Clock): Promise<Answer<T>> {
  return new Promise((resolve) => {
    const stop = clock.setTimer(MAX_WAIT_MS, () => resolve({ ok: false }));
    const end = (answer: Answer<T>) => {
      stop();
      resolve(answer);
    };
    ask().then(
      (value) => end({ ok: true, value }),
      () => end({ ok: false }), // any error, as above
    );
  });
}

/** Number of lines between yields to the event loop. */
const LINES_A_TURN = 1000;

/** The content of a file. */
interface ReadFile {
  readonly bytes: Buffer;
  readonly entries: readonly SpecEntry[];
}

/** The text of an index; undefined if it would be larger than the file. */
async function writeIndex({ bytes, entries }: ReadFile, admission: Admission): Promise<string | undefined> {
  const heads = createHeadList();
  const names: string[] = [];
  const headOf: number[] = [];
  const others: number[] = [];
  const secrets = new Set<string>();
  const referencesAt = createReferenceSearch(bytes);
  let next = 0;
  let start: number = markLength(bytes);
  let line = 0;
  for (const end of lineEndsOf(bytes)) {
    line += 1;
    const spec = entries[next]?.line === line ? entries[next++]?.spec : undefined;
    const isListed = spec !== undefined && admission.admits(spec) && !admission.isCheckedAnew(spec);
    const references = isListed ? referencesAt(start, end) : undefined;
    const head = spec === undefined || references === undefined ? undefined : heads.add(spec);
    if (spec !== undefined && head !== undefined) {
      names.push(spec.name);
      headOf.push(head);
      for (const reference of references ?? []) secrets.add(reference);
    } else if (end > start) others.push(line);
    start = end + 1;
    if (line % LINES_A_TURN === 0) await nextTurn();
  }
  const index: SpecIndex = {
    format: INDEX_FORMAT,
    rules: admission.rules(),
    names: names.join(' '),
    headOf,
    heads: heads.all,
    others,
    secrets: [...secrets],
  };
  const text = JSON.stringify(index);
  return text.length <= bytes.length ? text : undefined;
}

interface HeadList {
  readonly all: readonly SpecHead[];
  /** The position of a spec's head in the list; undefined if the head does not survive a round trip through JSON. */
  add(spec: ToolSpec): number | undefined;
}

function createHeadList(): HeadList {
  const all: SpecHead[] = [];
  const places = new Map<string, number | undefined>();
  const read = createEntryReader({ source: 'index' });
  return {
    all,
    add(spec) {
      const head = headOf(spec);
      if (head === undefined) return undefined;
      const text = JSON.stringify(head);
      if (!places.has(text)) places.set(text, isKept(head, text, { read, rules: '' }) ? all.push(head) - 1 : undefined);
      return places.get(text);
    },
  };
}

function isKept(head: SpecHead, text: string, reader: HeadReader): boolean {
  try {
    return isDeepStrictEqual(toPattern(JSON.parse(text), reader).head, head);
  } catch (error) {
    if (error instanceof ToolcribError) return false;
    throw error;
  }
}

/**
 * Finds the references `${...}` in lines. Secrets are filled in at call time, so they are listed. Undefined for a line
 * that also refers to the environment, because it may become invalid later.
 */
function createReferenceSearch(bytes: Buffer): (start: number, end: number) => readonly string[] | undefined {
  const nextDollar = createSearch(bytes, '$');
  const nextEscape = createSearch(bytes, '\\u0024'); // the same character, escaped
  return (start, end) => {
    if (nextEscape(start) < end) return undefined;
    if (nextDollar(start) >= end) return [];
    const text = bytes.toString('utf8', start, end);
    const found = text.match(/\$(?:\{|\\u007b)[^}]*/gi) ?? [];
    const names = found.map((reference) => /^\$\{(secret:[\w-]+)$/.exec(reference)?.[1]);
    return names.every((name) => name !== undefined) ? names : undefined;
  };
}

/** Finds the next occurrence of a text. Ascending queries scan the bytes once. */
function createSearch(bytes: Buffer, text: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found < from) found = bytes.indexOf(text, from);
    if (found === -1) found = bytes.length;
    return found;
  };
}
