/** The ids that may be returned, and the order of two ids with equal scores. */
export interface Choice {
  readonly isAllowed: (id: number) => boolean;
  readonly isFirst: (a: number, b: number) => boolean;
}

/** The ids of the best scores above 0, unordered: a view that the next call overwrites. */
export type TopIds = (scores: Float32Array, limit: number, choice: Choice) => Uint32Array;

/** Scores that differ only in these bits share one step: there are 32 steps from a score to its double. */
const BITS_WITHIN_STEP = 18;
const STEPS = 1 << (31 - BITS_WITHIN_STEP);

/** Finds the best ids by counting the ids on each step, so that few have to be compared. */
export function createTopIds(): TopIds {
  // If `isAllowed` throws, stale counts remain; they can only cause more ids to be listed.
  const counts = new Uint32Array(STEPS);
  let listed = new Uint32Array(64);

  /** Lists ids above a bar that rises: a step is dropped once enough ids are above it. */
  function listBest(bits: Int32Array, wanted: number, isAllowed: Choice['isAllowed']): Uint32Array {
    let [count, lowest, fromLowest, bar] = [0, STEPS, 0, 1];
    for (let id = nextFrom(0, bits, bar); id < bits.length; id = nextFrom(id + 1, bits, bar)) {
      if (!isAllowed(id)) continue;
      const step = (bits[id] as number) >> BITS_WITHIN_STEP; // within the array
      listed[count++] = id;
      counts[step] = (counts[step] as number) + 1; // the array has an entry for every step
      fromLowest += 1;
      if (step < lowest) lowest = step;
      while (fromLowest - (counts[lowest] as number) >= wanted) {
        fromLowest -= counts[lowest++] as number; // as above
        bar = lowest << BITS_WITHIN_STEP;
      }
    }
    let kept = 0;
    for (let place = 0; place < count; place += 1) {
      const id = listed[place] as number; // within the list
      const own = bits[id] as number; // as above
      counts[own >> BITS_WITHIN_STEP] = 0;
      if (own >= bar) listed[kept++] = id;
    }
    return listed.subarray(0, kept);
  }

  return (scores, limit, { isAllowed, isFirst }) => {
    // A limit beyond the number of scores means all.
    const wanted = limit < scores.length ? Math.ceil(limit) : scores.length;
    if (wanted <= 0) return listed.subarray(0, 0);
    if (scores.length > listed.length) listed = new Uint32Array(scores.length * 2);
    // Positive floats have the order of their bits.
    const bits = new Int32Array(scores.buffer, scores.byteOffset, scores.length);
    const best = listBest(bits, wanted, isAllowed);
    if (best.length <= wanted) return best;
    selectFirst(best, wanted, (a, b) => {
      const ahead = (scores[a] as number) - (scores[b] as number); // both were listed
      return ahead > 0 || (ahead === 0 && isFirst(a, b));
    });
    return best.subarray(0, wanted);
  };
}

/** The first position, from `start` on, that reaches the bar. Most do not, and need no further work. */
function nextFrom(start: number, bits: Int32Array, bar: number): number {
  let place = start;
  while (place < bits.length && (bits[place] as number) < bar) place += 1; // within the array
  return place;
}

/** True if one number comes before another; of two different numbers, exactly one does. */
export type IsBefore = (a: number, b: number) => boolean;

/** Round limit, far beyond what any list needs that was not built to be slow. */
const MOST_ROUNDS = 64;
const SHORT = 64;

/** Moves the first `wanted` numbers of a list to its front, unordered. */
export function selectFirst(list: Uint32Array, wanted: number, isBefore: IsBefore): void {
  let span = { from: 0, to: list.length - 1 };
  for (let round = 0; span.from < span.to && round < MOST_ROUNDS; round += 1) {
    const start = part(list, span, isBefore);
    if (wanted === start) return;
    span = wanted < start ? { from: span.from, to: start - 1 } : { from: start, to: span.to };
  }
  if (span.from < span.to) sortNumbers(list.subarray(span.from, span.to + 1), isBefore);
}

/** Sorts numbers. Short lists use insertion sort, because the built-in sort makes a call per comparison. */
export function sortNumbers(list: Uint32Array, isBefore: IsBefore): void {
  if (list.length > SHORT) {
    list.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return;
  }
  for (let end = 1; end < list.length; end += 1) {
    const number = list[end] as number; // within the list, like all below
    let place = end;
    for (; place > 0 && isBefore(number, list[place - 1] as number); place -= 1)
      list[place] = list[place - 1] as number;
    list[place] = number;
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Partitions a span: everything before the returned position comes before everything after it; neither side is empty. */
function part(list: Uint32Array, { from, to }: Span, isBefore: IsBefore): number {
  const pivot = list[(from + to) >> 1] as number; // within the list, like all below
  let left = from;
  let right = to;
  while (left <= right) {
    while (isBefore(list[left] as number, pivot)) left += 1;
    while (isBefore(pivot, list[right] as number)) right -= 1;
    if (left > right) break;
    const moved = list[left] as number;
    list[left++] = list[right] as number;
    list[right--] = moved;
  }
  return left;
}
