import { crc32 } from 'node:zlib';
import { bytesOf, readSections, wordsIn, writeSections } from '../byte-sections.ts';
import { PARAMETERS } from '../parameters.ts';
import { FIELDS } from '../search-texts.ts';

/** Lists one behind the other. */
interface KeptLists {
  readonly lengths: Uint32Array;
  readonly values: Uint32Array;
}

/** What an index is made of, as it is kept. */
export interface KeptIndex {
  readonly terms: readonly string[];
  /** By term: id and impact of each tool. */
  readonly postings: KeptLists;
  /** By id: term and fields. */
  readonly said: KeptLists;
  /** By id: its pairs of terms. */
  readonly pairs: KeptLists;
  readonly toolCount: number;
}

/** Raised whenever words are split, stemmed or counted in another way: an index of before would answer wrongly. */
const VERSION = 1;
const MADE_BY = crc32(JSON.stringify([VERSION, FIELDS, PARAMETERS]));

export function writeLexical({ terms, postings, said, pairs, toolCount }: KeptIndex): Uint8Array {
  return writeSections(MADE_BY, [
    bytesOf(Uint32Array.of(toolCount)),
    // No term holds a line break: it separates words.
    new TextEncoder().encode(terms.join('\n')),
    ...[postings, said, pairs].flatMap(({ lengths, values }) => [bytesOf(lengths), bytesOf(values)]),
  ]);
}

/** What was kept; undefined where it is damaged or an index of before. */
export function readLexical(bytes: Uint8Array): KeptIndex | undefined {
  const [head, text, ...lists] = readSections(MADE_BY, bytes) ?? [];
  const [postings, said, pairs] = [0, 2, 4].map((at) => listsIn(lists[at], lists[at + 1]));
  if (head === undefined || postings === undefined || said === undefined || pairs === undefined) return undefined;
  const terms = postings.lengths.length === 0 ? [] : new TextDecoder().decode(text).split('\n');
  if (terms.length !== postings.lengths.length || said.lengths.length !== pairs.lengths.length) return undefined;
  return { terms, postings, said, pairs, toolCount: wordsIn(head)[0] ?? 0 };
}

function listsIn(lengths: Uint8Array | undefined, values: Uint8Array | undefined): KeptLists | undefined {
  if (lengths === undefined || values === undefined) return undefined;
  const lists = { lengths: wordsIn(lengths), values: wordsIn(values) };
  return sumOf(lists.lengths) === lists.values.length ? lists : undefined;
}

function sumOf(numbers: Uint32Array): number {
  let sum = 0;
  for (let place = 0; place < numbers.length; place += 1) sum += numbers[place] as number; // within the list
  return sum;
}
