import { createHash } from 'node:crypto';
import type { MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { Embedder } from '../../core/retriever.ts';
import { messageOf } from '../../core/tool-error.ts';

/** Sends a request within limits of time and size, whatever the answer; the runtime's guarded fetch is one. */
type BoundedFetch = (
  url: string,
  request: {
    readonly method: 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly maxBytes: number;
    readonly timeoutMs: number;
    readonly maxRedirects: 0;
  },
) => Promise<{ readonly status: number; readonly bytes: Uint8Array }>;

/** An endpoint that speaks like OpenAI's: POST {url}/embeddings. */
export interface EndpointOptions {
  readonly url: string;
  readonly model: string;
  /** The key, asked for each request, so that a new one counts at once; none where it is absent or returns undefined. */
  key?(): MaybePromise<string | undefined>;
  readonly fetch: BoundedFetch;
  readonly clock: Clock;
  /** Default: in memory. */
  readonly cache?: VectorCache;
}

const TEXTS_AT_ONCE = 64;
const MAX_CHARACTERS = 8192;
const LIMITS = { maxBytes: 10_000_000, timeoutMs: 10_000, maxRedirects: 0 } as const;
/** After a failure nobody waits for the endpoint for so long: searches must not each wait for a host that is down. */
const PAUSE_MS = 30_000;

/** Asks an endpoint for vectors, in batches, and never twice for the same text. */
export function endpointEmbedder(options: EndpointOptions): Embedder {
  const { clock, cache = memoryVectorCache() } = options;
  const model = `${options.model} at ${placeOf(options.url)}`;
  let failed: { readonly at: number; readonly why: string } | undefined;

  async function ask(texts: readonly string[]): Promise<readonly Float32Array[]> {
    if (failed !== undefined && clock.now() - failed.at < PAUSE_MS) throw new Error(failed.why);
    try {
      const vectors = await post(texts, options);
      failed = undefined;
      return vectors;
    } catch (cause) {
      failed = {
        at: clock.now(),
        why: `${hostOf(options.url)} cannot embed by "${options.model}": ${messageOf(cause).replace(/\.$/, '')}.`,
      };
      throw new Error(failed.why, { cause });
    }
  }

  return {
    model,
    async embed(given) {
      const texts = given.map((text) => text.slice(0, MAX_CHARACTERS));
      const keys = texts.map((text) => keyOf(model, text));
      const known = new Map(await Promise.all(keys.map(async (key) => [key, await readCache(cache, key)] as const)));
      const missing = new Map(texts.map((text, place) => [keys[place] ?? '', text] as const));
      for (const [key, vector] of known) if (vector !== undefined) missing.delete(key);
      const asked = [...missing];
      for (let start = 0; start < asked.length; start += TEXTS_AT_ONCE) {
        const batch = asked.slice(start, start + TEXTS_AT_ONCE);
        const vectors = await ask(batch.map(([, text]) => text));
        for (const [place, [key]] of batch.entries()) {
          known.set(key, vectors[place]);
          await writeCache(cache, key, vectors[place]);
        }
      }
      return keys.map((key) => known.get(key) ?? new Float32Array());
    },
  };
}

async function post(texts: readonly string[], options: EndpointOptions): Promise<readonly Float32Array[]> {
  const key = await options.key?.();
  const { status, bytes } = await options.fetch(embeddingsOf(options.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    // An empty text is refused by some, and a space means as little.
    body: JSON.stringify({ model: options.model, input: texts.map((text) => (text.trim() === '' ? ' ' : text)) }),
    ...LIMITS,
  });
  // The answer to a failure may quote what was sent, the key among it: it is not repeated.
  if (status !== 200) throw new Error(`it answered with status ${status}; look at retrieval.embeddings`);
  return readEmbeddings(bytes, texts.length);
}

async function readCache(cache: VectorCache, key: string): Promise<Float32Array | undefined> {
  try {
    const bytes = await cache.get(key);
    if (bytes === undefined || bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
    return new Float32Array(new Uint8Array(bytes).buffer);
  } catch {
    // A cache that fails is a slow one.
    return undefined;
  }
}

async function writeCache(cache: VectorCache, key: string, vector: Float32Array | undefined): Promise<void> {
  if (vector === undefined) return;
  try {
    await cache.set(key, new Uint8Array(vector.slice().buffer));
  } catch {
    // What is not kept is asked for again.
  }
}

function keyOf(model: string, text: string): string {
  return createHash('sha256').update(`${model}\n${text}`).digest('hex');
}

/** What follows a question mark stays there: some endpoints want a version, or a key. */
function embeddingsOf(url: string): string {
  const [path = '', ...query] = url.split('?');
  return [`${path.replace(/\/+$/, '')}/embeddings`, ...query].join('?');
}

/** Where an endpoint is, told apart from others and fit to be shown: an address may hold a key. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'the endpoint';
  const { origin, pathname, search, username, password } = new URL(url);
  const hidden = `${username}${password}${search}`;
  const mark = hidden === '' ? '' : ` (${createHash('sha256').update(hidden).digest('hex').slice(0, 8)})`;
  return `${origin}${pathname}${mark}`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The endpoint';
}

/** Keeps vectors under the hash of their text, as bytes. */
interface VectorCache {
  get(key: string): MaybePromise<Uint8Array | undefined>;
  set(key: string, vector: Uint8Array): MaybePromise<void>;
}

/** In memory; the vector that was used longest ago goes first. */
export function memoryVectorCache(maxVectors = 2000): VectorCache {
  const kept = new Map<string, Uint8Array>();
  return {
    get(key) {
      const vector = kept.get(key);
      if (vector === undefined) return undefined;
      kept.delete(key);
      kept.set(key, vector);
      return vector;
    },
    set(key, vector) {
      kept.delete(key);
      kept.set(key, vector);
      const [oldest] = kept.keys();
      if (kept.size > maxVectors && oldest !== undefined) kept.delete(oldest);
    },
  };
}

const MAX_DIMENSIONS = 4096;

/** The vectors of an OpenAI-compatible answer, in the order of the texts that were sent; throws where it is none. */
function readEmbeddings(bytes: Uint8Array, count: number): readonly Float32Array[] {
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
