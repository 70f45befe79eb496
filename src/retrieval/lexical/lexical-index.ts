import { PARAMETERS } from '../parameters.ts';
import { FIELDS, type Field, type SearchTexts } from '../search-texts.ts';
import { createTermCounter, pairOf } from './count-terms.ts';
import { createPackedLists } from './packed-lists.ts';
import { createNameTerms, type NameTerms } from './similar-names.ts';
import { readLexical, writeLexical } from './snapshot.ts';
import { type RequestTerms, rememberTerms, requestTerms } from './terms.ts';
import { createVocabulary } from './vocabulary.ts';

/** Finds tools by the words of a request: BM25 over weighted fields. Tools are known by the small numbers they are added under. */
export interface LexicalIndex {
  /** `id` is not in use. */
  add(id: number, texts: SearchTexts): void;
  remove(id: number): void;
  match(request: string): LexicalMatch;
  snapshot(): Uint8Array;
}

/** How well each tool fits the words of a request. Valid until the index is asked again. */
export interface LexicalMatch {
  /** By id; 0 where no word fits. */
  readonly scores: Float32Array;
  /** The score of one tool, and besides what words count that stand together in both. */
  scoreOf(id: number): number;
  /** The words of the request that a tool says, most telling first, and where. */
  explain(id: number): readonly MatchedWord[];
}

export interface MatchedWord {
  readonly word: string;
  readonly weight: number;
  readonly fields: readonly Field[];
}

/** A term that some tool says, and how much it counts in this request. */
interface WeightedTerm {
  readonly number: number;
  readonly word: string;
  readonly weight: number;
}

/** What a request asks for: terms by number, and what each pair of them is worth. */
interface Asked {
  readonly terms: readonly WeightedTerm[];
  readonly pairs: ReadonlyMap<number, number>;
}

const FIELD_BITS = FIELDS.length;
const NAME_BIT = 1 << FIELDS.indexOf('name');
const IMPACT_BITS = 8;
const IMPACT_MASK = 255;

/** An empty index, or that of a snapshot; undefined where the snapshot cannot be used. */
export function createLexicalIndex(): LexicalIndex;
export function createLexicalIndex(snapshot: Uint8Array): LexicalIndex | undefined;
export function createLexicalIndex(snapshot?: Uint8Array): LexicalIndex | undefined {
  const kept = snapshot === undefined ? undefined : readLexical(snapshot);
  if (snapshot !== undefined && kept === undefined) return undefined;
  const vocabulary = createVocabulary(kept?.terms);
  // By term: the tools that say it, each with its impact.
  const postings = createPackedLists(kept?.postings);
  // By tool: the terms it says, each with the bits of its fields. What a removal needs, and what explains a hit.
  const said = createPackedLists(kept?.said);
  // By tool: the terms that follow each other.
  const pairs = createPackedLists(kept?.pairs);
  const countTerms = createTermCounter(vocabulary);
  const toTerm = rememberTerms();
  let toolCount = kept?.toolCount ?? 0;
  let idLimit = kept?.said.lengths.length ?? 0;
  let scores = new Float32Array(Math.max(64, idLimit));
  let nameTerms: NameTerms | undefined;

  /** The inverse frequency of a term: what few tools say tells them apart. */
  function rarity(number: number): number {
    const frequency = postings.length(number);
    return Math.log(1 + (toolCount - frequency + 0.5) / (frequency + 0.5));
  }

  // Made by the first request that needs it: most words are spelled right.
  function namesByTerm(): NameTerms {
    if (nameTerms !== undefined) return nameTerms;
    nameTerms = createNameTerms();
    for (let id = 0; id < idLimit; id += 1) noteNames(nameTerms.add, id);
    return nameTerms;
  }

  function noteNames(note: NameTerms['add'], id: number): void {
    const start = said.start(id);
    for (let at = start; at < start + said.length(id); at += 1) {
      const entry = said.data[at] ?? 0;
      if ((entry & NAME_BIT) !== 0) note(entry >>> FIELD_BITS, vocabulary.text(entry >>> FIELD_BITS));
    }
  }

  /** What a word that no tool says may have meant. */
  function guesses(
    word: string,
    isUnfinished: boolean,
  ): readonly { readonly number: number; readonly share: number }[] {
    if (/\d/.test(word)) return [];
    const begun = isUnfinished ? namesByTerm().startingWith(word) : [];
    if (begun.length > 0) return begun.map((number) => ({ number, share: PARAMETERS.prefix }));
    return namesByTerm()
      .near(word)
      .map((number) => ({ number, share: PARAMETERS.typo }));
  }

  function weigh(request: string): Asked {
    const asked = requestTerms(request, toTerm);
    const terms: WeightedTerm[] = [];
    asked.terms.forEach(({ term, word, count, isWhole }, place) => {
      const number = vocabulary.find(term);
      if (number !== undefined) {
        terms.push({ number, word, weight: rarity(number) * count ** PARAMETERS.repetition });
        return;
      }
      const isUnfinished = place === asked.terms.length - 1 && asked.terms.length <= MAX_WORDS_OF_PREFIX_SEARCH;
      for (const guess of isWhole ? [] : guesses(term, isUnfinished))
        terms.push({ number: guess.number, word, weight: rarity(guess.number) * guess.share });
    });
    return { terms, pairs: weighPairs(asked.pairs) };
  }

  function weighPairs(together: RequestTerms['pairs']): ReadonlyMap<number, number> {
    const weights = new Map<number, number>();
    for (const [first, second] of together) {
      const before = vocabulary.find(first);
      const after = vocabulary.find(second);
      if (before === undefined || after === undefined) continue;
      weights.set(pairOf(before, after), (PARAMETERS.phrase * (rarity(before) + rarity(after))) / 2);
    }
    return weights;
  }

  function phraseScore(id: number, weights: ReadonlyMap<number, number>, bits: number): number {
    let sum = 0;
    const start = pairs.start(id);
    const end = start + pairs.length(id);
    const { data } = pairs;
    for (let at = start; at < end; at += 1) {
      const pair = data[at] as number; // within the list
      // Most pairs are not asked for, and five of their bits tell.
      if (((bits >>> (pair & 31)) & 1) === 1) sum += weights.get(pair) ?? 0;
    }
    return sum;
  }

  function explain(id: number, terms: readonly WeightedTerm[]): readonly MatchedWord[] {
    const matched: MatchedWord[] = [];
    const start = said.start(id);
    const end = start + said.length(id);
    const { data } = said;
    let bits = 0;
    for (const { number } of terms) bits |= 1 << (number & 31);
    for (let at = start; at < end; at += 1) {
      const entry = data[at] as number; // within the list
      // Most terms are not asked for, and five of their bits tell.
      if (((bits >>> ((entry >>> FIELD_BITS) & 31)) & 1) === 0) continue;
      const asked = terms.find(({ number }) => number === entry >>> FIELD_BITS);
      if (asked !== undefined) matched.push({ word: asked.word, weight: asked.weight, fields: fieldsIn(entry) });
    }
    return matched.sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1));
  }

  return {
    add(id, texts) {
      const { count, numbers, fields, impacts, pairs: together, pairCount } = countTerms(texts);
      said.reserve(id, count);
      pairs.reserve(id, pairCount);
      for (let place = 0; place < count; place += 1) {
        const number = numbers[place] ?? 0;
        postings.push(number, ((id << IMPACT_BITS) | (impacts[place] ?? 0)) >>> 0);
        said.push(id, ((number << FIELD_BITS) | (fields[place] ?? 0)) >>> 0);
      }
      for (let place = 0; place < pairCount; place += 1) pairs.push(id, together[place] ?? 0);
      toolCount += 1;
      idLimit = Math.max(idLimit, id + 1);
      if (idLimit > scores.length) scores = new Float32Array(idLimit * 2);
      if (nameTerms !== undefined) noteNames(nameTerms.add, id);
    },
    remove(id) {
      if (nameTerms !== undefined) noteNames(nameTerms.remove, id);
      const start = said.start(id);
      const end = start + said.length(id);
      for (let at = start; at < end; at += 1) {
        const number = (said.data[at] ?? 0) >>> FIELD_BITS;
        dropTool(postings, number, id);
        if (postings.length(number) === 0) vocabulary.release(number);
      }
      said.clear(id);
      pairs.clear(id);
      toolCount -= 1;
    },
    match(request) {
      scores.fill(0, 0, idLimit);
      const { terms, pairs: together } = weigh(request);
      const { data } = postings;
      for (const { number, weight } of terms) {
        const share = weight / IMPACT_MASK;
        const start = postings.start(number);
        const end = start + postings.length(number);
        for (let at = start; at < end; at += 1) {
          const entry = data[at] as number; // within the list
          scores[entry >>> IMPACT_BITS] = (scores[entry >>> IMPACT_BITS] as number) + share * (entry & IMPACT_MASK); // an id is below the limit
        }
      }
      let bits = 0;
      for (const pair of together.keys()) bits |= 1 << (pair & 31);
      return {
        scores: scores.subarray(0, idLimit),
        scoreOf: (id) => (scores[id] ?? 0) + (bits === 0 ? 0 : phraseScore(id, together, bits)),
        explain: (id) => explain(id, terms),
      };
    },
    snapshot: () =>
      writeLexical({
        terms: vocabulary.all(),
        postings: postings.compact(vocabulary.size),
        said: said.compact(idLimit),
        pairs: pairs.compact(idLimit),
        toolCount,
      }),
  };
}

const MAX_WORDS_OF_PREFIX_SEARCH = 4;

function fieldsIn(entry: number): readonly Field[] {
  const fields: Field[] = [];
  for (let bit = 0; bit < FIELD_BITS; bit += 1) if ((entry & (1 << bit)) !== 0) fields.push(FIELDS[bit] as Field); // a bit a field
  return fields;
}

function dropTool(postings: ReturnType<typeof createPackedLists>, term: number, id: number): void {
  const start = postings.start(term);
  const length = postings.length(term);
  const { data } = postings;
  for (let place = 0; place < length; place += 1) {
    if ((data[start + place] ?? 0) >>> IMPACT_BITS === id) {
      postings.drop(term, place);
      return;
    }
  }
}
