import type { DenseHit } from '../../core/retriever.ts';

/** Keeps the best of many hits; of equal ones the smaller id, so that the order they come in does not matter. */
export interface Nearest {
  offer(id: number, similarity: number): void;
  /** Best first; nothing is kept of them. */
  hits(): readonly DenseHit[];
}

/** The best `limit` hits; each id must be offered once. */
export function createNearest(limit: number): Nearest {
  // A heap whose root is the worst of the best, which is the one to beat.
  const ids = new Int32Array(limit);
  const similarities = new Float64Array(limit);
  let count = 0;
  let bar = Number.NEGATIVE_INFINITY;

  function isWorse(a: number, b: number): boolean {
    const nearA = similarities[a] as number; // a place of the heap
    const nearB = similarities[b] as number; // likewise
    return nearA < nearB || (nearA === nearB && (ids[a] as number) > (ids[b] as number)); // likewise
  }

  function swap(a: number, b: number): void {
    const id = ids[a] as number; // likewise
    const similarity = similarities[a] as number; // likewise
    ids[a] = ids[b] as number; // likewise
    similarities[a] = similarities[b] as number; // likewise
    ids[b] = id;
    similarities[b] = similarity;
  }

  function rise(from: number): void {
    for (let place = from; place > 0 && isWorse(place, (place - 1) >> 1); place = (place - 1) >> 1)
      swap(place, (place - 1) >> 1);
  }

  function sink(): void {
    for (let place = 0; ; ) {
      let worst = place;
      for (let child = 2 * place + 1; child < Math.min(count, 2 * place + 3); child++)
        if (isWorse(child, worst)) worst = child;
      if (worst === place) return;
      swap(place, worst);
      place = worst;
    }
  }

  /** Takes the worst away. */
  function takeWorst(): DenseHit {
    const worst = { id: ids[0] as number, similarity: similarities[0] as number }; // the root
    count -= 1;
    put(0, ids[count] as number, similarities[count] as number); // the last one
    sink();
    return worst;
  }

  function put(place: number, id: number, similarity: number): void {
    ids[place] = id;
    similarities[place] = similarity;
  }

  return {
    offer(id, similarity) {
      // Most fail here.
      if (similarity < bar || limit === 0) return;
      if (count < limit) {
        put(count, id, similarity);
        rise(count++);
      } else if (similarity > bar || id < (ids[0] as number)) {
        put(0, id, similarity);
        sink();
      }
      if (count === limit) bar = similarities[0] as number; // the root
    },
    hits() {
      const found: DenseHit[] = [];
      while (count > 0) found.push(takeWorst());
      return found.reverse();
    },
  };
}
