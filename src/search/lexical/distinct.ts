import { grown } from '../grow.ts';

/** Numbers in the order they are met, each once; small numbers, since each has a place in a table. */
export interface Distinct {
  readonly count: number;
  /** The first `count` are met. */
  readonly numbers: Uint32Array;
  /** The place of a number, a new one if need be; negative where there is no room for more. */
  placeOf(number: number): number;
  clear(): void;
}

/** At most `limit` numbers between two `clear`s. */
export function createDistinct(limit: number): Distinct {
  const numbers = new Uint32Array(limit);
  // Where a number would stand; it does if it is found there, so nothing has to be wiped.
  let places = new Uint32Array(1024);
  let count = 0;
  return {
    numbers,
    get count() {
      return count;
    },
    placeOf(number) {
      if (number >= places.length) places = grown(places, (number + 1) * 2);
      const known = places[number] as number; // made room for above
      if (known < count && numbers[known] === number) return known;
      if (count === limit) return -1;
      places[number] = count;
      numbers[count] = number;
      count += 1;
      return count - 1;
    },
    clear() {
      count = 0;
    },
  };
}
