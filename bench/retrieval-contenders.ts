import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyOrama, create, insert, insertMultiple, load, type RawData, save, search } from '@orama/orama';
import MiniSearch from 'minisearch';
import type { Generation } from '../src/core/catalog.ts';
import type { ToolSpec } from '../src/core/tool-spec.ts';
import { builtinRetriever } from '../src/search/builtin-retriever.ts';
import { createRetriever, type KeptRetriever } from '../src/search/create-retriever.ts';
import { createSearchIndex, type OpenRetriever } from '../src/search/search-index.ts';
import { openStore } from '../src/store/open-store.ts';
import { systemClock } from '../src/system/clock.ts';
import { type ToolRow, toSpecs } from './retrieval-data.ts';
import { documentOf, TEXT_FIELDS } from './retrieval-methods.ts';

const LIMIT = 10;

/** Asks for the best tools; what comes back is not looked at. */
type Ask = (query: string) => unknown;

/** A search library under the clock. What it is given is prepared before: only its own work counts. */
export interface SpeedContender {
  readonly name: string;
  /** Reads tools in; the clock runs once `build` is called. */
  prepare(rows: readonly ToolRow[]): Prepared;
}

/** Tools as a library takes them. */
interface Prepared {
  /** Everything up to the first answer. */
  build(query: string): Promise<Built>;
  /** Puts down what `keep` returned where a new process finds it; the clock runs once `restart` is called, up to the first answer. */
  putDown(kept: Uint8Array): Promise<{ restart(query: string): Promise<unknown> }>;
}

/** An index that stands. */
interface Built {
  readonly ask: Ask;
  /** Adds one more tool; where it has a vector, the next search makes it. */
  add(row: ToolRow): unknown;
  keep(): string | Uint8Array;
}

/** Ours, and what it is compared with. */
export const SPEED_CONTENDERS: readonly SpeedContender[] = [
  ours('ours', (ports) => builtinRetriever(ports)),
  ours('ours (words alone)', ({ clock: _clock, warn: _warn, ...settings }) => createRetriever(settings)),
  { name: 'MiniSearch', prepare: miniSearch },
  { name: 'Orama', prepare: orama },
];

function ours(name: string, make: (ports: Parameters<OpenRetriever>[0]) => KeptRetriever): SpeedContender {
  const ports = { bundlesOf: () => [], clock: systemClock, warn: console.error };
  return {
    name,
    prepare(rows) {
      const specs = toSpecs(rows);
      const generation = generationOf(specs); // a crib has it before somebody searches
      return {
        async build(query) {
          const retriever = make(ports);
          retriever.add(specs);
          const ask = (request: string) => retriever.rank(request, { limit: LIMIT, minScore: 0 });
          await ask(query);
          return {
            ask,
            add: (row) => retriever.add(toSpecs([row])),
            keep: () => retriever.snapshot(),
          };
        },
        async putDown(kept) {
          const folder = mkdtempSync(join(tmpdir(), 'toolcrib-search-'));
          process.once('exit', () => rmSync(folder, { recursive: true }));
          const place = { url: `sqlite:${join(folder, 'store.db')}`, env: {} };
          const before = await openStore(place);
          await before.snapshots.put('search', kept);
          await before.close(); // as the process before did
          const { snapshots } = await openStore(place);
          return {
            restart: (query) =>
              createSearchIndex({
                generation,
                opener: () => async (given) => make(given),
                kept: () => snapshots,
                ...{ clock: systemClock, warn: console.error },
              })(query, { limit: LIMIT }),
          };
        },
      };
    },
  };
}

/** As much of a generation as a search looks at. */
export function generationOf(specs: readonly ToolSpec[]): () => Generation {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  const catalog = { specs, held: [], get: (name: string) => byName.get(name) };
  const generation = { catalog, bundles: { of: () => [] } } as unknown as Generation; // nothing else of it is asked for
  return () => generation;
}

function miniSearch(rows: readonly ToolRow[]): Prepared {
  const documents = rows.map(documentOf);
  const settings = { fields: [...TEXT_FIELDS] };
  const asker =
    (index: MiniSearch): Ask =>
    (query) =>
      index.search(query).slice(0, LIMIT);
  return {
    async build(query) {
      const index = new MiniSearch(settings);
      index.addAll(documents);
      const ask = asker(index);
      ask(query);
      return { ask, add: (row) => index.add(documentOf(row, index.documentCount)), keep: () => JSON.stringify(index) };
    },
    async putDown(kept) {
      const text = textOf(kept);
      return { restart: async (query) => asker(MiniSearch.loadJSON(text, settings))(query) };
    },
  };
}

function orama(rows: readonly ToolRow[]): Prepared {
  const documents = rows.map((row, id) => ({ ...documentOf(row, id), id: String(id) }));
  // Of no known keys: the types of the library follow every one of them without end.
  const schema: Record<string, 'string'> = Object.fromEntries(TEXT_FIELDS.map((field) => [field, 'string']));
  const asker =
    (index: AnyOrama): Ask =>
    (query) =>
      search(index, { term: query, limit: LIMIT });
  return {
    async build(query) {
      const index: AnyOrama = create({ schema });
      await insertMultiple(index, documents, 1000);
      const ask = asker(index);
      await ask(query);
      return {
        ask,
        add: (row) => insert(index, { ...documentOf(row, 0), id: row.id }),
        keep: () => JSON.stringify(save(index)),
      };
    },
    async putDown(kept) {
      const text = textOf(kept);
      return {
        async restart(query) {
          const index: AnyOrama = create({ schema });
          load(index, JSON.parse(text) as RawData); // what `save` returned
          return asker(index)(query);
        },
      };
    },
  };
}

function textOf(kept: Uint8Array): string {
  return Buffer.from(kept).toString('utf8');
}
