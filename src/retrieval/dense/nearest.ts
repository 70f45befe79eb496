import type { DenseHit } from '../../core/retriever.ts';

/** Keeps the best of many hits; of equal ones the smaller id, so that the order they come in does not matter. */
export interface Nearest {
  offer(id: number, similarity: number): void;
  /** Best first. */
  hits(): readonly DenseHit[];
}

/** The best `limit` hits; each id must be offered once. */
export function createNearest(limit: number): Nearest {
  // Ascending by how good they are, so the first one is the one to beat.
  const kept: DenseHit[] = [];
  let bar = Number.NEGATIVE_INFINITY;
  return {
    offer(id, similarity) {
      // Most fail here.
      if (similarity < bar) return;
      const worst = kept[0];
      if (kept.length >= limit && (worst === undefined || !isBetter(id, similarity, worst))) return;
      let low = 0;
      let high = kept.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        const other = kept[middle];
        if (other !== undefined && isBetter(id, similarity, other)) low = middle + 1;
        else high = middle;
      }
      kept.splice(low, 0, { id, similarity });
      if (kept.length > limit) kept.shift();
      if (kept.length === limit) bar = kept[0]?.similarity ?? bar;
    },
    hits: () => kept.toReversed(),
  };
}

function isBetter(id: number, similarity: number, than: DenseHit): boolean {
  return similarity > than.similarity || (similarity === than.similarity && id < than.id);
}
