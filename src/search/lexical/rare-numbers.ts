/** What belongs to each of a few numbers. Most numbers it is asked for are none of them, and 256 bits tell. */
export interface RareNumbers<T> {
  get(number: number): T | undefined;
  set(number: number, value: T): void;
}

export function createRareNumbers<T>(): RareNumbers<T> {
  // Signed: the engine keeps those without an object each.
  const values = new Map<number, T>();
  const bits = new Int32Array(8);
  return {
    get(number) {
      const word = bits[(number >>> 5) & 7] as number; // one of eight
      return (word >>> (number & 31)) & 1 ? values.get(number | 0) : undefined;
    },
    set(number, value) {
      const place = (number >>> 5) & 7;
      bits[place] = (bits[place] as number) | (1 << (number & 31)); // likewise
      values.set(number | 0, value);
    },
  };
}
