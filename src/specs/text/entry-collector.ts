import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { EntrySink, NoList } from './spec-sink.ts';

/** One spec and where it stands; lines count from 1, places in the list from 0. */
export interface SpecEntry {
  readonly spec: ToolSpec;
  readonly line: number;
  readonly index: number;
}

/** An entry that could not be read. */
export interface SpecProblem {
  readonly file: string;
  readonly line: number;
  readonly index: number;
  /** The name it bears, if that much could be read. */
  readonly name?: string;
  readonly message: string;
}

/** What a text holds, or why it holds no list at all. */
export type SpecReading =
  | { readonly ok: true; readonly entries: readonly SpecEntry[]; readonly problems: readonly SpecProblem[] }
  | ({ readonly ok: false } & NoList);

/** Makes specs of the entries of one list. A bad entry is a problem with its place, and the others are read. */
export interface EntryCollector extends EntrySink {
  /** Takes in an entry that is a spec already. */
  spec(spec: ToolSpec, line: number): void;
  reading(): SpecReading;
}

/** With more than that, it is not entries that are wrong but the file. */
const MAX_PROBLEMS = 1000;

export function createEntryCollector(file: string, read: (entry: unknown) => ToolSpec): EntryCollector {
  const entries: SpecEntry[] = [];
  const problems: SpecProblem[] = [];
  let index = 0;
  return {
    isFull: () => problems.length > MAX_PROBLEMS,
    entry(value, line) {
      const place = index++;
      try {
        entries.push({ spec: read(value), line, index: place });
      } catch (cause) {
        if (!(cause instanceof ToolcribError)) throw cause;
        problems.push({ file, line, index: place, ...nameIn(value), message: cause.message });
      }
    },
    broken: (line, message) => void problems.push({ file, line, index: index++, message }),
    spec: (spec, line) => void entries.push({ spec, line, index: index++ }),
    reading() {
      if (problems.length <= MAX_PROBLEMS) return { ok: true, entries, problems };
      return {
        ok: false,
        // Whoever tells the reason ends the sentence.
        reason: `more than ${MAX_PROBLEMS} entries cannot be read; the first: ${problems[0]?.message.replace(/\.$/, '')}`,
      };
    },
  };
}

function nameIn(value: unknown): { readonly name?: string } {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
  return typeof name === 'string' ? { name } : {};
}
