import type { Clock } from '../core/ports/crib-context.ts';
import { createRetriever, type KeptRetriever, type RetrieverSettings } from './create-retriever.ts';
import { preloadedEmbedder } from './dense/builtin-embedder.ts';
import { createDenseIndex } from './dense/dense-index.ts';

/** Options for the retriever with the built-in vectors. */
export interface BuiltinSettings extends Omit<RetrieverSettings, 'dense' | 'vectors'> {
  readonly clock: Clock;
  /** Called when search falls back to words only. */
  warn(message: string): void;
}

/** Creates a retriever that uses words and the vectors in the package. */
export function builtinRetriever({ clock, warn, ...settings }: BuiltinSettings): KeptRetriever {
  const embedder = preloadedEmbedder();
  return createRetriever({
    ...settings,
    vectors: 'builtin',
    dense: (snapshot) => createDenseIndex({ embedder, snapshot, clock, warn }),
  });
}
