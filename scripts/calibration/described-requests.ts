import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCatalogue } from '../../bench/requests/catalogue-list.ts';
import { cataloguesOf, readRequests } from '../../bench/requests/read-requests.ts';
import type { Embedder } from '../../src/core/retriever.ts';
import type { SearchMode } from '../../src/search/tuning.ts';
import type { SetQuery, SetTool, TrainingSet } from '../vectors/training-sets.ts';
import { createCatalogue } from './catalogue.ts';
import type { Trial } from './held-out-requests.ts';

/** A request over one of the catalogues: as a person said it and, unless nobody would search for it, as a model asked `search_tools` for it. */
interface WrittenRequest {
  readonly catalogue: number;
  readonly id: string;
  readonly turn: string;
  readonly query?: string;
  readonly relevant: readonly string[];
}

/** A request of a training set as a model asked for it. */
interface Reworded {
  readonly set: string;
  readonly id: string;
  readonly query: string;
}

/** What trials are made with. */
export interface DescribedOptions {
  readonly sets: readonly TrainingSet[];
  readonly embedder: Embedder;
  readonly mode: SearchMode;
}

const FOLDER = join(import.meta.dirname, 'requests');
/** As many as a catalogue of a training set may have beside what its requests need. */
const MOST_OTHERS = 500;

/** Requests over catalogues of real servers' tools, written for this, some without an answer; `set` says in whose words. */
export function tryCatalogues({ sets, embedder, mode }: DescribedOptions): readonly Trial[] {
  const corpus = sets.find(({ name }) => name === 'toucan_corpus')?.tools ?? [];
  const servers = JSON.parse(readFileSync(join(FOLDER, 'servers.json'), 'utf8')) as readonly (readonly string[])[]; // as committed
  const requests = readLines('catalogues.jsonl') as readonly WrittenRequest[]; // as committed
  return servers.flatMap((names, index) => {
    const tools = corpus.filter(({ server = '' }) => names.includes(server));
    const { bestScore } = createCatalogue(tools, embedder, mode);
    return requests
      .filter(({ catalogue }) => catalogue === index + 1)
      .flatMap(({ turn, query, relevant }) => {
        const isAnswerable = relevant.length > 0;
        const asPeople = { set: 'as people ask', isAnswerable, score: bestScore(turn) };
        return query === undefined
          ? [asPeople]
          : [asPeople, { set: 'as agents ask', isAnswerable, score: bestScore(query) }];
      });
  });
}

/** Requests of training sets as models ask, each with its answer in the catalogue and without. */
export function tryReworded({ sets, embedder, mode }: DescribedOptions): readonly Trial[] {
  const reworded = readLines('train.jsonl') as readonly Reworded[]; // as committed
  return [...Map.groupBy(reworded, ({ set }) => set)].flatMap(([name, own]) => {
    const set = sets.find((one) => one.name === name);
    if (set === undefined) throw new Error(`There is no training set "${name}".`);
    const byId = new Map(set.queries.map((request) => [request.id, request]));
    const asked = own.map(({ id, query }): SetQuery => ({ id, query, relevant: byId.get(id)?.relevant ?? [] }));
    const catalogue = createCatalogue(toolsFor(set, asked), embedder, mode);
    return asked.flatMap(({ query, relevant }) => {
      const gone = relevant.flatMap((id) => catalogue.alike(id));
      return [
        { set: name, isAnswerable: true, score: catalogue.bestScore(query) },
        { set: name, isAnswerable: false, score: catalogue.without(gone, () => catalogue.bestScore(query)) },
      ];
    });
  });
}

/** Requests over catalogues of real products: of one domain, with up to 760 tools and many near-duplicates. */
export function tryProducts({ embedder, mode }: Omit<DescribedOptions, 'sets'>): readonly Trial[] {
  return cataloguesOf('dev').flatMap((name) => {
    const tools = readCatalogue(name);
    const requests = readRequests(name);
    if (tools === undefined || requests.length === 0) return [];
    const { bestScore } = createCatalogue(tools, embedder, mode);
    return requests.flatMap(({ query, relevant, voice }) => {
      const set = PRODUCT_SETS[voice];
      return set === undefined ? [] : [{ set, isAnswerable: relevant.length > 0, score: bestScore(query) }];
    });
  });
}

/** The same requests over all products of a domain at once: 1,500 to 2,700 tools. */
export function tryDomains({ embedder, mode }: Omit<DescribedOptions, 'sets'>): readonly Trial[] {
  return Object.values(DOMAINS).flatMap((names) => {
    const found = names.map(readCatalogue);
    if (!found.every((tools) => tools !== undefined)) return [];
    const byId = new Map(found.flat().map((tool) => [tool.id, tool]));
    const { bestScore } = createCatalogue([...byId.values()], embedder, mode);
    const requests = names.flatMap(readRequests).filter(({ id }) => !ANSWERED_IN_DOMAIN.has(id));
    return requests.flatMap(({ query, relevant, voice }) => {
      const set = PRODUCT_SETS[voice];
      return set === undefined
        ? []
        : [{ set: set.replace('products', 'domains'), isAnswerable: relevant.length > 0, score: bestScore(query) }];
    });
  });
}

/** Catalogues of the dev part whose products are of one domain. */
const DOMAINS: Readonly<Record<string, readonly string[]>> = {
  cloud: ['compute', 'containers', 'hosting', 'builds', 'code', 'oncall'],
  money: ['accounting', 'banking', 'payments', 'payroll'],
  trade: ['shop', 'marketplace', 'shipping', 'food'],
};

/** Requests without an answer in their own catalogue that a tool of another one answers, or may answer. Judged by reading. */
const ANSWERED_IN_DOMAIN: ReadonlySet<string> = new Set([
  ...['compute-079', 'compute-080', 'compute-082', 'compute-084', 'compute-085', 'compute-089', 'compute-090'],
  ...['containers-083', 'containers-088', 'hosting-042', 'builds-078', 'oncall-035', 'oncall-058'],
  ...['accounting-080', 'accounting-083', 'banking-082', 'banking-083', 'banking-085', 'banking-087', 'banking-088'],
  ...['banking-094', 'payments-038'],
]);

/** Sets by voice. Requests without an answer are in neutral words, as agents ask. */
const PRODUCT_SETS: Readonly<Record<string, string>> = {
  agent: 'products, as agents ask',
  short: 'products, in short',
  none: 'products, as agents ask',
  person: 'products, as people ask',
};

function toolsFor({ tools }: TrainingSet, asked: readonly SetQuery[]): readonly SetTool[] {
  const wanted = new Set(asked.flatMap(({ relevant }) => relevant));
  const others = tools.filter(({ id }) => !wanted.has(id)).slice(0, MOST_OTHERS);
  return [...tools.filter(({ id }) => wanted.has(id)), ...others];
}

function readLines(file: string): readonly unknown[] {
  const lines = readFileSync(join(FOLDER, file), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown); // JSON.parse says any
}
