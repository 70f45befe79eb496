import { FIELDS, type Field } from '../search-texts.ts';
import type { ExactRequest } from './exact-request.ts';
import type { createPackedLists } from './packed-lists.ts';
import type { WeighedRequest } from './weigh-request.ts';

export interface MatchedWord {
  readonly word: string;
  readonly weight: number;
  /** The first one it stands in. */
  readonly field: Field;
}

/** Bits of an entry of `said` that say in which fields a term stands; above them is its number. */
export const FIELD_BITS = FIELDS.length;
const bitOf = (field: Field): number => 1 << FIELDS.indexOf(field);
export const NAME_BIT = bitOf('name');
const TITLE_BIT = bitOf('title');
const SOURCE_BIT = bitOf('source');

type PackedLists = ReturnType<typeof createPackedLists>;

/** What tools say: the lists of an index, by tool; terms stand in the order in which its fields say them first. */
export interface SaidLists {
  readonly said: PackedLists;
  readonly pairs: PackedLists;
}

/** Reads what one tool says, beside a request. */
export interface SaidTerms {
  /** The words of the request that a tool says, most telling first. */
  explain(id: number, asked: WeighedRequest['byNumber']): readonly MatchedWord[];
  /** What words count that stand together in both. */
  phraseScore(id: number, weights: WeighedRequest['pairs']): number;
  /** True where the name or the title of a tool says what the request says, and nothing else. */
  isExact(id: number, request: ExactRequest): boolean;
}

export function createSaidTerms({ said, pairs }: SaidLists): SaidTerms {
  /** The request in its order, or begun at another word: `issues/create` says "create an issue". */
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
        const term = asked.get(entry >>> FIELD_BITS);
        if (term !== undefined) insert(matched, { word: term.word, weight: term.weight, field: firstFieldIn(entry) });
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
      const [title, name, bare] = [createTally(), createTally(), createTally()];
      const split: number[] = [];
      const start = said.start(id);
      const end = start + said.length(id);
      for (let at = start; at < end && (title.isOpen || name.isOpen || bare.isOpen); at += 1) {
        const entry = said.data[at] as number; // within the list
        if ((entry & (NAME_BIT | TITLE_BIT)) === 0) break; // names and titles stand first
        const number = entry >>> FIELD_BITS;
        const isNeeded = needed.includes(number);
        const isHalf = !isNeeded && halves.has(number);
        if (isHalf) split.push(number);
        const isOther = !isNeeded && !isHalf;
        if ((entry & TITLE_BIT) !== 0) count(title, isNeeded, isOther);
        if ((entry & NAME_BIT) !== 0) count(name, isNeeded, isOther);
        // A prefix says where a tool comes from, not what it does.
        if ((entry & (NAME_BIT | SOURCE_BIT)) === NAME_BIT) count(bare, isNeeded, isOther);
      }
      if (![title, name, bare].some(({ isOpen, said: own }) => isOpen && own === needed.length)) return false;
      if (split.length === 0) return isInOrder(id, asked);
      return split.every((half) => split.includes(halves.get(half) ?? -1));
    },
  };
}

/** How much of a request one field says, and whether it says nothing else. */
interface Tally {
  said: number;
  isOpen: boolean;
}

const createTally = (): Tally => ({ said: 0, isOpen: true });

function count(tally: Tally, isNeeded: boolean, isOther: boolean): void {
  if (isNeeded) tally.said += 1;
  else if (isOther) tally.isOpen = false;
}

/** Puts a word behind those that tell as much or more. So few match that sorting them would take longer. */
function insert(matched: MatchedWord[], one: MatchedWord): void {
  let place = matched.length;
  for (; place > 0; place -= 1) {
    const other = matched[place - 1] as MatchedWord; // within the list
    if (one.weight < other.weight || (one.weight === other.weight && one.word >= other.word)) break;
    matched[place] = other;
  }
  matched[place] = one;
}

/** A bit a field, the first one the lowest. */
function firstFieldIn(entry: number): Field {
  return FIELDS[31 - Math.clz32(entry & -entry)] as Field; // every term of a tool stands in one of them
}
