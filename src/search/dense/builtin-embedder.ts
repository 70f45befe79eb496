import { closeSync, fstatSync, openSync, read, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Embedder } from '../../core/ports/embedder.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { createEmbedInto, type EmbedInto } from './embed-words.ts';
import { checksumIn, HEADER_BYTES, readModel } from './model-file.ts';

const FILE = 'models/words.tcv';

/** Word vectors that come with the package: no network, no waiting. Reads them at the first text. */
export function builtinEmbedder(path: string = builtinModelPath()): Embedder {
  let loaded: Loaded | undefined;
  let failure: unknown;
  const load = (): Loaded => {
    // A file that is damaged stays so: it is not read again for every search.
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

/** The same, but its file is read beside whatever else is to be done: what is embedded before that is done is a promise. */
export function preloadedEmbedder(path: string = builtinModelPath()): Embedder {
  let file: BegunFile;
  try {
    file = beginFile(path, HEADER_BYTES);
  } catch {
    return builtinEmbedder(path); // which says why
  }
  let loaded: Loaded | undefined;
  const loading = file.whole.then((bytes) => {
    loaded = open(bytes, path);
    return loaded;
  }, cannotRead(path));
  loading.catch(() => {}); // whoever embeds is told
  return {
    get model() {
      return nameOf(checksumIn(file.head, path));
    },
    embed: (texts) => (loaded === undefined ? loading.then((late) => embedAll(late, texts)) : embedAll(loaded, texts)),
  };
}

function embedAll({ embed, dimensions }: Loaded, texts: readonly string[]): readonly Float32Array[] {
  // One block for all of them: a buffer for each would take longer than what is written into it.
  const block = new Float32Array(texts.length * dimensions);
  return texts.map((text, place) => embed(text, block.subarray(place * dimensions, (place + 1) * dimensions)));
}

interface Loaded {
  readonly model: string;
  readonly dimensions: number;
  readonly embed: EmbedInto;
}

/** Where the package keeps its model: beside `src` in the sources, beside `dist` when it is installed. */
export function builtinModelPath(): string {
  return join(packageFolder(import.meta.dirname), FILE);
}

/** Up from `src/search/dense`, `dist/search/dense` or `dist/cli`: the folder that holds `src` or `dist`. */
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
      `The word vectors in "${path}" cannot be read: ${messageOf(cause)}. Install the package again, or set retrieval.embeddings to none.`,
      { cause },
    );
  };
}

/** A file of which the head is there, while the whole is being read by another thread. */
interface BegunFile {
  readonly head: Uint8Array;
  /** Rejects where the file cannot be read to its end. */
  readonly whole: Promise<Uint8Array>;
}

/** Begins to read a file; throws where it cannot be opened. */
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

// In one go: `readFile` comes back for every piece, and this thread is busy.
function readWhole(file: number, bytes: Buffer): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    read(file, bytes, 0, bytes.length, 0, (cause, count) => {
      closeSync(file);
      if (cause) reject(cause);
      else resolve(bytes.subarray(0, count));
    });
  });
}
