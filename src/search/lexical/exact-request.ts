import type { Vocabulary } from './vocabulary.ts';

/** A request that may match a tool's name or title exactly. */
export interface ExactRequest {
  /** The terms that the name or title must contain, deduplicated. */
  readonly needed: readonly number[];
  /** Terms that it may contain in addition, each with the other half: `git` and `hub` if the request says `github`. */
  readonly halves: ReadonlyMap<number, number>;
  /** Pairs of consecutive terms, encoded by `pairOf`. */
  readonly pairs: readonly number[];
}

/** Names and titles are shorter than this. */
const MOST_TERMS = 16;

/** Creates an exact request; undefined if no tool can match it. */
export function toExactRequest(
  numbers: readonly number[],
  pairs: readonly number[],
  vocabulary: Vocabulary,
): ExactRequest | undefined {
  if (numbers.length === 0 || numbers.length > MOST_TERMS) return undefined;
  const halves = new Map<number, number>();
  for (const number of numbers) {
    const text = vocabulary.text(number);
    for (let cut = 1; cut < text.length; cut += 1) {
      const before = vocabulary.find(text.slice(0, cut));
      const after = before === undefined ? undefined : vocabulary.find(text.slice(cut));
      if (before !== undefined && after !== undefined) halves.set(before, after).set(after, before);
    }
  }
  // A request for `GitHub` also matches `github`.
  const isHalf = (number: number) => numbers.includes(halves.get(number) ?? -1);
  const needed = numbers.filter((number) => !isHalf(number));
  return { needed, halves, pairs: needed.length === numbers.length ? pairs : [] };
}
