import type { EncodedText } from './encode-text.ts';
import { addScaled, dot } from './rows.ts';

/** Requests, candidate tools, which one each request wants, and which others would answer it, too. */
export interface Batch {
  readonly queries: readonly EncodedText[];
  readonly tools: readonly EncodedText[];
  readonly wanted: Int32Array;
  readonly alsoRight: readonly ReadonlySet<number>[];
}

const LEAST_SHARE = 1e-3;

/** InfoNCE: each request should be nearest to its tool among all of the batch. Fills the gradients, returns the mean loss. */
export function contrast(batch: Batch, temperature: number): number {
  const { queries, tools } = batch;
  const forward = queries.map(({ vector }) =>
    Float64Array.from(tools, (tool) => dot(vector, tool.vector) / temperature),
  );
  let loss = 0;
  for (const [row, query] of queries.entries()) {
    const scores = forward[row] ?? new Float64Array();
    const wanted = batch.wanted[row] ?? 0;
    for (const other of batch.alsoRight[row] ?? []) if (other !== wanted) scores[other] = Number.NEGATIVE_INFINITY;
    const most = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const parts = scores.map((score) => Math.exp(score - most));
    const sum = parts.reduce((a, b) => a + b, 0);
    loss -= Math.log((parts[wanted] ?? 0) / sum + 1e-12) / queries.length;
    for (const [column, tool] of tools.entries()) {
      const share = (parts[column] ?? 0) / sum;
      // A tool that nobody takes for the wanted one teaches nothing, and most are such.
      if (column !== wanted && share < LEAST_SHARE) continue;
      const slope = (share - (column === wanted ? 1 : 0)) / (temperature * queries.length);
      addScaled(query.gradient, tool.vector, slope);
      addScaled(tool.gradient, query.vector, slope);
    }
  }
  return loss;
}
