/** Which ids may be returned, and which of two with equal scores comes first. */
export interface Choice {
  readonly isAllowed: (id: number) => boolean;
  readonly isFirst: (a: number, b: number) => boolean;
}

/** The ids of the best scores above 0, in no order: they are compared again by more than this score. */
export function topIds(scores: Float32Array, limit: number, { isAllowed, isFirst }: Choice): readonly number[] {
  // A heap whose root is the worst of the best: most scores fail at it and cost one comparison.
  const heap: number[] = [];
  // Whoever wants more than there are gets all.
  const heapScores = new Float32Array(limit < scores.length ? Math.ceil(limit) : scores.length);
  let bar = 0;
  for (let id = 0; id < scores.length; id += 1) {
    const score = scores[id] as number; // within the array
    if (score < bar || score === 0) continue;
    const isFull = heap.length >= limit;
    if ((isFull && score === bar && !isFirst(id, heap[0] ?? 0)) || !isAllowed(id)) continue;
    if (isFull) sink(id, score);
    else rise(id, score);
    if (heap.length >= limit) bar = heapScores[0] ?? 0;
  }
  return heap;

  function isWorse(id: number, score: number, place: number): boolean {
    const other = heapScores[place] as number; // a place of the heap
    return score < other || (score === other && isFirst(heap[place] as number, id)); // likewise
  }

  function put(place: number, id: number, score: number): void {
    heap[place] = id;
    heapScores[place] = score;
  }

  function rise(id: number, score: number): void {
    let place = heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isWorse(id, score, parent)) break;
      put(place, heap[parent] as number, heapScores[parent] as number); // likewise
      place = parent;
    }
    put(place, id, score);
  }

  /** Puts an id in the place of the worst. */
  function sink(id: number, score: number): void {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && isWorse(heap[right] as number, heapScores[right] as number, child)) child = right; // likewise
      if (isWorse(id, score, child)) break;
      put(place, heap[child] as number, heapScores[child] as number); // likewise
      place = child;
    }
    put(place, id, score);
  }
}
