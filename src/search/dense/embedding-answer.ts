const MAX_DIMENSIONS = 4096;

/** The vectors of an OpenAI-compatible answer, in the order of the texts that were sent; throws where it is none. */
export function readEmbeddings(bytes: Uint8Array, count: number): readonly Float32Array[] {
  const data = entriesOf(bytes);
  if (data.length !== count) throw new Error(`it answered with ${data.length} vectors for ${count} texts`);
  const vectors: Float32Array[] = [];
  for (const [place, entry] of data.entries()) {
    const { index = place, embedding } = entry;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || vectors[index]) {
      throw new Error('its vectors are not numbered like the texts');
    }
    vectors[index] = toVector(embedding);
  }
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) throw new Error('its vectors differ in length');
  return vectors;
}

interface Entry {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

function entriesOf(bytes: Uint8Array): readonly Entry[] {
  let answer: unknown;
  try {
    answer = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new Error('its answer is not JSON', { cause });
  }
  const { data } = (answer ?? {}) as { readonly data?: unknown }; // whatever it is, `data` of it is unknown
  if (!Array.isArray(data)) throw new Error('its answer has no list "data"');
  return data.map((entry: unknown) => (entry ?? {}) as Entry); // its members are unknown
}

function toVector(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > MAX_DIMENSIONS) {
    throw new Error(`a vector of it is no list of 1 to ${MAX_DIMENSIONS} numbers`);
  }
  if (!embedding.every((value) => typeof value === 'number' && Number.isFinite(value))) {
    throw new Error('a vector of it holds something else than numbers');
  }
  return Float32Array.from(embedding as readonly number[]); // checked above
}
