import { grown } from '../byte-sections.ts';
import { FIELDS, type Field, MAX_TEXT_LENGTH, type SearchTexts } from '../search-texts.ts';
import { PARAMETERS } from '../tuning.ts';
import { createKnownWords, createWordScan, OTHER_LETTERS, ownText } from './scan-words.ts';
import { eachWord } from './split-words.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Limit of distinct terms per tool that are searched. */
const MAX_TERMS_PER_TOOL = 1500;

/** The terms in a tool's texts. */
export interface CountedTerms {
  readonly count: number;
  readonly numbers: Uint32Array;
  /** The fields that contain each term, as bits. */
  readonly fields: Uint16Array;
  /** The impact of each term for the tool, from 1 to 255. */
  readonly impacts: Uint8Array;
  /** Pairs of consecutive terms in the name, title and description, encoded by `pairOf`; only the first `pairCount` are valid. */
  readonly pairs: Uint32Array;
  readonly pairCount: number;
}

/** Fields in which consecutive words count as phrases. */
const PHRASED: ReadonlySet<Field> = new Set(['name', 'title', 'description', 'rest']);
const MAX_PAIRS = 64;

/** Encodes an ordered pair of terms as one number. */
export function pairOf(before: number, after: number): number {
  return (Math.imul(before, 0x9e3779b1) ^ Math.imul(after, 0x85ebca6b)) >>> 0;
}

/** Creates a function that counts the terms of a tool; its result is overwritten by the next call. */
export function createTermCounter(vocabulary: Vocabulary): (texts: SearchTexts) => CountedTerms {
  const fields = new Uint16Array(MAX_TERMS_PER_TOOL);
  const impacts = new Uint8Array(MAX_TERMS_PER_TOOL);
  const terms = createDistinct(MAX_TERMS_PER_TOOL);
  const sums = createFieldSums();
  const pairs = new Uint32Array(MAX_PAIRS);
  const eachTerm = createTermReader(vocabulary, () => terms.count < MAX_TERMS_PER_TOOL);
  let [pairCount, length, before, bit] = [0, 0, 0, 0];

  function notePair(number: number): void {
    const pair = pairOf(before, number);
    for (let place = 0; place < pairCount; place += 1) if (pairs[place] === pair) return;
    pairs[pairCount] = pair;
    pairCount += 1;
  }

  function takeTerm(number: number, isWhole: boolean): void {
    length += 1;
    if (before !== NOT_PHRASED && !isWhole) {
      if (before >= 0 && pairCount < MAX_PAIRS) notePair(number);
      before = number;
    }
    const known = terms.count;
    const place = terms.placeOf(number);
    if (place < 0) return;
    if (place === known) {
      fields[place] = 0;
      sums.start(place);
    }
    fields[place] = (fields[place] as number) | bit; // an index is below the limit
    sums.count(place);
  }

  return (texts) => {
    terms.clear();
    pairCount = 0;
    for (let place = 0; place < FIELDS.length; place += 1) {
      const field = FIELDS[place] as Field; // within the list
      const text = texts[field];
      if (text === '') continue;
      bit = 1 << place;
      length = 0;
      before = PHRASED.has(field) ? START : NOT_PHRASED;
      eachTerm(text, takeTerm);
      sums.weigh(field, length);
    }
    const { count, numbers } = terms;
    for (let place = 0; place < count; place += 1) impacts[place] = sums.impact(place);
    return { count, numbers, fields, impacts, pairs, pairCount };
  };
}

/** Sums up how often a tool contains each of its terms, field by field. */
interface FieldSums {
  /** Begins with a new term. */
  start(place: number): void;
  count(place: number): void;
  /** Ends a field with this number of words: the longer its text, the less each of them says. */
  weigh(field: Field, length: number): void;
  /** The impact of a term for the tool, from 1 to 255. */
  impact(place: number): number;
}

function createFieldSums(): FieldSums {
  const sums = new Float64Array(MAX_TERMS_PER_TOOL);
  const repeats = new Uint32Array(MAX_TERMS_PER_TOOL);
  // The terms of the present field.
  const touched = new Uint32Array(MAX_TERMS_PER_TOOL);
  const { maxRepeats, saturation, lengthPenalty, usualLengths, weights } = PARAMETERS;
  let touchedCount = 0;
  return {
    start(place) {
      sums[place] = repeats[place] = 0;
    },
    count(place) {
      const repeat = (repeats[place] as number) + 1; // an index is below the limit
      repeats[place] = repeat;
      if (repeat > 1) return;
      touched[touchedCount] = place;
      touchedCount += 1;
    },
    weigh(field, length) {
      const share = weights[field] / (1 - lengthPenalty + (lengthPenalty * length) / usualLengths[field]);
      for (let index = 0; index < touchedCount; index += 1) {
        const place = touched[index] as number; // within the terms
        sums[place] = (sums[place] as number) + share * Math.min(maxRepeats, repeats[place] as number); // as above
        repeats[place] = 0;
      }
      touchedCount = 0;
    },
    impact(place) {
      const sum = sums[place] as number; // as above
      return Math.max(1, Math.round((255 * sum) / (sum + saturation)));
    },
  };
}

const START = -1;
const NOT_PHRASED = -2;

/** Distinct numbers in order of appearance; small numbers, because each has an entry in a table. */
interface Distinct {
  readonly count: number;
  /** Only the first `count` are valid. */
  readonly numbers: Uint32Array;
  /** The position of a number, which is added if necessary; negative if the limit is reached. */
  placeOf(number: number): number;
  clear(): void;
}

/** Holds at most `limit` numbers between two `clear` calls. */
function createDistinct(limit: number): Distinct {
  const numbers = new Uint32Array(limit);
  // Possible position of each number; it is verified on lookup, so nothing has to be reset.
  let places = new Uint32Array(1024);
  let count = 0;
  return {
    numbers,
    get count() {
      return count;
    },
    placeOf(number) {
      if (number >= places.length) places = grown(places, (number + 1) * 2);
      const known = places[number] as number; // allocated above
      if (known < count && numbers[known] === number) return known;
      if (count === limit) return -1;
      places[number] = count;
      numbers[count] = number;
      count += 1;
      return count - 1;
    },
    clear() {
      count = 0;
    },
  };
}

/** Calls `visit` with the number of each term of a text. */
type EachTerm = (text: string, visit: (number: number, isWhole: boolean) => void) => void;

const REMEMBERED_WORDS = 20_000;
const SAYS_NOTHING = -1;

/** Reads texts with a vocabulary, and adds new terms while `hasRoom`. Words are cached, because stemming costs more than a lookup. */
function createTermReader(vocabulary: Vocabulary, hasRoom: () => boolean): EachTerm {
  const scan = createWordScan(MAX_TEXT_LENGTH);
  const known = createKnownWords();
  const others = new Map<string, number>();
  let releases = 0;

  function forgetReleased(): void {
    // A released number may belong to another term by now.
    if (releases === vocabulary.releases) return;
    known.clear();
    others.clear();
    releases = vocabulary.releases;
  }

  function numberOf(term: string | undefined): number {
    return (term === undefined ? undefined : vocabulary.take(term)) ?? SAYS_NOTHING;
  }

  function learn(place: number): number {
    const term = termOf(scan.word(place));
    if (!hasRoom()) return vocabulary.find(term ?? '') ?? SAYS_NOTHING;
    const number = numberOf(term);
    known.note(scan, place, number);
    return number;
  }

  function numberOfOther(word: string): number {
    const number = others.get(word);
    if (number !== undefined) return number;
    const term = termOf(word);
    if (!hasRoom()) return vocabulary.find(term ?? '') ?? SAYS_NOTHING;
    if (others.size >= REMEMBERED_WORDS) others.clear();
    const made = numberOf(term);
    others.set(ownText(word), made);
    return made;
  }

  return (text, visit) => {
    forgetReleased();
    const count = scan.scan(text);
    if (count === OTHER_LETTERS) {
      eachWord(text, (word, isWhole) => {
        const number = numberOfOther(word);
        if (number >= 0) visit(number, isWhole);
      });
      return;
    }
    for (let place = 0; place < count; place += 1) {
      const number = known.find(scan, place) ?? learn(place);
      if (number >= 0) visit(number, scan.wholes[place] === 1);
    }
  };
}
