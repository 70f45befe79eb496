/** A map with few keys. Most lookups are for other numbers, which a filter of 256 bits detects. */
export interface RareNumbers<T> {
  get(number: number): T | undefined;
  set(number: number, value: T): void;
}

export function createRareNumbers<T>(): RareNumbers<T> {
  // Signed numbers, which the engine stores without an object each.
  const values = new Map<number, T>();
  const bits = new Int32Array(8);
  return {
    get(number) {
      const word = bits[(number >>> 5) & 7] as number; // one of eight
      return (word >>> (number & 31)) & 1 ? values.get(number | 0) : undefined;
    },
    set(number, value) {
      const place = (number >>> 5) & 7;
      bits[place] = (bits[place] as number) | (1 << (number & 31)); // as above
      values.set(number | 0, value);
    },
  };
}
