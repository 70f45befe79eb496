import { existsSync } from 'node:fs';
import type { DenseIndex } from '../src/core/retriever.ts';
import { builtinEmbedder, builtinModelPath } from '../src/search/dense/builtin-embedder.ts';
import { createDenseIndex } from '../src/search/dense/dense-index.ts';
import { systemClock } from '../src/system/clock.ts';

/** Makes dense indexes over the builtin vectors; undefined where they are not here. */
export function loadDense(): ((snapshot: Uint8Array | undefined) => DenseIndex) | undefined {
  const path = builtinModelPath();
  if (!existsSync(path)) return undefined;
  const embedder = builtinEmbedder(path);
  return (snapshot) => createDenseIndex({ embedder, snapshot, clock: systemClock, warn: console.error });
}
