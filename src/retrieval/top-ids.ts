/** Which ids may be returned, and which of two with equal scores comes first. */
export interface Choice {
  readonly isAllowed: (id: number) => boolean;
  readonly isFirst: (a: number, b: number) => boolean;
}

/** The ids of the best scores above 0, in no order: they are compared again by more than this score. */
export function topIds(scores: Float32Array, limit: number, { isAllowed, isFirst }: Choice): readonly number[] {
  // A heap whose root is the worst of the best: most scores fail at it and cost one comparison.
  const heap: number[] = [];
  let bar = 0;
  for (let id = 0; id < scores.length; id += 1) {
    const score = scores[id] as number; // within the array
    if (score < bar || score === 0) continue;
    const isFull = heap.length >= limit;
    if ((isFull && score === bar && !isFirst(id, heap[0] ?? 0)) || !isAllowed(id)) continue;
    if (isFull) sink(id);
    else rise(id);
    if (heap.length >= limit) bar = scores[heap[0] ?? 0] ?? 0;
  }
  return heap;

  function isWorse(a: number, b: number): boolean {
    const scoreA = scores[a] as number; // ids come from the array
    const scoreB = scores[b] as number; // likewise
    return scoreA < scoreB || (scoreA === scoreB && isFirst(b, a));
  }

  function rise(id: number): void {
    let place = heap.length;
    heap.push(id);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] ?? 0;
      if (!isWorse(id, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = id;
  }

  /** Puts an id in the place of the worst. */
  function sink(id: number): void {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isWorse(heap[child + 1] ?? 0, heap[child] ?? 0)) child += 1;
      const below = heap[child] ?? 0;
      if (!isWorse(below, id)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = id;
  }
}
