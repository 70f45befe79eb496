/** Whether one number comes before another; of two different ones always one does. */
export type IsBefore = (a: number, b: number) => boolean;

/** Far more than a list takes whose order was not made to be slow. */
const MOST_ROUNDS = 64;
const SHORT = 64;

/** Brings the first `wanted` numbers of a list to its front, in no order. */
export function selectFirst(list: Uint32Array, wanted: number, isBefore: IsBefore): void {
  let span = { from: 0, to: list.length - 1 };
  for (let round = 0; span.from < span.to && round < MOST_ROUNDS; round += 1) {
    const start = part(list, span, isBefore);
    if (wanted === start) return;
    span = wanted < start ? { from: span.from, to: start - 1 } : { from: start, to: span.to };
  }
  if (span.from < span.to) sortNumbers(list.subarray(span.from, span.to + 1), isBefore);
}

/** Sorts numbers. Short lists by insertion: in the engine's own sort every comparison is a call. */
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

/** Parts a span so that nothing before the place it returns comes behind anything from there on; neither side is empty. */
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
