import type { Vocabulary } from './vocabulary.ts';

/** A request that may be what a tool is called. */
export interface ExactRequest {
  /** The terms that its name or title must have, each once. */
  readonly needed: readonly number[];
  /** Terms that it may have besides, each with the other half: `git` and `hub` where the request says `github`. */
  readonly halves: ReadonlyMap<number, number>;
  /** Terms that follow each other, as `pairOf` has them. */
  readonly pairs: readonly number[];
}

/** Names and titles are shorter. */
const MOST_TERMS = 16;

/** Terms of a request with those that follow each other; undefined where no tool can be called so. */
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
  // `GitHub` of a request is said by `github` as well.
  const isHalf = (number: number) => numbers.includes(halves.get(number) ?? -1);
  const needed = numbers.filter((number) => !isHalf(number));
  return { needed, halves, pairs: needed.length === numbers.length ? pairs : [] };
}
