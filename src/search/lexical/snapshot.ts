import { crc32 } from 'node:zlib';
import { bytesOf, readSections, wordsIn, writeSections } from '../byte-sections.ts';
import { PARAMETERS } from '../parameters.ts';
import { FIELDS } from '../search-texts.ts';
import { countTerms, type KeptTerms } from './kept-terms.ts';
import type { KeptLists } from './packed-lists.ts';

/** What an index is made of, as it is kept. */
export interface KeptIndex {
  readonly terms: KeptTerms;
  /** By term: id and impact of each tool. */
  readonly postings: KeptLists;
  /** By id: term and fields. */
  readonly said: KeptLists;
  /** By id: its pairs of terms. */
  readonly pairs: KeptLists;
  readonly toolCount: number;
}

/** Raised whenever words are split, stemmed, counted or kept in another way: an index of before would answer wrongly. */
const VERSION = 2;
const MADE_BY = crc32(JSON.stringify([VERSION, FIELDS, PARAMETERS]));

export function writeLexical({ terms, postings, said, pairs, toolCount }: KeptIndex): Uint8Array {
  return writeSections(MADE_BY, [
    bytesOf(Uint32Array.of(toolCount)),
    new TextEncoder().encode(terms.text),
    bytesOf(terms.starts),
    bytesOf(terms.slots),
    ...[postings, said, pairs].flatMap((lists) => [lists.starts, lists.lengths, lists.values].map(bytesOf)),
  ]);
}

/** What was kept; undefined where it is damaged or an index of before. */
export function readLexical(bytes: Uint8Array): KeptIndex | undefined {
  const [head, text, starts, slots, ...lists] = readSections(MADE_BY, bytes) ?? [];
  if (head === undefined || text === undefined || starts === undefined || slots === undefined) return undefined;
  const terms = { text: new TextDecoder().decode(text), starts: wordsIn(starts), slots: wordsIn(slots) };
  const [postings, said, pairs] = [0, 3, 6].map((at) => listsIn(lists.slice(at, at + 3).map(wordsIn)));
  if (postings === undefined || said === undefined || pairs === undefined) return undefined;
  if (countTerms(terms) !== postings.lengths.length || said.lengths.length !== pairs.lengths.length) return undefined;
  return { terms, postings, said, pairs, toolCount: wordsIn(head)[0] ?? 0 };
}

function listsIn([starts, lengths, values]: readonly Uint32Array[]): KeptLists | undefined {
  if (starts === undefined || lengths === undefined || values === undefined) return undefined;
  const end = (starts.at(-1) ?? 0) + (lengths.at(-1) ?? 0);
  return starts.length === lengths.length && end === values.length ? { starts, lengths, values } : undefined;
}
