import type { Clock } from '../../core/ports/ports.ts';
import type { StoredIndex, StoredIndexes } from '../../core/ports/store.ts';
import type { Admission } from '../../core/source.ts';
import { type ReadFile, writeIndex } from './write-index.ts';

/** The stored indexes of large files. A store that is slow, fails or lies costs only the time that they save. */
export interface SpecIndexes {
  readonly admission: Admission;
  /** What is stored of a file; nothing where the store does not say soon. */
  find(path: string): Promise<StoredIndex | undefined>;
  /** Has an index made of what was read and stored, once there is time. */
  keep(file: IndexableFile): void;
  /** The index of a file turned out to be wrong: it counts for nothing until the file has been read without it. */
  doubt(path: string): void;
  isDoubted(path: string): boolean;
  /** Stores what is to be stored. */
  close(): Promise<void>;
}

/** A file that was read in full. */
interface IndexableFile extends ReadFile {
  readonly path: string;
  readonly hash: string;
}

export interface SpecIndexesOptions {
  readonly stored: StoredIndexes;
  readonly clock: Clock;
  /** How specs are judged; without a crib, all are good. */
  readonly admission?: Admission | undefined;
  /** Some file is to be read again. */
  onDoubt(): void;
}

const MAX_WAIT_MS = 2000;
const KEEP_AFTER_MS = 1000; // starting comes first

const NO_CRIB: Admission = { rules: () => 'none', admits: () => true };

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
      // Whatever it is: the store says itself how it does, and the file is read without an index.
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
      if (!isReachable || isClosed) return; // whoever closes a crib does not wait for a store that does not answer
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
      () => end({ ok: false }), // whatever it is, as above
    );
  });
}
