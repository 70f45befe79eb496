import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Embedder } from '../../core/embedder.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { createEmbedInto, type EmbedInto } from './embed-words.ts';
import { readModel, type WordVectors } from './model-file.ts';

const FILE = 'models/words.tcv';

/** Word vectors that come with the package: no network, no waiting. Reads them at the first text. */
export function builtinEmbedder(path: string = builtinModelPath()): Embedder {
  let loaded: Loaded | undefined;
  let failure: unknown;
  const load = (): Loaded => {
    // A file that is damaged stays so: it is not read again for every search.
    if (failure !== undefined) throw failure;
    try {
      loaded ??= open(path);
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
    embed(texts) {
      const { embed, dimensions } = load();
      // One block for all of them: a buffer for each would take longer than what is written into it.
      const block = new Float32Array(texts.length * dimensions);
      return texts.map((text, place) => embed(text, block.subarray(place * dimensions, (place + 1) * dimensions)));
    },
  };
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

/** Up from `src/retrieval/dense`, `dist/retrieval/dense` or `dist/cli`: the folder that holds `src` or `dist`. */
function packageFolder(folder: string): string {
  const parts = folder.split(/[\\/]/);
  const root = Math.max(parts.lastIndexOf('src'), parts.lastIndexOf('dist'));
  return parts.slice(0, root).join('/');
}

function open(path: string): Loaded {
  const model: WordVectors = readModel(readBytes(path), path);
  const { dimensions, checksum } = model;
  return { model: `builtin-${checksum.toString(16)}`, dimensions, embed: createEmbedInto(model) };
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new ToolcribError(
      'bad_model',
      `The word vectors in "${path}" cannot be read: ${messageOf(cause)}. Install the package again, or set retrieval.embeddings to none.`,
      { cause },
    );
  }
}
