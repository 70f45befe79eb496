import type { DenseIndex, QueryVectors } from '../../core/retriever.ts';
import type { LexicalMatch } from '../lexical/lexical-index.ts';
import type { Candidate } from './fuse.ts';
import type { Choice } from './top-ids.ts';

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
  const near =
    meaning === undefined ? [] : nearestIds(meaning, { depth, count: match.count, isAllowed: choice.isAllowed });
  const ids = distinct(match.best(depth, choice), near, named);
  const similarities = meaning?.dense.similarity(meaning.vectors, ids);
  const candidates: Candidate[] = [];
  for (let place = 0; place < ids.length; place += 1) {
    const id = ids[place] as number; // within the list
    candidates.push({ id, lexical: match.scoreOf(id), similarity: similarities?.[place] });
  }
  return candidates;
}

/** Each id once. A sort takes less than a set of them would. */
function distinct(best: Uint32Array, near: readonly number[], named: ReadonlySet<number>): Uint32Array {
  if (near.length === 0 && named.size === 0) return best;
  const sorted = new Uint32Array(best.length + near.length + named.size);
  sorted.set(best);
  sorted.set(near, best.length);
  sorted.set([...named], best.length + near.length);
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
  // A narrow view: what it holds is compared one by one, lest the tools that it hides crowd them out.
  const visible = Uint32Array.from({ length: count }, (_, id) => id).filter(isAllowed);
  const similarities = dense.similarity(vectors, visible);
  return [...visible.keys()]
    .sort((a, b) => (similarities[b] ?? 0) - (similarities[a] ?? 0))
    .slice(0, depth)
    .map((place) => visible[place] ?? 0);
}
