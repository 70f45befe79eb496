import { isPromise, type MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { DenseIndex, DenseTool, Embedder, QueryVectors } from '../../core/retriever.ts';
import { messageOf } from '../../core/tool-error.ts';
import { readSections, wordsIn, writeSections } from '../byte-sections.ts';
import { createCatchUp } from './catch-up.ts';
import { createDenseTools, type DenseTools } from './dense-tools.ts';
import { type QuantizedVector, quantize } from './quantize.ts';

/** Options for creating a dense index. */
export interface DenseIndexOptions {
  readonly embedder: Embedder;
  /** A result of `snapshot`. If it is damaged or of another model, it is ignored. */
  readonly snapshot?: Uint8Array | undefined;
  readonly clock: Clock;
  /** Called once when vectors cannot be used, and again after they have worked in between. */
  warn(message: string): void;
}

/** The vectors of a request, as made by this index. */
interface OwnVectors extends QueryVectors {
  readonly sentences: readonly QuantizedVector[];
}

/** Compares tools and requests by the vectors of an embedder. If anything fails, search continues with words. */
export function createDenseIndex({ embedder, snapshot, clock, warn }: DenseIndexOptions): DenseIndex {
  let tools: DenseTools | undefined;
  let hasWarned = false;
  const waiting = createCatchUp({ embedder, clock, put: putTool });
  if (snapshot !== undefined)
    attempt(() => {
      tools = readDenseTools(embedder.model, snapshot);
    });

  function putTool(id: number, vectors: readonly Float32Array[]): void {
    const dimensions = vectors[0]?.length ?? 0;
    if (dimensions === 0) throw new Error(`"${embedder.model}" returned no vector; use another model.`);
    tools ??= createDenseTools(dimensions);
    checkLength(vectors, tools);
    tools.put(id, vectors);
  }

  function checkLength(vectors: readonly Float32Array[], { rows }: DenseTools): void {
    const { dimensions } = rows.scan.layout;
    for (const { length } of vectors)
      if (length !== dimensions)
        throw new Error(`"${embedder.model}" returned vectors of another length than before; use another model.`);
  }

  function fail(cause: unknown): undefined {
    if (!hasWarned) warn(`Search uses words only, without vectors: ${messageOf(cause)}`);
    hasWarned = true;
    return undefined;
  }

  function attempt<T>(task: () => T): T | undefined {
    try {
      return task();
    } catch (cause) {
      return fail(cause);
    }
  }

  function toVectors(vectors: readonly Float32Array[]): OwnVectors | undefined {
    if (tools === undefined) return undefined;
    checkLength(vectors, tools);
    const sentences = vectors.map(quantize).filter(({ inverseNorm }) => inverseNorm > 0);
    hasWarned = false;
    return sentences.length === 0 ? undefined : { sentences };
  }

  function prepare(query: string): MaybePromise<OwnVectors | undefined> {
    const caughtUp = waiting.finish();
    const embedded = isPromise(caughtUp)
      ? caughtUp.then(() => embedder.embed(sentencesOf(query)))
      : embedder.embed(sentencesOf(query));
    return isPromise(embedded) ? embedded.then(toVectors).catch(fail) : toVectors(embedded);
  }

  return {
    add: (added: readonly DenseTool[]) => waiting.add(added),
    remove(ids) {
      waiting.remove(ids);
      for (const id of ids) tools?.remove(id);
    },
    has: (id) => waiting.has(id) || tools?.has(id) === true,
    prepare: (query) => attempt(() => prepare(query)),
    rank: (query, limit) => tools?.rank((query as OwnVectors).sentences, limit) ?? [], // made by `prepare`
    similarity: (query, ids) => tools?.similarity((query as OwnVectors).sentences, ids) ?? new Float32Array(ids.length), // as above
    snapshot() {
      // Tools that a remote embedder has not finished are left out; they are added again after loading the snapshot.
      const rest = attempt(() => waiting.finish());
      if (isPromise(rest)) rest.catch(fail);
      return writeDenseTools(attempt(() => embedder.model) ?? '', tools);
    },
  };
}

const VERSION = 1;

/** Writes all vectors, with the model that made them. */
function writeDenseTools(model: string, tools: DenseTools | undefined): Uint8Array {
  const dimensions = tools?.rows.scan.layout.dimensions ?? 0;
  const head = new TextEncoder().encode(JSON.stringify({ model, dimensions }));
  if (tools === undefined) return writeSections(VERSION, [head]);
  const { owners, inverseNorms, vectors, signs } = tools.rows.dump();
  const parts = [Uint32Array.from(tools.ids()), owners, inverseNorms, vectors, signs];
  return writeSections(VERSION, [head, ...parts.map(({ buffer }) => new Uint8Array(buffer))]);
}

/** Reads the vectors; undefined if the bytes are damaged or of another model: then the tools are embedded again. */
function readDenseTools(model: string, bytes: Uint8Array): DenseTools | undefined {
  const [head, ids, owners, norms, vectors, signs] = readSections(VERSION, bytes) ?? [];
  if (!head || !ids || !owners || !norms || !vectors || !signs) return undefined;
  // The checksum matches, so the head is as `writeDenseTools` wrote it.
  const kept = JSON.parse(new TextDecoder().decode(head)) as { readonly model: string; readonly dimensions: number };
  if (kept.model !== model) return undefined;
  const tools = createDenseTools(kept.dimensions);
  const isWhole = tools.restore(wordsIn(ids), {
    owners: new Int32Array(owners.buffer, owners.byteOffset, owners.byteLength / 4),
    inverseNorms: new Float32Array(norms.buffer, norms.byteOffset, norms.byteLength / 4),
    vectors: new Int8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength),
    signs: new Int8Array(signs.buffer, signs.byteOffset, signs.byteLength),
  });
  return isWhole ? tools : undefined;
}

/** Longer requests are cut; the tool is asked for near the beginning. */
const MAX_CHARACTERS = 8192;
const MAX_SENTENCES = 16;

/** Ends of sentences, also in scripts with their own punctuation, and ends of lines. */
const ENDS = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+/u;

/** Splits a request into sentences, since each may ask for another tool. A long request is cut. */
export function sentencesOf(request: string): readonly string[] {
  const parts = request
    .slice(0, MAX_CHARACTERS)
    .split(ENDS, MAX_SENTENCES * 4)
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  return parts.slice(0, MAX_SENTENCES);
}
