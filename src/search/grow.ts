type Numbers = Uint8Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** A copy of so many numbers, at least as many as there are; those that are new are nought. */
export function grown<T extends Numbers>(numbers: T, length: number): T {
  const Kind = numbers.constructor as new (length: number) => T; // as the numbers were made
  const larger = new Kind(length);
  larger.set(numbers);
  return larger;
}
