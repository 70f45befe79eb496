import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../src/core/ports/store.ts';
import type { ToolSpec } from '../src/core/tool-spec.ts';
import { builtinRetriever } from '../src/search/builtin-retriever.ts';
import { createSearchIndex } from '../src/search/search-index.ts';
import { files } from '../src/sources/files.ts';
import { openStore } from '../src/store/open-store.ts';
import { systemClock } from '../src/system/clock.ts';
import { generationOf } from './retrieval-contenders.ts';
import type { ToolRow } from './retrieval-data.ts';

const LIMIT = 10;

/** Writes tools into an NDJSON file, and its index and that of search into a store, as processes before did. */
export async function putDownFile(folder: string, rows: readonly ToolRow[]): Promise<void> {
  writeFileSync(join(folder, 'tools.ndjson'), `${rows.map(lineOf).join('\n')}\n`);
  await listed(folder, async () => {}); // has the index made
  await listed(folder, async (specs, store) => {
    const retriever = builtinRetriever(PORTS);
    retriever.add(specs);
    await retriever.rank('send a message', { limit: LIMIT, minScore: 0 });
    await store.snapshots.put('search', retriever.snapshot());
  });
}

/** A new process that has listed the file by its index: from the store, which is open, to the first answer. */
export async function startOverFile(folder: string, query: string): Promise<number> {
  let ms = 0;
  await listed(folder, async (specs, { snapshots }) => {
    const generation = generationOf(specs);
    globalThis.gc?.();
    const from = performance.now();
    await createSearchIndex({
      generation,
      opener: () => async (given) => builtinRetriever(given),
      kept: () => snapshots,
      ...PORTS,
    })(query, { limit: LIMIT });
    ms = performance.now() - from;
  });
  return ms;
}

const PORTS = { bundlesOf: () => [], clock: systemClock, warn: console.error };

async function listed(folder: string, work: (specs: readonly ToolSpec[], store: Store) => Promise<void>) {
  const store = await openStore({ url: `sqlite:${join(folder, 'store.db')}`, env: {} });
  const live = await files({
    name: 'large',
    path: join(folder, 'tools.ndjson'),
    watch: false,
    maxBytes: 200_000_000,
    indexes: store.indexes,
  }).start({
    clock: systemClock,
    services: {},
    signal: new AbortController().signal,
    warn(message) {
      throw new Error(message);
    },
  });
  await work(live.specs(), store);
  await live.close();
  await store.close();
}

/** A row as it could stand in a file; names and schemas of the sets are not all such as a file may have. */
function lineOf({ name, description, schema }: ToolRow, index: number): string {
  const { properties } = (schema ?? {}) as { readonly properties?: unknown }; // whatever it is
  const fields = typeof properties === 'object' && properties !== null ? properties : {};
  return JSON.stringify({
    name: `t${index}_${name.replaceAll(/\W/g, '_')}`.slice(0, 48),
    description,
    input: { type: 'object', properties: fields },
    run: { kind: 'http', url: 'https://api.example.com/things' },
  });
}
