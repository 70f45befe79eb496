import { FIELDS, type Field } from '../search-texts.ts';
import type { ExactRequest } from './exact-request.ts';
import type { createPackedLists } from './packed-lists.ts';
import type { MeantWord, WeighedRequest } from './weigh-request.ts';

export interface MatchedWord {
  readonly word: string;
  readonly weight: number;
  /** True if the tool contains a synonym or a correction instead. */
  readonly isMeant: boolean;
  /** The first field that contains it. */
  readonly field: Field;
}

/** The lower bits of an entry of `said` are the fields of a term; the upper bits are its number. */
export const FIELD_BITS = FIELDS.length;
const bitOf = (field: Field): number => 1 << FIELDS.indexOf(field);
export const NAME_BIT = bitOf('name');
export const TITLE_BIT = bitOf('title');
export const LEAD_BIT = bitOf('description');
export const SOURCE_BIT = bitOf('source');

type PackedLists = ReturnType<typeof createPackedLists>;

/** The terms of tools: lists by tool, with terms in the order in which its fields first contain them. */
export interface SaidLists {
  readonly said: PackedLists;
  readonly pairs: PackedLists;
}

/** Compares the terms of one tool with a request. */
export interface SaidTerms {
  /** The words of the request that a tool contains, highest weight first. */
  explain(id: number, asked: WeighedRequest['byNumber']): readonly MatchedWord[];
  /** The score for phrases that occur in both. */
  phraseScore(id: number, weights: WeighedRequest['pairs']): number;
  /** True if the name or the title of a tool contains exactly the terms of the request. */
  isExact(id: number, request: ExactRequest): boolean;
}

export function createSaidTerms({ said, pairs }: SaidLists): SaidTerms {
  /** True if the request has the same order, or the same order starting at another word: `issues/create` matches "create an issue". */
  function isInOrder(id: number, asked: ExactRequest['pairs']): boolean {
    const own = pairs.data.subarray(pairs.start(id), pairs.start(id) + pairs.length(id));
    return asked.filter((pair) => own.includes(pair)).length >= asked.length - 1;
  }

  return {
    explain(id, asked) {
      const matched: MatchedWord[] = [];
      const start = said.start(id);
      const end = start + said.length(id);
      const { data } = said;
      for (let at = start; at < end; at += 1) {
        const entry = data[at] as number; // within the list
        const [meant] = asked.get(entry >>> FIELD_BITS) ?? [];
        if (meant !== undefined) insert(matched, toMatched(meant, entry));
      }
      return matched;
    },
    phraseScore(id, weights) {
      let sum = 0;
      const start = pairs.start(id);
      const end = start + pairs.length(id);
      const { data } = pairs;
      for (let at = start; at < end; at += 1) sum += weights.get(data[at] as number) ?? 0; // within the list
      return sum;
    },
    isExact(id, { needed, halves, pairs: asked }) {
      // Thousands of tools are checked for a short request, so nothing is allocated for those that do not match.
      let inTitle = 0;
      let inName = 0;
      let inBare = 0;
      let open = TITLE_BIT | NAME_BIT | BARE_BIT;
      let split: number[] | undefined;
      const { data } = said;
      const end = said.start(id) + said.length(id);
      for (let at = said.start(id); at < end && open !== 0; at += 1) {
        const entry = data[at] as number; // within the list
        const places = placesIn(entry);
        if (places === 0) break; // names and titles come first
        const number = entry >>> FIELD_BITS;
        if (needed.includes(number)) {
          if ((places & TITLE_BIT) !== 0) inTitle += 1;
          if ((places & NAME_BIT) !== 0) inName += 1;
          if ((places & BARE_BIT) !== 0) inBare += 1;
        } else if (halves.has(number)) {
          split ??= [];
          split.push(number);
        } else open &= ~places;
      }
      if (inTitle !== needed.length) open &= ~TITLE_BIT;
      if (inName !== needed.length) open &= ~NAME_BIT;
      if (inBare !== needed.length) open &= ~BARE_BIT;
      if (open === 0) return false;
      return split === undefined ? isInOrder(id, asked) : isWholeOf(split, halves);
    },
  };
}

/** Marks a name without the words of its source: a prefix says where a tool comes from, not what it does. */
const BARE_BIT = 1 << FIELD_BITS;

/** The parts of a tool's identity that contain the term of an entry: bits for name, bare name and title. */
function placesIn(entry: number): number {
  const isBare = (entry & (NAME_BIT | SOURCE_BIT)) === NAME_BIT;
  return (entry & (NAME_BIT | TITLE_BIT)) | (isBare ? BARE_BIT : 0);
}

function isWholeOf(split: readonly number[], halves: ExactRequest['halves']): boolean {
  return split.every((half) => split.includes(halves.get(half) ?? -1));
}

function toMatched({ word, weight, isMeant }: MeantWord, entry: number): MatchedWord {
  return { word, weight, isMeant, field: firstFieldIn(entry) };
}

/** Inserts a word in order of weight. Matches are so few that sorting would take longer. */
function insert(matched: MatchedWord[], one: MatchedWord): void {
  let place = matched.length;
  for (; place > 0; place -= 1) {
    const other = matched[place - 1] as MatchedWord; // within the list
    if (one.weight < other.weight || (one.weight === other.weight && one.word >= other.word)) break;
    matched[place] = other;
  }
  matched[place] = one;
}

/** The first field of an entry: its lowest bit. */
function firstFieldIn(entry: number): Field {
  return FIELDS[31 - Math.clz32(entry & -entry)] as Field; // every term of a tool is in one of them
}
