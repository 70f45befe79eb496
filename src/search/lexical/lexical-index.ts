import { crc32 } from 'node:zlib';
import { bytesOf, readSections, wordsIn, writeSections } from '../byte-sections.ts';
import { FIELDS, type SearchTexts } from '../search-texts.ts';
import { type Choice, createTopIds } from '../top-ids.ts';
import { PARAMETERS } from '../tuning.ts';
import { createTermCounter } from './count-terms.ts';
import type { ExactRequest } from './exact-request.ts';
import { createPackedLists, type KeptLists } from './packed-lists.ts';
import { createSaidTerms, FIELD_BITS, type MatchedWord, NAME_BIT } from './said-terms.ts';
import { createNameTerms, type NameTerms } from './similar-names.ts';
import { countTerms, createVocabulary, type KeptTerms } from './vocabulary.ts';
import { createWeighRequest } from './weigh-request.ts';

/** Finds tools by the words of a request: BM25 over weighted fields. Tools are identified by small numbers. */
export interface LexicalIndex {
  /** Adds a tool; `id` must not be in use. */
  add(id: number, texts: SearchTexts): void;
  remove(id: number): void;
  match(request: string): LexicalMatch;
  snapshot(): Uint8Array;
}

/** The match of each tool with the words of a request. Valid until the next call of `match`. */
export interface LexicalMatch {
  /** Greater than every id. */
  readonly count: number;
  /** The tools with the best matches, unordered; valid until the next call. */
  best(limit: number, choice: Choice): Uint32Array;
  /** The score of one tool, including phrases. */
  scoreOf(id: number): number;
  /** The tools whose name or title matches the request exactly. */
  exact(isAllowed: Choice['isAllowed']): readonly number[];
  /** The words of the request that a tool contains, highest weight first. */
  explain(id: number): readonly MatchedWord[];
}

const IMPACT_BITS = 8;
const IMPACT_MASK = 255;

/** Creates an empty index, or one from a snapshot; undefined if the snapshot cannot be used. */
export function createLexicalIndex(): LexicalIndex;
export function createLexicalIndex(snapshot: Uint8Array): LexicalIndex | undefined;
export function createLexicalIndex(snapshot?: Uint8Array): LexicalIndex | undefined {
  const kept = snapshot === undefined ? undefined : readLexical(snapshot);
  if (snapshot !== undefined && kept === undefined) return undefined;
  const vocabulary = createVocabulary(kept?.terms);
  // By term: the tools that contain it, each with its impact.
  const postings = createPackedLists(kept?.postings);
  // By tool: its terms, each with the bits of its fields. Used to remove a tool and to explain a hit.
  const said = createPackedLists(kept?.said);
  // By tool: its pairs of consecutive terms.
  const pairs = createPackedLists(kept?.pairs);
  const countTerms = createTermCounter(vocabulary);
  const topIds = createTopIds();
  let toolCount = kept?.toolCount ?? 0;
  let idLimit = kept?.said.lengths.length ?? 0;
  let scores = new Float32Array(Math.max(64, idLimit));
  let nameTerms: NameTerms | undefined;

  /** The inverse document frequency of a term: rare terms distinguish tools. */
  function rarity(number: number): number {
    const frequency = postings.length(number);
    const count = Math.max(toolCount, PARAMETERS.leastTools);
    return Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));
  }

  // Lazy: most words are spelled correctly.
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

  const weigh = createWeighRequest({ vocabulary, rarity, names: namesByTerm });

  const { explain, phraseScore, isExact } = createSaidTerms({ said, pairs });

  /** Only tools that contain the rarest term can contain all of them. */
  function findExact(request: ExactRequest, isAllowed: Choice['isAllowed']): readonly number[] {
    const rarest = request.needed.reduce((one, other) => (postings.length(other) < postings.length(one) ? other : one));
    const start = postings.start(rarest);
    const found: number[] = [];
    const end = start + postings.length(rarest);
    for (let at = start; at < end; at += 1) {
      const id = (postings.data[at] as number) >>> IMPACT_BITS; // within the list
      if (isExact(id, request) && isAllowed(id)) found.push(id);
    }
    return found;
  }

  return {
    add(id, texts) {
      const { count, numbers, fields, impacts, pairs: together, pairCount } = countTerms(texts);
      const saidFrom = said.extend(id, count);
      const pairsFrom = pairs.extend(id, pairCount);
      const [saidData, pairsData] = [said.data, pairs.data];
      for (let place = 0; place < count; place += 1) {
        const number = numbers[place] as number; // within the counted terms
        postings.push(number, ((id << IMPACT_BITS) | (impacts[place] as number)) >>> 0); // as above
        saidData[saidFrom + place] = ((number << FIELD_BITS) | (fields[place] as number)) >>> 0; // as above
      }
      for (let place = 0; place < pairCount; place += 1) pairsData[pairsFrom + place] = together[place] as number; // as above
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
      const { terms, byNumber, pairs: together, exact } = weigh(request);
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
      return {
        count: idLimit,
        best: (limit, choice) => topIds(scores.subarray(0, idLimit), limit, choice),
        scoreOf: (id) => (scores[id] ?? 0) + phraseScore(id, together),
        exact: (isAllowed) => (exact === undefined ? [] : findExact(exact, isAllowed)),
        explain: (id) => explain(id, byNumber),
      };
    },
    snapshot: () =>
      writeLexical({
        terms: vocabulary.pack(),
        postings: postings.compact(vocabulary.size),
        said: said.compact(idLimit),
        pairs: pairs.compact(idLimit),
        toolCount,
      }),
  };
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

/** The parts of an index in a snapshot. */
interface KeptIndex {
  readonly terms: KeptTerms;
  /** By term: id and impact of each tool. */
  readonly postings: KeptLists;
  /** By id: terms with their fields. */
  readonly said: KeptLists;
  /** By id: its pairs of terms. */
  readonly pairs: KeptLists;
  readonly toolCount: number;
}

/** Increased whenever words are split, stemmed, counted or stored differently: an older index would give wrong results. */
const VERSION = 2;
const MADE_BY = crc32(JSON.stringify([VERSION, FIELDS, PARAMETERS]));

function writeLexical({ terms, postings, said, pairs, toolCount }: KeptIndex): Uint8Array {
  return writeSections(MADE_BY, [
    bytesOf(Uint32Array.of(toolCount)),
    new TextEncoder().encode(terms.text),
    bytesOf(terms.starts),
    bytesOf(terms.slots),
    ...[postings, said, pairs].flatMap((lists) => [lists.starts, lists.lengths, lists.values].map(bytesOf)),
  ]);
}

/** Reads a snapshot; undefined if it is damaged or outdated. */
function readLexical(bytes: Uint8Array): KeptIndex | undefined {
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
