import { readSections, wordsIn, writeSections } from '../byte-sections.ts';
import { createDenseTools, type DenseTools } from './dense-tools.ts';

const VERSION = 1;

/** Everything `tools` hold, with the model that made their vectors. */
export function writeDenseTools(model: string, tools: DenseTools | undefined): Uint8Array {
  const dimensions = tools?.rows.scan.layout.dimensions ?? 0;
  const head = new TextEncoder().encode(JSON.stringify({ model, dimensions }));
  if (tools === undefined) return writeSections(VERSION, [head]);
  const { owners, inverseNorms, vectors, signs } = tools.rows.dump();
  const parts = [Uint32Array.from(tools.ids()), owners, inverseNorms, vectors, signs];
  return writeSections(VERSION, [head, ...parts.map(({ buffer }) => new Uint8Array(buffer))]);
}

/** What was written, if the bytes are sound and of this model; undefined otherwise: then the tools are embedded anew. */
export function readDenseTools(model: string, bytes: Uint8Array): DenseTools | undefined {
  const [head, ids, owners, norms, vectors, signs] = readSections(VERSION, bytes) ?? [];
  if (!head || !ids || !owners || !norms || !vectors || !signs) return undefined;
  // The checksum holds, so the head is what `writeDenseTools` wrote.
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
