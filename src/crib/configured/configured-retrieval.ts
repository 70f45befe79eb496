import type { EmbeddingsConfig, RetrievalConfig } from '../../config/types/retrieval.ts';
import type { Retriever } from '../../core/retriever.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { OpenRetriever, RetrieverPorts } from '../../search/search-index.ts';
import { importExport } from '../../system/modules/import-module.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';

/** Opens the default retriever: keywords, and the word vectors of the package. */
export const openBuiltin: OpenRetriever = async (ports) => {
  const { builtinRetriever } = await import('../../search/builtin-retriever.ts');
  return builtinRetriever(ports);
};

/** Selects the retriever of a configuration. A custom retriever is loaded at once, so that a mistake in it is found at the start. */
export async function configuredRetrieval(
  config: RetrievalConfig,
  folder: string,
  secrets: Secrets,
): Promise<OpenRetriever> {
  const { module, options = {}, embeddings = 'builtin', synonyms = [] } = config;
  if (module !== undefined) {
    const made = await importRetriever(module, options, folder);
    return async () => made;
  }
  if (embeddings === 'builtin')
    return async (ports) => {
      const { builtinRetriever } = await import('../../search/builtin-retriever.ts');
      return builtinRetriever({ ...ports, synonyms });
    };
  if (embeddings === 'none')
    return async ({ clock: _clock, warn: _warn, ...settings }) => {
      const { createRetriever } = await import('../../search/create-retriever.ts');
      return createRetriever({ ...settings, synonyms });
    };
  return async (ports) => openWithEndpoint(embeddings, { ...ports, synonyms }, secrets);
}

async function openWithEndpoint(
  { url, model, key }: EmbeddingsConfig,
  { clock, warn, ...settings }: RetrieverPorts & { readonly synonyms: readonly (readonly string[])[] },
  secrets: Secrets,
): Promise<Retriever> {
  const { createRetriever } = await import('../../search/create-retriever.ts');
  const { createDenseIndex } = await import('../../search/dense/dense-index.ts');
  const { endpointEmbedder } = await import('../../search/dense/endpoint-embedder.ts');
  const { guardedFetch } = await import('../../system/fetch/guarded-fetch.ts');
  const { host } = new URL(url);
  const embedder = endpointEmbedder({
    url,
    model,
    ...(key !== undefined && { key: () => secrets.fill(key, { host }) }),
    clock,
    // The operator has named the host, so it may be private.
    fetch: (address, request) => guardedFetch(address, { ...request, allowPrivate: 'first' }),
  });
  return createRetriever({
    ...settings,
    dense: (snapshot) => createDenseIndex({ embedder, snapshot, clock, warn }),
  });
}

async function importRetriever(module: string, options: object, folder: string): Promise<Retriever> {
  try {
    const exported = await importExport(module, folder);
    const made: unknown = typeof exported === 'function' ? await exported(options) : exported;
    if (isRetriever(made)) return made;
  } catch (cause) {
    throw new ToolcribError('invalid_config', `The retriever: ${messageOf(cause)}`, { cause });
  }
  throw new ToolcribError(
    'invalid_config',
    `The retriever: ${module} exports neither a retriever nor a function that creates one; a retriever must have add, remove and rank.`,
  );
}

function isRetriever(made: unknown): made is Retriever {
  if (typeof made !== 'object' || made === null) return false;
  const members = made as Readonly<Record<string, unknown>>; // each member is checked below
  return ['add', 'remove', 'rank'].every((name) => typeof members[name] === 'function');
}
