import { crc32 } from 'node:zlib';
import { ToolcribError } from '../../core/tool-error.ts';

/** A model as it lies in its file: views on the bytes, no object a word. */
export interface WordVectors {
  readonly dimensions: number;
  /** Tells models apart, so that vectors of one are not compared with those of another. */
  readonly checksum: number;
  /** Ascending; the place of a word's fingerprint is the place of its scale and vector. */
  readonly fingerprints: Uint32Array;
  /** What a vector is multiplied with: the size of a step and the weight of the word in one. */
  readonly scales: Float32Array;
  /** One after the other, `dimensions` steps each. */
  readonly vectors: Int8Array;
}

/** The bytes of a model file before its sections; docs/vectors.md has the table. */
export const HEADER_BYTES = 32;
const MAGIC = 'TCRIBVEC';
const VERSION = 1;
const MAX_WORDS = 1 << 22;
const MAX_DIMENSIONS = 4096;

/** Reads a model; a file that is damaged, cut or of another version throws a `ToolcribError` that says so. */
export function readModel(file: Uint8Array, path: string): WordVectors {
  // A copy where views would not fit; `slice` of a Buffer makes none.
  const bytes = file.byteOffset % 4 === 0 ? file : new Uint8Array(file);
  const header = readHeader(bytes, path);
  const { words, dimensions } = header;
  const scalesAt = HEADER_BYTES + words * 4;
  const vectorsAt = scalesAt + words * 4;
  if (bytes.length !== vectorsAt + words * dimensions) throw broken(path, 'its length does not fit its header');
  if (crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, HEADER_BYTES - 4))) !== header.checksum) {
    throw broken(path, 'its checksum does not fit its content');
  }
  return {
    dimensions,
    checksum: header.checksum,
    fingerprints: new Uint32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, words),
    scales: new Float32Array(bytes.buffer, bytes.byteOffset + scalesAt, words),
    vectors: new Int8Array(bytes.buffer, bytes.byteOffset + vectorsAt, words * dimensions),
  };
}

/** The checksum that the head of a model claims; throws where it is no such head. */
export function checksumIn(head: Uint8Array, path: string): number {
  return readHeader(head, path).checksum;
}

/** The file of a model; `readModel` reads it back. */
export function writeModel(model: Omit<WordVectors, 'checksum'>): Uint8Array {
  const words = model.fingerprints.length;
  const scalesAt = HEADER_BYTES + words * 4;
  const bytes = new Uint8Array(scalesAt + words * 4 + words * model.dimensions);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(MAGIC));
  view.setUint32(8, VERSION, true);
  view.setUint32(12, words, true);
  view.setUint32(16, model.dimensions, true);
  new Uint32Array(bytes.buffer, HEADER_BYTES, words).set(model.fingerprints);
  new Float32Array(bytes.buffer, scalesAt, words).set(model.scales);
  new Int8Array(bytes.buffer, scalesAt + words * 4).set(model.vectors);
  const sum = crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, HEADER_BYTES - 4)));
  view.setUint32(HEADER_BYTES - 4, sum, true);
  return bytes;
}

function readHeader(bytes: Uint8Array, path: string) {
  if (bytes.length < HEADER_BYTES) throw broken(path, 'it is shorter than its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (new TextDecoder().decode(bytes.subarray(0, 8)) !== MAGIC) throw broken(path, 'it does not begin like one');
  const version = view.getUint32(8, true);
  if (version !== VERSION) throw broken(path, `it is of version ${version}, and this release reads version ${VERSION}`);
  // The sections are read where they lie, so the machine must write numbers the way the file does.
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) throw broken(path, 'it is made for little-endian machines');
  const words = view.getUint32(12, true);
  const dimensions = view.getUint32(16, true);
  if (words > MAX_WORDS || dimensions === 0 || dimensions > MAX_DIMENSIONS) {
    throw broken(path, `it claims ${words} words of ${dimensions} dimensions`);
  }
  return { words, dimensions, checksum: view.getUint32(HEADER_BYTES - 4, true) };
}

function broken(path: string, why: string): ToolcribError {
  return new ToolcribError(
    'bad_model',
    `The word vectors in "${path}" cannot be used: ${why}. Install the package again, or set retrieval.embeddings to none.`,
  );
}
