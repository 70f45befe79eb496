import { closeSync, fstatSync, openSync, read, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Embedder } from '../../core/retriever.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { createEmbedInto, type EmbedInto } from './embed-words.ts';

const FILE = 'models/words.tcv';

/** Word vectors from the package, without network or waiting. They are read with the first text. */
export function builtinEmbedder(path: string = builtinModelPath()): Embedder {
  let loaded: Loaded | undefined;
  let failure: unknown;
  const load = (): Loaded => {
    // A damaged file stays damaged, so it is not read again for every search.
    if (failure !== undefined) throw failure;
    try {
      loaded ??= open(readBytes(path), path);
    } catch (cause) {
      failure = cause;
      throw cause;
    }
    return loaded;
  };
  return {
    get model() {
      return load().model;
    },
    embed: (texts) => embedAll(load(), texts),
  };
}

/** Like `builtinEmbedder`, but reads its file in the background: until then, `embed` returns a promise. */
export function preloadedEmbedder(path: string = builtinModelPath()): Embedder {
  let file: BegunFile;
  try {
    file = beginFile(path, HEADER_BYTES);
  } catch {
    return builtinEmbedder(path); // it reports the reason
  }
  let loaded: Loaded | undefined;
  const loading = file.whole.then((bytes) => {
    loaded = open(bytes, path);
    return loaded;
  }, cannotRead(path));
  loading.catch(() => {}); // the caller of `embed` gets the error
  return {
    get model() {
      return nameOf(checksumIn(file.head, path));
    },
    embed: (texts) => (loaded === undefined ? loading.then((late) => embedAll(late, texts)) : embedAll(loaded, texts)),
  };
}

function embedAll({ embed, dimensions }: Loaded, texts: readonly string[]): readonly Float32Array[] {
  // One block for all: separate buffers would take longer than filling them.
  const block = new Float32Array(texts.length * dimensions);
  return texts.map((text, place) => embed(text, block.subarray(place * dimensions, (place + 1) * dimensions)));
}

interface Loaded {
  readonly model: string;
  readonly dimensions: number;
  readonly embed: EmbedInto;
}

/** The path of the model in the package: beside `src` in the sources, beside `dist` when installed. */
export function builtinModelPath(): string {
  return join(packageFolder(import.meta.dirname), FILE);
}

/** The parent of `src` or `dist`, searched upward from `src/search/dense`, `dist/search/dense` or `dist/cli`. */
function packageFolder(folder: string): string {
  const parts = folder.split(/[\\/]/);
  const root = Math.max(parts.lastIndexOf('src'), parts.lastIndexOf('dist'));
  return parts.slice(0, root).join('/');
}

function open(bytes: Uint8Array, path: string): Loaded {
  const model = readModel(bytes, path);
  return { model: nameOf(model.checksum), dimensions: model.dimensions, embed: createEmbedInto(model) };
}

function nameOf(checksum: number): string {
  return `builtin-${checksum.toString(16)}`;
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    return cannotRead(path)(cause);
  }
}

function cannotRead(path: string): (cause: unknown) => never {
  return (cause) => {
    throw new ToolcribError(
      'bad_model',
      `The word vectors in "${path}" cannot be read: ${messageOf(cause)}. Reinstall the package, or set retrieval.embeddings to none.`,
      { cause },
    );
  };
}

/** A file whose head has been read, while another thread reads the rest. */
interface BegunFile {
  readonly head: Uint8Array;
  /** Rejects if the file cannot be read completely. */
  readonly whole: Promise<Uint8Array>;
}

/** Starts reading a file; throws if it cannot be opened. */
function beginFile(path: string, headBytes: number): BegunFile {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(fstatSync(file).size);
    const head = Buffer.alloc(Math.min(headBytes, bytes.length));
    readSync(file, head, 0, head.length, 0);
    return { head, whole: readWhole(file, bytes) };
  } catch (cause) {
    closeSync(file);
    throw cause;
  }
}

// In one call: `readFile` returns for every piece, and this thread is busy.
function readWhole(file: number, bytes: Buffer): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    read(file, bytes, 0, bytes.length, 0, (cause, count) => {
      closeSync(file);
      if (cause) reject(cause);
      else resolve(bytes.subarray(0, count));
    });
  });
}

/** A model as stored in its file: views of the bytes, without an object per word. */
export interface WordVectors {
  readonly dimensions: number;
  /** Identifies the model, so that vectors of different models are not compared. */
  readonly checksum: number;
  /** Ascending; the index of a word's fingerprint is also that of its scale and vector. */
  readonly fingerprints: Uint32Array;
  /** Factors of the vectors: step size and word weight combined. */
  readonly scales: Float32Array;
  /** One after another, `dimensions` steps each. */
  readonly vectors: Int8Array;
}

/** Size of the header of a model file; docs/vectors.md has the table. */
export const HEADER_BYTES = 32;
const MAGIC = 'TCRIBVEC';
const VERSION = 1;
const MAX_WORDS = 1 << 22;
const MAX_DIMENSIONS = 4096;

/** Reads a model; throws a `ToolcribError` if the file is damaged, truncated or of another version. */
export function readModel(file: Uint8Array, path: string): WordVectors {
  // Copied if views would not be aligned; `slice` of a Buffer does not copy.
  const bytes = file.byteOffset % 4 === 0 ? file : new Uint8Array(file);
  const header = readHeader(bytes, path);
  const { words, dimensions } = header;
  const scalesAt = HEADER_BYTES + words * 4;
  const vectorsAt = scalesAt + words * 4;
  if (bytes.length !== vectorsAt + words * dimensions) throw broken(path, 'its length does not match its header');
  if (crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, HEADER_BYTES - 4))) !== header.checksum) {
    throw broken(path, 'its checksum does not match its content');
  }
  return {
    dimensions,
    checksum: header.checksum,
    fingerprints: new Uint32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, words),
    scales: new Float32Array(bytes.buffer, bytes.byteOffset + scalesAt, words),
    vectors: new Int8Array(bytes.buffer, bytes.byteOffset + vectorsAt, words * dimensions),
  };
}

/** The checksum in the header of a model; throws if the header is invalid. */
function checksumIn(head: Uint8Array, path: string): number {
  return readHeader(head, path).checksum;
}

/** Writes a model file; `readModel` reads it back. */
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
  if (new TextDecoder().decode(bytes.subarray(0, 8)) !== MAGIC) throw broken(path, 'it is not a word vector file');
  const version = view.getUint32(8, true);
  if (version !== VERSION) throw broken(path, `it has version ${version}, but this release reads version ${VERSION}`);
  // The sections are read in place, so the machine must have the byte order of the file.
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) throw broken(path, 'it requires a little-endian machine');
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
    `The word vectors in "${path}" cannot be used: ${why}. Reinstall the package, or set retrieval.embeddings to none.`,
  );
}
