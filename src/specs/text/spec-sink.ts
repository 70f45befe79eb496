import { describe } from '../../core/read-options.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

/** What a reader of some format finds, entry by entry. */
export interface EntrySink {
  entry(value: unknown, line: number): void;
  /** An entry that cannot even be parsed. */
  broken(line: number, message: string): void;
  /** There is so much wrong that the rest need not be read. */
  isFull(): boolean;
}

/** Reads the text of one list as its bytes come in. */
export interface EntryReader {
  /** Takes the next bytes; they may be overwritten afterwards. */
  take(piece: Buffer): void;
  end(): NoList | undefined;
}

/** Why a text holds no list of entries. `foreign`: it can be read, and is something else. */
export interface NoList {
  readonly reason: string;
  readonly foreign?: true;
}

/** The verdict on bytes that are no text. */
export const NOT_TEXT: NoList = { reason: 'it is not text in UTF-8' };

const ADVICE = 'give a list of tools, or "tools:" with one';

/** Why a text whose top is a map with these keys, or no map at all, is no list of tools. */
export function noToolsIn(top: unknown): NoList {
  if (typeof top !== 'object' || top === null) return { reason: `it holds ${describe(top)}; ${ADVICE}`, foreign: true };
  const keys = Object.keys(top);
  if (!keys.includes('tools')) {
    const near = keys.find((key) => didYouMean(key, ['tools']) !== '');
    return { reason: `it has no "tools"${near === undefined ? '' : `, but "${near}"`}; ${ADVICE}`, foreign: true };
  }
  return { reason: `its "tools" is ${describe((top as { tools: unknown }).tools)}, not a list` }; // the key is there
}
