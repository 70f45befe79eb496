import type { Confidence } from '../core/retriever.ts';

/** A request and the tools that answer it; none if nothing should be found. */
export interface LabelledRequest {
  readonly id: string;
  readonly query: string;
  readonly relevant: readonly string[];
}

/** Quality of a ranking; all figures are from 0 to 1 except the time. */
export interface Quality {
  readonly requests: number;
  readonly ndcg10: number;
  readonly recall1: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly mrr: number;
  /** Share of unanswerable requests for which nothing was found; null if there are none. */
  readonly refused: number | null;
  /** Share of answerable requests for which nothing was found. */
  readonly lost: number;
  /** Share of unanswerable requests with no hit, or with low confidence in the best one; null if there are none, or if confidence is unknown. */
  readonly lowRight: number | null;
  /** Like `lowRight`, but the share of answerable requests. */
  readonly lowWrong: number | null;
  readonly msPerQuery: number;
  /** All requests with their hits, worst first. */
  readonly outcomes: readonly RequestOutcome[];
}

/** One request with its hits and their quality. */
interface RequestOutcome extends LabelledRequest {
  readonly found: readonly string[];
  /** Confidence in the best hit; absent if unknown. */
  readonly confidence?: Confidence;
  readonly ndcg10: number;
}

/** A tool that was found. */
interface FoundId {
  readonly id: string;
  readonly confidence?: Confidence | undefined;
}

/** Finds tools for a request, best first. */
export type FindIds = (query: string) => readonly FoundId[] | Promise<readonly FoundId[]>;

/** Measures a search on requests with known answers. `now` is in milliseconds. */
export async function evaluate(
  requests: readonly LabelledRequest[],
  find: FindIds,
  now: () => number = () => performance.now(),
): Promise<Quality> {
  const outcomes: RequestOutcome[] = [];
  let spentMs = 0;
  for (const request of requests) {
    await new Promise((resolve) => setImmediate(resolve)); // thousands of requests must not hold up a server
    const startedAt = now();
    const hits = await find(request.query);
    spentMs += now() - startedAt;
    outcomes.push(outcomeOf(request, hits));
  }
  const answerable = outcomes.filter(({ relevant }) => relevant.length > 0);
  const unanswerable = outcomes.filter(({ relevant }) => relevant.length === 0);
  const mean = (of: (outcome: RequestOutcome) => number) => average(answerable.map(of));
  return {
    requests: requests.length,
    ndcg10: mean(({ ndcg10 }) => ndcg10),
    recall1: mean((outcome) => recall(outcome, 1)),
    recall5: mean((outcome) => recall(outcome, 5)),
    recall10: mean((outcome) => recall(outcome, 10)),
    mrr: mean(({ found, relevant }) => reciprocal(firstRank(found, relevant))),
    refused: unanswerable.length === 0 ? null : average(unanswerable.map(({ found }) => (found.length === 0 ? 1 : 0))),
    lost: mean(({ found }) => (found.length === 0 ? 1 : 0)),
    lowRight: lowShare(unanswerable),
    lowWrong: lowShare(answerable),
    msPerQuery: requests.length === 0 ? 0 : spentMs / requests.length,
    outcomes: outcomes.toSorted((a, b) => a.ndcg10 - b.ndcg10),
  };
}

/** A request whose first relevant tool has another rank with another search. */
interface ChangedRequest extends LabelledRequest {
  readonly change: 'better' | 'worse';
  /** Ranks of the first relevant tool; null if it is not among the first ten. */
  readonly ranks: { readonly this: number | null; readonly other: number | null };
}

/** The requests whose first relevant tool changed its rank between two measurements of the same requests, greatest change first. */
export function changedRequests(one: Quality, other: Quality): readonly ChangedRequest[] {
  const keyOf = ({ id, query, relevant }: LabelledRequest) => JSON.stringify([id, query, relevant]);
  const others = new Map(other.outcomes.map((outcome) => [keyOf(outcome), outcome.found]));
  const changed = one.outcomes.map((outcome) => {
    const { id, query, relevant, found } = outcome;
    const ranks = { this: firstRank(found, relevant), other: firstRank(others.get(keyOf(outcome)) ?? [], relevant) };
    const gain = reciprocal(ranks.other) - reciprocal(ranks.this);
    return { request: { id, query, relevant, change: gain > 0 ? 'better' : 'worse', ranks } as const, gain };
  });
  return changed
    .filter(({ gain }) => gain !== 0)
    .toSorted((a, b) => Math.abs(b.gain) - Math.abs(a.gain))
    .map(({ request }) => request);
}

function outcomeOf(request: LabelledRequest, hits: readonly FoundId[]): RequestOutcome {
  const found = hits.slice(0, 10).map(({ id }) => id);
  const confidence = hits.length === 0 ? 'low' : hits[0]?.confidence;
  const isRight = confidence === 'low' ? 1 : 0;
  return {
    ...request,
    found,
    ...(confidence !== undefined && { confidence }),
    ndcg10: request.relevant.length === 0 ? isRight : ndcg(found, request.relevant),
  };
}

function lowShare(outcomes: readonly RequestOutcome[]): number | null {
  if (outcomes.length === 0 || outcomes.some(({ confidence }) => confidence === undefined)) return null;
  return average(outcomes.map(({ confidence }) => (confidence === 'low' ? 1 : 0)));
}

/** Discounted gain of the first ten, relative to the best possible. */
function ndcg(found: readonly string[], relevant: readonly string[]): number {
  const gain = (place: number) => 1 / Math.log2(place + 2);
  const wanted = new Set(relevant);
  let reached = 0;
  let best = 0;
  found.forEach((id, place) => {
    if (wanted.delete(id)) reached += gain(place);
  });
  for (let place = 0; place < Math.min(10, new Set(relevant).size); place += 1) best += gain(place);
  return reached / best;
}

function recall({ found, relevant }: RequestOutcome, depth: number): number {
  const wanted = new Set(relevant);
  const total = wanted.size;
  for (const id of found.slice(0, depth)) wanted.delete(id);
  return (total - wanted.size) / total;
}

/** The rank of the first relevant tool, from 1; null if none was found. */
function firstRank(found: readonly string[], relevant: readonly string[]): number | null {
  const place = found.findIndex((id) => relevant.includes(id));
  return place < 0 ? null : place + 1;
}

function reciprocal(rank: number | null): number {
  return rank === null ? 0 : 1 / rank;
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
