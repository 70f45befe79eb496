/** Rows live in chunks, so that growing never moves one. */
export const CHUNK_SHIFT = 12;
export const ROWS_PER_CHUNK = 1 << CHUNK_SHIFT;
/** As many rows as one call of `dots` takes. */
export const LIST_LENGTH = 4096;

/** Where things lie in the memory that a scan works on; all in bytes. */
export interface RowLayout {
  readonly dimensions: number;
  /** The signs of the request's vector, a bit each. */
  readonly querySigns: number;
  /** The request's vector as 16-bit numbers. */
  readonly queryVector: number;
  /** How many rows lie at each distance. */
  readonly histogram: number;
  /** Addresses of rows on the way in, row numbers on the way out. */
  readonly list: number;
  readonly products: number;
  readonly chunks: number;
  readonly vectorBytes: number;
  readonly signBytes: number;
  /** From the start of a chunk. */
  readonly signsInChunk: number;
  readonly distancesInChunk: number;
  readonly chunkBytes: number;
}

/** The layout for vectors of so many dimensions. Rows are padded with noughts, which change neither product nor distance. */
export function layoutRows(dimensions: number): RowLayout {
  const vectorBytes = Math.ceil(dimensions / 16) * 16;
  const signBytes = Math.ceil(dimensions / 64) * 8;
  const queryVector = Math.ceil(signBytes / 16) * 16;
  const histogram = queryVector + vectorBytes * 2;
  const list = Math.ceil((histogram + (dimensions + 1) * 4) / 16) * 16;
  const products = list + LIST_LENGTH * 4;
  const signsInChunk = ROWS_PER_CHUNK * vectorBytes;
  const distancesInChunk = signsInChunk + ROWS_PER_CHUNK * signBytes;
  return {
    ...{ dimensions, querySigns: 0, queryVector, histogram, list, products, chunks: products + LIST_LENGTH * 4 },
    ...{ vectorBytes, signBytes, signsInChunk, distancesInChunk, chunkBytes: distancesInChunk + ROWS_PER_CHUNK * 2 },
  };
}
