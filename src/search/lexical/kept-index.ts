import { crc32 } from 'node:zlib';
import { bytesOf, readSections, wordsIn, writeSections } from '../byte-sections.ts';
import { FIELDS } from '../search-texts.ts';
import { PARAMETERS } from '../tuning.ts';
import type { KeptLists } from './packed-lists.ts';
import { countTerms, type KeptTerms } from './vocabulary.ts';

/** The parts of an index in a snapshot. */
export interface KeptIndex {
  readonly terms: KeptTerms;
  /** By term: id and impact of each tool. */
  readonly postings: KeptLists;
  /** By id: terms with their fields. */
  readonly said: KeptLists;
  /** By id: its pairs of terms. */
  readonly pairs: KeptLists;
  /** By id: the class of its verb. */
  readonly verbs: Uint8Array;
  readonly toolCount: number;
}

/** Increased whenever words are split, stemmed, counted or stored differently: an older index would give wrong results. */
const VERSION = 3;
const MADE_BY = crc32(JSON.stringify([VERSION, FIELDS, PARAMETERS]));

/** Writes an index. */
export function writeLexical({ terms, postings, said, pairs, verbs, toolCount }: KeptIndex): Uint8Array {
  return writeSections(MADE_BY, [
    bytesOf(Uint32Array.of(toolCount)),
    new TextEncoder().encode(terms.text),
    bytesOf(terms.starts),
    bytesOf(terms.slots),
    verbs,
    ...[postings, said, pairs].flatMap((lists) => [lists.starts, lists.lengths, lists.values].map(bytesOf)),
  ]);
}

/** Reads a snapshot; undefined if it is damaged or outdated. */
export function readLexical(bytes: Uint8Array): KeptIndex | undefined {
  const [head, text, starts, slots, verbs, ...lists] = readSections(MADE_BY, bytes) ?? [];
  if (!head || !text || !starts || !slots || !verbs) return undefined;
  const terms = { text: new TextDecoder().decode(text), starts: wordsIn(starts), slots: wordsIn(slots) };
  const [postings, said, pairs] = [0, 3, 6].map((at) => listsIn(lists.slice(at, at + 3).map(wordsIn)));
  if (postings === undefined || said === undefined || pairs === undefined) return undefined;
  if (countTerms(terms) !== postings.lengths.length || said.lengths.length !== pairs.lengths.length) return undefined;
  return { terms, postings, said, pairs, verbs, toolCount: wordsIn(head)[0] ?? 0 };
}

function listsIn([starts, lengths, values]: readonly Uint32Array[]): KeptLists | undefined {
  if (starts === undefined || lengths === undefined || values === undefined) return undefined;
  const end = (starts.at(-1) ?? 0) + (lengths.at(-1) ?? 0);
  return starts.length === lengths.length && end === values.length ? { starts, lengths, values } : undefined;
}
