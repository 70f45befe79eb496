import type { DenseIndex, QueryVectors } from '../core/retriever.ts';
import type { Candidate } from './fuse.ts';
import type { LexicalMatch } from './lexical/lexical-index.ts';
import { type Choice, topIds } from './top-ids.ts';

/** What a request is looked up in. */
export interface Lookup {
  readonly match: LexicalMatch;
  readonly meaning: Meaning | undefined;
  /** Ids that the request names: they are candidates in any case. */
  readonly named: ReadonlySet<number>;
  readonly choice: Choice;
  readonly limit: number;
}

/** The side that compares meanings, and the request as it understands it. */
interface Meaning {
  readonly dense: DenseIndex;
  readonly vectors: QueryVectors;
}

/** A tool that is among the best by neither words nor meaning is not the best by both, if enough are looked at. */
const FEWEST = 50;

/** The tools worth comparing: best by words, best by meaning, and named ones, each with both figures. */
export function findCandidates({ match, meaning, named, choice, limit }: Lookup): readonly Candidate[] {
  const depth = Math.max(FEWEST, limit);
  const best = topIds(match.scores, depth, choice);
  const count = match.scores.length;
  const near = meaning === undefined ? [] : nearestIds(meaning, { depth, count, isAllowed: choice.isAllowed });
  const ids =
    meaning === undefined && named.size === 0 ? new Uint32Array(best) : distinct([...named, ...best, ...near]);
  const similarities = meaning?.dense.similarity(meaning.vectors, ids);
  const candidates: Candidate[] = [];
  for (let place = 0; place < ids.length; place += 1) {
    const id = ids[place] as number; // within the list
    candidates.push({ id, lexical: match.scoreOf(id), similarity: similarities?.[place] });
  }
  return candidates;
}

/** Each id once. A sort takes less than a set of them would. */
function distinct(ids: readonly number[]): Uint32Array {
  const sorted = new Uint32Array(ids).sort();
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
  const allowed = nearest.filter(({ id }) => isAllowed(id));
  if (allowed.length === nearest.length || allowed.length * 2 >= depth) return allowed.map(({ id }) => id);
  // A narrow view: what it holds is compared one by one, lest the tools that it hides crowd them out.
  const visible = Uint32Array.from({ length: count }, (_, id) => id).filter(isAllowed);
  const similarities = dense.similarity(vectors, visible);
  return [...visible.keys()]
    .sort((a, b) => (similarities[b] ?? 0) - (similarities[a] ?? 0))
    .slice(0, depth)
    .map((place) => visible[place] ?? 0);
}
