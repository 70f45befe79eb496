import type { Clock } from '../core/ports/crib-context.ts';
import { createRetriever, type KeptRetriever, type RetrieverSettings } from './create-retriever.ts';
import { preloadedEmbedder } from './dense/builtin-embedder.ts';
import { createDenseIndex } from './dense/dense-index.ts';

/** What the vectors that come with the package need. */
export interface BuiltinSettings extends Omit<RetrieverSettings, 'dense' | 'vectors'> {
  readonly clock: Clock;
  /** Told when search has to go by words alone. */
  warn(message: string): void;
}

/** A retriever by words and by the vectors that come with the package. */
export function builtinRetriever({ clock, warn, ...settings }: BuiltinSettings): KeptRetriever {
  const embedder = preloadedEmbedder();
  return createRetriever({
    ...settings,
    vectors: 'builtin',
    dense: (snapshot) => createDenseIndex({ embedder, snapshot, clock, warn }),
  });
}
