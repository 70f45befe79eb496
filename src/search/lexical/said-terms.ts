import { FIELDS, type Field } from '../search-texts.ts';
import type { createPackedLists } from './packed-lists.ts';
import type { ExactRequest, WeighedRequest } from './weigh-request.ts';

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

/** What tools say: the lists of an index, by tool, and the texts of terms. */
export interface SaidLists {
  readonly said: PackedLists;
  readonly pairs: PackedLists;
  textOf(number: number): string;
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

export function createSaidTerms({ said, pairs, textOf }: SaidLists): SaidTerms {
  /** The request in its order, or begun at another word: `issues/create` says "create an issue". */
  function isInOrder(id: number, asked: ExactRequest['pairs']): boolean {
    const own = pairs.data.subarray(pairs.start(id), pairs.start(id) + pairs.length(id));
    return asked.filter((pair) => own.includes(pair)).length >= asked.length - 1;
  }

  function saysAll(numbers: readonly number[], id: number, request: ExactRequest): boolean {
    if (numbers.length === 0 || numbers.length > MOST_PARTS * request.numbers.length) return false;
    const isSame = numbers.length === request.numbers.length && numbers.every((one) => request.numbers.includes(one));
    if (isSame) return isInOrder(id, request.pairs);
    const [own, asked] = [withoutParts(numbers, textOf), withoutParts(request.numbers, textOf)];
    const isSplit = own.length < numbers.length || asked.length < request.numbers.length;
    return isSplit && own.length === asked.length && own.every((one) => asked.includes(one));
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
    isExact(id, request) {
      const [name, bare, title]: [number[], number[], number[]] = [[], [], []];
      const start = said.start(id);
      const end = start + said.length(id);
      for (let at = start; at < end; at += 1) {
        const entry = said.data[at] as number; // within the list
        const number = entry >>> FIELD_BITS;
        if ((entry & TITLE_BIT) !== 0) title.push(number);
        if ((entry & NAME_BIT) === 0) continue;
        name.push(number);
        if ((entry & SOURCE_BIT) === 0) bare.push(number); // a prefix says where a tool comes from, not what it does
      }
      return [title, name, bare].some((numbers) => saysAll(numbers, id, request));
    },
  };
}

/** `GitHub` is three terms, `github` one. */
const MOST_PARTS = 3;

/** The terms, less those that together are another of them: `git` and `hub` beside `github`. */
export function withoutParts(numbers: readonly number[], textOf: (number: number) => string): readonly number[] {
  const texts = new Map(numbers.map((number) => [textOf(number), number]));
  const parts = new Set<number>();
  for (const text of texts.keys())
    for (let cut = 1; cut < text.length; cut += 1) {
      const [before, after] = [texts.get(text.slice(0, cut)), texts.get(text.slice(cut))];
      if (before !== undefined && after !== undefined) parts.add(before).add(after);
    }
  return parts.size === 0 ? numbers : numbers.filter((number) => !parts.has(number));
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
