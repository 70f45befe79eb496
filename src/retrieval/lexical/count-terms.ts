import { PARAMETERS } from '../parameters.ts';
import { FIELDS, type Field, type SearchTexts } from '../search-texts.ts';
import { ownText } from './own-text.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';
import { eachWord } from './words.ts';

/** Distinct terms of one tool that are searched; a text that has more is a list of everything. */
const MAX_TERMS_PER_TOOL = 1500;

/** What a tool's texts say, term by term. */
export interface CountedTerms {
  readonly count: number;
  readonly numbers: Uint32Array;
  /** In which fields each stands: a bit a field. */
  readonly fields: Uint16Array;
  /** How much each says about the tool, from 1 to 255. */
  readonly impacts: Uint8Array;
  /** Terms that follow each other in what a tool is called and what it does, as `pairOf` has them. */
  readonly pairs: readonly number[];
}

/** Fields in which it matters that words stand together. */
const PHRASED: ReadonlySet<Field> = new Set(['name', 'title', 'description']);
const MAX_PAIRS = 64;

/** Two terms in their order as one number. */
export function pairOf(before: number, after: number): number {
  return (Math.imul(before, 0x9e3779b1) ^ Math.imul(after, 0x85ebca6b)) >>> 0;
}

/** Counts the terms of one tool after the other; what it returns is overwritten by the next. */
export function createTermCounter(vocabulary: Vocabulary): (texts: SearchTexts) => CountedTerms {
  const numbers = new Uint32Array(MAX_TERMS_PER_TOOL);
  const fields = new Uint16Array(MAX_TERMS_PER_TOOL);
  const impacts = new Uint8Array(MAX_TERMS_PER_TOOL);
  const sums = new Float64Array(MAX_TERMS_PER_TOOL);
  const repeats = new Uint32Array(MAX_TERMS_PER_TOOL);
  const placeOf = new Map<number, number>();
  const numberOf = rememberNumbers(vocabulary);
  const { maxRepeats, saturation, lengthPenalty, usualLength } = PARAMETERS;

  return (texts) => {
    const pairs = new Set<number>();
    placeOf.clear();
    let count = 0;
    let length = 0;
    FIELDS.forEach((field, bit) => {
      const text = texts[field];
      if (text === '') return;
      const weight = PARAMETERS.weights[field];
      repeats.fill(0, 0, count);
      let before = PHRASED.has(field) ? START : NOT_PHRASED;
      eachWord(text, (word, isWhole) => {
        const number = count < MAX_TERMS_PER_TOOL ? numberOf(word) : numberOfKnown(vocabulary, word);
        if (number < 0) return;
        length += weight;
        if (before !== NOT_PHRASED && !isWhole) {
          if (before >= 0 && pairs.size < MAX_PAIRS) pairs.add(pairOf(before, number));
          before = number;
        }
        let place = placeOf.get(number);
        if (place === undefined) {
          if (count === MAX_TERMS_PER_TOOL) return;
          place = count;
          count += 1;
          placeOf.set(number, place);
          numbers[place] = number;
          fields[place] = sums[place] = repeats[place] = 0;
        }
        fields[place] = (fields[place] ?? 0) | (1 << bit);
        repeats[place] = (repeats[place] ?? 0) + 1;
        if ((repeats[place] ?? 0) <= maxRepeats) sums[place] = (sums[place] ?? 0) + weight;
      });
    });
    const bar = saturation * (1 - lengthPenalty + (lengthPenalty * length) / usualLength);
    for (let place = 0; place < count; place += 1) {
      const sum = sums[place] ?? 0;
      impacts[place] = Math.max(1, Math.round((255 * sum) / (sum + bar)));
    }
    return { count, numbers, fields, impacts, pairs: [...pairs] };
  };
}

const START = -1;
const NOT_PHRASED = -2;
const REMEMBERED_WORDS = 150_000;
const SAYS_NOTHING = -1;

/** The number of a word's term; words are met again and again, and stemming costs more than remembering. */
function rememberNumbers(vocabulary: Vocabulary): (word: string) => number {
  const numbers = new Map<string, number>();
  let releases = 0;
  return (word) => {
    // A released number may be another term's by now.
    if (releases !== vocabulary.releases || numbers.size > REMEMBERED_WORDS) {
      numbers.clear();
      releases = vocabulary.releases;
    }
    const known = numbers.get(word);
    if (known !== undefined) return known;
    const term = termOf(word);
    const number = term === undefined ? SAYS_NOTHING : (vocabulary.take(term) ?? SAYS_NOTHING);
    numbers.set(ownText(word), number);
    return number;
  };
}

function numberOfKnown(vocabulary: Vocabulary, word: string): number {
  return vocabulary.find(termOf(word) ?? '') ?? SAYS_NOTHING;
}
