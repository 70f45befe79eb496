import { createHash } from 'node:crypto';
import type { MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { Embedder } from '../../core/retriever.ts';
import { messageOf } from '../../core/tool-error.ts';
import { withoutEnd } from '../../core/visible-text.ts';

/** Sends a request with limits for time and size, for example `guardedFetch`. */
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

/** An OpenAI-compatible endpoint: POST {url}/embeddings. */
export interface EndpointOptions {
  readonly url: string;
  readonly model: string;
  /** Returns the key. Called for each request, so that a new key is used at once; no key if absent or undefined. */
  key?(): MaybePromise<string | undefined>;
  readonly fetch: BoundedFetch;
  readonly clock: Clock;
  /** Default: in memory. */
  readonly cache?: VectorCache;
}

const TEXTS_AT_ONCE = 64;
const MAX_CHARACTERS = 8192;
const LIMITS = { maxBytes: 10_000_000, timeoutMs: 10_000, maxRedirects: 0 } as const;
/** Pause after a failure, so that not every search waits for a host that is down. */
const PAUSE_MS = 30_000;

/** Creates an embedder that requests vectors in batches, and caches them by text. */
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
        why: `${hostOf(options.url)} cannot embed with "${options.model}": ${messageOf(cause).replace(/\.$/, '')}.`,
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
    // Some endpoints refuse an empty text; a space means as little.
    body: JSON.stringify({ model: options.model, input: texts.map((text) => (text.trim() === '' ? ' ' : text)) }),
    ...LIMITS,
  });
  // An error response may quote the request with the key, so it is not repeated.
  if (status !== 200) throw new Error(`it answered with status ${status}; check retrieval.embeddings`);
  return readEmbeddings(bytes, texts.length);
}

async function readCache(cache: VectorCache, key: string): Promise<Float32Array | undefined> {
  try {
    const bytes = await cache.get(key);
    if (bytes === undefined || bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
    return new Float32Array(new Uint8Array(bytes).buffer);
  } catch {
    // A failing cache only costs time.
    return undefined;
  }
}

async function writeCache(cache: VectorCache, key: string, vector: Float32Array | undefined): Promise<void> {
  if (vector === undefined) return;
  try {
    await cache.set(key, new Uint8Array(vector.slice().buffer));
  } catch {
    // A vector that is not cached is requested again.
  }
}

function keyOf(model: string, text: string): string {
  return createHash('sha256').update(`${model}\n${text}`).digest('hex');
}

/** Keeps the query string, because some endpoints need a version or a key in it. */
function embeddingsOf(url: string): string {
  const [path = '', ...query] = url.split('?');
  return [`${withoutEnd(path, /\//)}/embeddings`, ...query].join('?');
}

/** The identity of an endpoint without secrets, for display: an address may contain a key. */
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

/** Caches vectors as bytes, by the hash of their text. */
interface VectorCache {
  get(key: string): MaybePromise<Uint8Array | undefined>;
  set(key: string, vector: Uint8Array): MaybePromise<void>;
}

/** Creates an in-memory LRU cache. */
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

/** Reads the vectors of an OpenAI-compatible response, in the order of the texts; throws if it is invalid. */
function readEmbeddings(bytes: Uint8Array, count: number): readonly Float32Array[] {
  const data = entriesOf(bytes);
  if (data.length !== count) throw new Error(`it answered with ${data.length} vectors for ${count} texts`);
  const vectors: Float32Array[] = [];
  for (const [place, entry] of data.entries()) {
    const { index = place, embedding } = entry;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || vectors[index]) {
      throw new Error('its vectors do not have the indexes of the texts');
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
  const { data } = (answer ?? {}) as { readonly data?: unknown }; // the value may be anything, so `data` is unknown
  if (!Array.isArray(data)) throw new Error('its answer has no list "data"');
  return data.map((entry: unknown) => (entry ?? {}) as Entry); // its members are unknown
}

function toVector(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > MAX_DIMENSIONS) {
    throw new Error(`one of its vectors is not a list of 1 to ${MAX_DIMENSIONS} numbers`);
  }
  if (!embedding.every((value) => typeof value === 'number' && Number.isFinite(value))) {
    throw new Error('one of its vectors contains a value that is not a number');
  }
  return Float32Array.from(embedding as readonly number[]); // checked above
}
