/** Numbers that look random and are the same for the same seed, on every machine. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  /** Mean 0, deviation 1. */
  normal(): number;
}

/** The generator of one seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

/** The same items in another order. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    const kept = copy[last] as T; // inside the array by the loop
    copy[last] = copy[other] as T; // below `last`
    copy[other] = kept;
  }
  return copy;
}
