import { grown } from '../byte-sections.ts';
import type { SearchTexts } from '../search-texts.ts';
import { type Choice, createTopIds } from '../top-ids.ts';
import { PARAMETERS } from '../tuning.ts';
import type { Misspelled } from './corrections.ts';
import { createTermCounter } from './count-terms.ts';
import type { ExactRequest } from './exact-request.ts';
import { readLexical, writeLexical } from './kept-index.ts';
import { createPackedLists } from './packed-lists.ts';
import { createSaidTerms, FIELD_BITS, type MatchedWord } from './said-terms.ts';
import { createToolNames } from './similar-names.ts';
import { createSynonyms, type SynonymGroups } from './synonyms.ts';
import { createTitleFit, type TitleFit } from './title-fit.ts';
import { createVerbOfTool } from './verb-classes.ts';
import { createVocabulary } from './vocabulary.ts';
import { type Asked, createWeighRequest } from './weigh-request.ts';
import { createRarity, createWordScores, dropTool, IMPACT_BITS } from './word-scores.ts';

/** Finds tools by the words of a request: BM25 over weighted fields. Tools are identified by small numbers. */
export interface LexicalIndex {
  /** Adds a tool; `id` must not be in use. */
  add(id: number, texts: SearchTexts): void;
  remove(id: number): void;
  /** Compares tools with a request. */
  match(asked: Asked): LexicalMatch;
  /** The words of a request that no tool contains, and that are probably misspelled. */
  misspelled(request: string): readonly Misspelled[];
  snapshot(): Uint8Array;
}

/** The match of each tool with the words of a request. Valid until the next call of `match`. */
export interface LexicalMatch {
  /** Greater than every id. */
  readonly count: number;
  /** The share of the words of the request that no tool contains. */
  readonly unknown: number;
  /** The tools with the best matches, unordered; valid until the next call. */
  best(limit: number, choice: Choice): Uint32Array;
  /** The score of one tool, including phrases. */
  scoreOf(id: number): number;
  /** How one tool fits by its title and its verb. */
  fitOf(id: number): TitleFit;
  /** The tools whose name or title matches the request exactly. */
  exact(isAllowed: Choice['isAllowed']): readonly number[];
  /** The words of the request that a tool contains, highest weight first. */
  explain(id: number): readonly MatchedWord[];
}

/** Creates an empty index, or one from a snapshot; undefined if the snapshot cannot be used. */
export function createLexicalIndex(snapshot?: undefined, synonyms?: SynonymGroups): LexicalIndex;
export function createLexicalIndex(snapshot: Uint8Array, synonyms?: SynonymGroups): LexicalIndex | undefined;
export function createLexicalIndex(snapshot?: Uint8Array, synonyms: SynonymGroups = []): LexicalIndex | undefined {
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
  const verbOfTool = createVerbOfTool();
  const topIds = createTopIds();
  let toolCount = kept?.toolCount ?? 0;
  let idLimit = kept?.said.lengths.length ?? 0;
  let verbs = grown(kept?.verbs ?? NO_VERBS, Math.max(64, idLimit));
  const { scoresOf } = createWordScores(postings);

  const rarityOf = createRarity();
  /** The inverse document frequency of a term: rare terms distinguish tools. */
  const rarity = (number: number) => rarityOf(postings.length(number), Math.max(toolCount, PARAMETERS.leastTools));

  const names = createToolNames({ said, vocabulary });
  const { weigh, misspelled } = createWeighRequest({
    vocabulary,
    rarity,
    names: () => names.terms(idLimit),
    synonyms: createSynonyms(synonyms),
  });
  const fitOf = createTitleFit({ said, rarity, verbOf: (id) => verbs[id] ?? 0 });

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
      if (idLimit > verbs.length) verbs = grown(verbs, idLimit * 2);
      verbs[id] = verbOfTool(texts);
      names.add(id);
    },
    remove(id) {
      names.remove(id);
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
    match(asked) {
      const weighed = weigh(asked);
      const { words, byNumber, pairs: together, exact, unknown } = weighed;
      const scores = scoresOf(words, idLimit);
      return {
        ...{ count: idLimit, unknown },
        best: (limit, choice) => topIds(scores, limit, choice),
        scoreOf: (id) => (scores[id] ?? 0) + phraseScore(id, together),
        fitOf: (id) => fitOf(id, weighed),
        exact: (isAllowed) => (exact === undefined ? [] : findExact(exact, isAllowed)),
        explain: (id) => explain(id, byNumber),
      };
    },
    misspelled,
    snapshot: () =>
      writeLexical({
        terms: vocabulary.pack(),
        postings: postings.compact(vocabulary.size),
        said: said.compact(idLimit),
        pairs: pairs.compact(idLimit),
        verbs: verbs.subarray(0, idLimit),
        toolCount,
      }),
  };
}

const NO_VERBS = new Uint8Array();
