import type { Confidence, DenseIndex, QueryVectors, RankOptions, SearchPreference } from '../core/retriever.ts';
import type { LexicalMatch } from './lexical/lexical-index.ts';
import type { TitleFit } from './lexical/title-fit.ts';
import { type Choice, selectFirst, sortNumbers } from './top-ids.ts';
import { CALIBRATIONS, chanceOf, PARAMETERS, type SearchMode } from './tuning.ts';

/** A tool found by words or by meaning. */
export interface Candidate {
  readonly id: number;
  /** Its lexical score. */
  readonly lexical: number;
  /** How it fits by its title and its verb. */
  readonly fit: TitleFit;
  /** Similarity in meaning, from -1 to 1; undefined without vectors. */
  readonly similarity: number | undefined;
}

/** A candidate with a combined score: from 0 to 1, and a bonus. */
export interface Fused extends Candidate {
  readonly score: number;
}

/** Upper limit of the score of a hit, because only a tool named in the request is certain. */
const MOST = 0.99;

/** Combines the lexical score, relative to the best tool, and the similarity, as a weighted sum. */
export function fuse(candidates: readonly Candidate[], catalogSize: number): readonly Fused[] {
  const best = candidates.reduce((most, { lexical }) => Math.max(most, lexical), 0);
  // If even the best tool shares hardly a word with the request, being the best means little.
  const whole = Math.max(best, PARAMETERS.evidence * Math.log(1 + Math.max(catalogSize, PARAMETERS.leastTools)));
  const weight = denseWeight(catalogSize);
  return candidates.map((candidate) => {
    const { lexical, similarity, fit } = candidate;
    const words = lexical / whole;
    const score = similarity === undefined ? words : (1 - weight) * words + weight * Math.max(0, similarity);
    return { ...candidate, score: Math.max(0, score + bonusOf(fit)) };
  });
}

/** The gain of a tool by its title and verb; a verb that contradicts the request is a loss. */
function bonusOf({ title, verb }: TitleFit): number {
  const { most, power } = PARAMETERS.title;
  return most * title ** power + PARAMETERS.verb * verb;
}

/** The weight of meaning relative to words: lower in a large catalog, where something similar is always found. */
function denseWeight(catalogSize: number): number {
  const { most, least, fallsPerDecade, from } = PARAMETERS.dense;
  const decades = Math.log10(Math.max(1, catalogSize) / from);
  return Math.min(most, Math.max(least, most - fallsPerDecade * decades));
}

/** The inputs for finding candidates. */
export interface Lookup {
  readonly match: LexicalMatch;
  readonly meaning: Meaning | undefined;
  /** Ids that the request names or matches exactly: they are always candidates. */
  readonly certain: ReadonlySet<number>;
  readonly choice: Choice;
  readonly limit: number;
}

/** The dense index, with the vectors of the request. */
export interface Meaning {
  readonly dense: DenseIndex;
  readonly vectors: QueryVectors;
}

/** Minimum search depth. If it is large enough, a tool that is among the best by neither words nor meaning is not the best by both. */
const FEWEST = 50;

/** Finds the candidates: best by words, best by meaning, and certain ones, each with both figures. */
export function findCandidates({ match, meaning, certain, choice, limit }: Lookup): readonly Candidate[] {
  const depth = Math.max(FEWEST, limit);
  const near =
    meaning === undefined ? [] : nearestIds(meaning, { depth, count: match.count, isAllowed: choice.isAllowed });
  const ids = distinct(match.best(depth, choice), near, certain);
  const similarities = meaning?.dense.similarity(meaning.vectors, ids);
  const candidates: Candidate[] = [];
  for (let place = 0; place < ids.length; place += 1) {
    const id = ids[place] as number; // within the list
    candidates.push({ id, lexical: match.scoreOf(id), fit: match.fitOf(id), similarity: similarities?.[place] });
  }
  return candidates;
}

/** Removes duplicates. Sorting is faster than a set. */
function distinct(best: Uint32Array, near: readonly number[], certain: ReadonlySet<number>): Uint32Array {
  if (near.length === 0 && certain.size === 0) return best;
  const sorted = new Uint32Array(best.length + near.length + certain.size);
  sorted.set(best);
  sorted.set(near, best.length);
  sorted.set([...certain], best.length + near.length);
  sorted.sort();
  let count = 0;
  for (let place = 0; place < sorted.length; place += 1)
    if (place === 0 || sorted[place] !== sorted[place - 1]) sorted[count++] = sorted[place] as number; // within the list
  return sorted.subarray(0, count);
}

interface Reach {
  readonly depth: number;
  readonly count: number;
  readonly isAllowed: (id: number) => boolean;
}

function nearestIds({ dense, vectors }: Meaning, { depth, count, isAllowed }: Reach): readonly number[] {
  const nearest = dense.rank(vectors, depth);
  const allowed: number[] = [];
  for (const { id } of nearest) if (isAllowed(id)) allowed.push(id);
  if (allowed.length === nearest.length || allowed.length * 2 >= depth) return allowed;
  // A narrow view: its tools are compared one by one, because hidden tools may crowd them out.
  const visible = Uint32Array.from({ length: count }, (_, id) => id).filter(isAllowed);
  const similarities = dense.similarity(vectors, visible);
  return [...visible.keys()]
    .sort((a, b) => (similarities[b] ?? 0) - (similarities[a] ?? 0))
    .slice(0, depth)
    .map((place) => visible[place] ?? 0);
}

/** A tool that may be returned. */
export interface FoundTool extends Fused {
  readonly name: string;
  /** True if the request names it: then it is certain. */
  readonly isNamed: boolean;
  /** True if its name or title matches the request exactly: then it is certain, and comes first. */
  readonly isExact: boolean;
  /** The preference of the operator. */
  readonly preference: SearchPreference | undefined;
}

/** The inputs for judging tools. */
export interface Judgement extends RankOptions {
  readonly mode: SearchMode;
  readonly catalogSize: number;
  /** Typical similarity of the request to unrelated tools, for vectors of an endpoint. */
  readonly background: number;
  /** The share of the words of the request that no tool contains. */
  readonly unknown: number;
}

/** A tool to return. */
interface JudgedTool extends FoundTool {
  readonly confidence: Confidence;
}

const isCertain = ({ isNamed, isExact }: FoundTool): boolean => isNamed || isExact;

/** The hits in order, each with a score and a confidence. */
export function judgeHits(found: readonly FoundTool[], judgement: Judgement): readonly JudgedTool[] {
  const { mode, limit, minScore, usage } = judgement;
  const { curve, bar } = CALIBRATIONS[mode];
  const figureOf = figuresOf(found, judgement);
  const worthOf = (tool: FoundTool): number => {
    if (isCertain(tool)) return 1;
    return Math.min(MOST, curve === undefined ? tool.score : chanceOf(figureOf(tool), curve));
  };
  const isClear = (tool: FoundTool) => isCertain(tool) || figureOf(tool) >= bar;
  const isHit =
    minScore === undefined
      ? hitByDefault(found, (tool) => figureOf(tool) >= bar)
      : (tool: FoundTool) => worthOf(tool) >= minScore;
  const hits = found.filter((tool) => (isCertain(tool) || tool.score > 0) && isHit(tool));
  const isClearRequest = hits.some(({ preference }) => preference !== undefined) && hits.some(isClear);
  return firstOf(hits, Math.max(0, limit), isAhead(usage)).map((tool, place) => ({
    ...tool,
    score: worthOf(tool),
    // The confidence of the first hit is that of the request: a preference does not change it.
    confidence: isClear(tool) || (place === 0 && isClearRequest) ? 'high' : 'low',
  }));
}

/** Returns the figure that decides whether a tool clearly fits. */
export function figuresOf(
  found: readonly Fused[],
  { mode, catalogSize, background, unknown }: Pick<Judgement, 'mode' | 'catalogSize' | 'background' | 'unknown'>,
): (tool: Fused) => number {
  const trust = 1 - PARAMETERS.doubt * unknown;
  if (mode === 'words' || mode === 'hybrid') return ({ score }) => trust * score;
  const standingOut = ({ similarity = 0 }: Fused) => Math.max(0, (similarity - background) / (1 - background));
  // If no tool contains a word of the request, a missing lexical score tells nothing.
  if (found.every(({ lexical }) => lexical === 0)) return standingOut;
  const weight = denseWeight(catalogSize);
  return (tool) => trust * (tool.score + weight * (standingOut(tool) - Math.max(0, tool.similarity ?? 0)));
}

/** The default rule for hits, without `minScore`: tools far behind the best are dropped. If no tool clearly fits, a named tool is returned alone. */
function hitByDefault(tools: readonly FoundTool[], fits: (tool: FoundTool) => boolean): (tool: FoundTool) => boolean {
  const best = tools.reduce((most, { score }) => Math.max(most, score), 0);
  const isAlone = tools.some(({ isNamed }) => isNamed) && !tools.some((tool) => tool.isExact || fits(tool));
  return (tool) => isCertain(tool) || (!isAlone && tool.score >= best * PARAMETERS.minShare);
}

/** The first `limit` tools in order. The others are not sorted. */
function firstOf(tools: readonly FoundTool[], limit: number, isFirst: IsAhead): readonly FoundTool[] {
  const at = (place: number) => tools[place] as FoundTool; // an index of the list
  const isBefore = (a: number, b: number) => a !== b && isFirst(at(a), at(b));
  const places = new Uint32Array(tools.length);
  for (let place = 0; place < places.length; place += 1) places[place] = place;
  selectFirst(places, Math.trunc(limit), isBefore);
  const first = places.subarray(0, limit);
  sortNumbers(first, isBefore);
  const found: FoundTool[] = [];
  for (const place of first) found.push(at(place));
  return found;
}

type IsAhead = (a: FoundTool, b: FoundTool) => boolean;

/** The factor of a score in the order. */
const PREFERRED: Readonly<Record<SearchPreference, number>> = { pin: 1, boost: 1.25, bury: 0.5 };

/** More than any score, also of a boosted tool. */
const ABOVE_ALL = 2;

/** Smaller differences of scores count as equal, so that usage may decide. */
const STEP = 0.005;

function isAhead(usage: RankOptions['usage']): IsAhead {
  // Certain tools rank above all others.
  const rankOf = ({ isNamed, isExact, score, preference }: FoundTool) => {
    const rank = isExact ? 3 : preference === 'pin' ? 2 : isNamed ? 1 : 0;
    return rank * ABOVE_ALL + score * PREFERRED[preference ?? 'pin'];
  };
  const isAheadByRank: IsAhead = (a, b) => {
    const ahead = rankOf(a) - rankOf(b);
    return ahead > 0 || (ahead === 0 && a.name < b.name);
  };
  if (usage === undefined) return isAheadByRank;
  const stepOf = (tool: FoundTool) => Math.round(rankOf(tool) / STEP);
  return (a, b) => {
    const ahead = stepOf(a) - stepOf(b) || usage(a.name) - usage(b.name);
    return ahead > 0 || (ahead === 0 && isAheadByRank(a, b));
  };
}
