/** A request and the tools that answer it; none where nothing should be found. */
export interface LabelledRequest {
  readonly id: string;
  readonly query: string;
  readonly relevant: readonly string[];
}

/** How good a ranking is, each figure from 0 to 1 except the time. */
export interface Quality {
  readonly requests: number;
  readonly ndcg10: number;
  readonly recall1: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly mrr: number;
  /** The share of requests that nothing answers for which nothing was found; null where there are none. */
  readonly refused: number | null;
  /** The share of answerable requests for which nothing was found. */
  readonly lost: number;
  readonly msPerQuery: number;
  /** Every request with what was found for it, worst first. */
  readonly outcomes: readonly RequestOutcome[];
}

/** One request, what was found for it, and how good that is. */
interface RequestOutcome extends LabelledRequest {
  readonly found: readonly string[];
  readonly ndcg10: number;
}

/** Finds ids for a request, best first. */
export type RankIds = (query: string) => readonly string[] | Promise<readonly string[]>;

/** Measures a ranking over requests whose answers are known. `now` is in milliseconds. */
export async function evaluate(
  requests: readonly LabelledRequest[],
  rank: RankIds,
  now: () => number = () => performance.now(),
): Promise<Quality> {
  const outcomes: RequestOutcome[] = [];
  let spentMs = 0;
  for (const request of requests) {
    const startedAt = now();
    const ranked = await rank(request.query);
    spentMs += now() - startedAt;
    const found = ranked.slice(0, 10);
    outcomes.push({ ...request, found, ndcg10: ndcg(found, request.relevant) });
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
    mrr: mean(({ found, relevant }) => reciprocalRank(found, relevant)),
    refused: unanswerable.length === 0 ? null : average(unanswerable.map(({ found }) => (found.length === 0 ? 1 : 0))),
    lost: mean(({ found }) => (found.length === 0 ? 1 : 0)),
    msPerQuery: requests.length === 0 ? 0 : spentMs / requests.length,
    outcomes: outcomes.toSorted((a, b) => a.ndcg10 - b.ndcg10),
  };
}

/** Discounted gain of the first ten, by the best that could be had; for a request that nothing answers, 1 if nothing was found. */
function ndcg(found: readonly string[], relevant: readonly string[]): number {
  if (relevant.length === 0) return found.length === 0 ? 1 : 0;
  const gain = (place: number) => 1 / Math.log2(place + 2);
  const wanted = new Set(relevant);
  let reached = 0;
  let best = 0;
  found.slice(0, 10).forEach((id, place) => {
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

function reciprocalRank(found: readonly string[], relevant: readonly string[]): number {
  const place = found.findIndex((id) => relevant.includes(id));
  return place < 0 ? 0 : 1 / (place + 1);
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
