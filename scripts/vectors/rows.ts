/** A matrix as the list of its rows: views on one buffer. */
export type Rows = readonly Float32Array[];

/** A matrix of zeros. */
export function createRows(count: number, width: number): Rows {
  const all = new Float32Array(count * width);
  return Array.from({ length: count }, (_, row) => all.subarray(row * width, (row + 1) * width));
}

/** The row at `index`; one that is not there is a mistake of this program. */
export function rowAt(rows: Rows, index: number): Float32Array {
  const row = rows[index];
  if (row === undefined) throw new RangeError(`There is no row ${index}; there are ${rows.length}.`);
  return row;
}

/** The inner product of two rows. Four sums at once: one would wait for itself at every step. */
export function dot(a: Float32Array, b: Float32Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  const even = a.length & ~3;
  for (let index = 0; index < even; index += 4) {
    first += (a[index] ?? 0) * (b[index] ?? 0);
    second += (a[index + 1] ?? 0) * (b[index + 1] ?? 0);
    third += (a[index + 2] ?? 0) * (b[index + 2] ?? 0);
    fourth += (a[index + 3] ?? 0) * (b[index + 3] ?? 0);
  }
  for (let index = even; index < a.length; index++) first += (a[index] ?? 0) * (b[index] ?? 0);
  return first + second + third + fourth;
}

/** target += factor * row. */
export function addScaled(target: Float32Array, row: Float32Array, factor: number): void {
  for (let index = 0; index < target.length; index++) {
    target[index] = (target[index] ?? 0) + factor * (row[index] ?? 0);
  }
}

/** target *= factor. */
export function scale(target: Float32Array, factor: number): void {
  for (let index = 0; index < target.length; index++) target[index] = (target[index] ?? 0) * factor;
}

/** The length of a row as an arrow. */
export function normOf(row: Float32Array): number {
  return Math.sqrt(dot(row, row));
}
