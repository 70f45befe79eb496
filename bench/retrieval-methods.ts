import { create, insertMultiple, search } from '@orama/orama';
import MiniSearch from 'minisearch';
import { createRetriever } from '../src/search/create-retriever.ts';
import { wordsOf } from '../src/search/lexical/split-words.ts';
import { termOf } from '../src/search/lexical/terms.ts';
import { searchTextsOf } from '../src/search/search-texts.ts';
import { type ToolRow, toSpecs } from './retrieval-data.ts';
import { loadDense } from './retrieval-dense.ts';

/** Finds ids for a request, best first. */
type RankIds = (query: string) => readonly string[] | Promise<readonly string[]>;

/** A way to find tools: given a catalogue, it ranks ids. */
export interface Method {
  readonly name: string;
  build(tools: readonly ToolRow[]): Promise<RankIds>;
}

const LIMIT = 10;

/** Ours and what it is compared with. */
export async function methods(): Promise<readonly Method[]> {
  const dense = loadDense();
  const lexical: Method = { name: 'lexical only', build: (tools) => ours(tools, {}) };
  const peers = [miniSearch, orama, plainBm25, fullBm25];
  if (dense === undefined) return [{ ...lexical, name: 'ours (lexical only: no vectors here)' }, ...peers];
  const meaning: Method = {
    name: 'dense only',
    async build(tools) {
      const index = dense(undefined);
      const specs = toSpecs(tools);
      index.add(specs.map((spec, id) => ({ id, texts: [`${spec.origin}. ${spec.description}`] })));
      return async (query) => {
        const vectors = await index.prepare(query);
        return vectors === undefined ? [] : index.rank(vectors, LIMIT).map(({ id }) => tools[id]?.id ?? '');
      };
    },
  };
  return [{ name: 'ours', build: (tools) => ours(tools, { dense, vectors: 'builtin' }) }, lexical, meaning, ...peers];
}

async function ours(tools: readonly ToolRow[], settings: Parameters<typeof createRetriever>[0]): Promise<RankIds> {
  const retriever = createRetriever(settings);
  const specs = toSpecs(tools);
  retriever.add(specs);
  const ids = new Map(specs.map((spec, index) => [spec.name, tools[index]?.id ?? '']));
  return async (query) => {
    const hits = await retriever.rank(query, { limit: LIMIT, minScore: 0 });
    return hits.map(({ name }) => ids.get(name) ?? '');
  };
}

/** Everything of a tool that full-text search looks at, field by field. */
export function documentOf(row: ToolRow, id: number) {
  const texts = searchTextsOf(toSpecs([row])[0] as ReturnType<typeof toSpecs>[number]); // one in, one out
  return {
    id,
    name: spaced(texts.name),
    title: texts.title,
    description: row.description,
    source: spaced(texts.source),
    category: spaced(texts.category),
    tags: texts.tags,
    parameters: spaced(`${texts.parameters} ${texts.parameterTexts}`),
  };
}

/** Fields of `documentOf`. */
export const TEXT_FIELDS: readonly string[] = [
  'name',
  'title',
  'description',
  'source',
  'category',
  'tags',
  'parameters',
];

/** Names in parts, without which no library would find any. */
function spaced(text: string): string {
  return text.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_.-]+/g, ' ');
}

const miniSearch: Method = {
  name: 'MiniSearch',
  async build(tools) {
    const index = new MiniSearch({ fields: [...TEXT_FIELDS] });
    index.addAll(tools.map(documentOf));
    return (query) =>
      index
        .search(query)
        .slice(0, LIMIT)
        .map(({ id }) => tools[Number(id)]?.id ?? '');
  },
};

const orama: Method = {
  name: 'Orama',
  async build(tools) {
    const schema = Object.fromEntries(TEXT_FIELDS.map((field) => [field, 'string' as const]));
    const index = create({ schema });
    await insertMultiple(
      index,
      tools.map((row, id) => ({ ...documentOf(row, id), id: String(id) })),
      1000,
    );
    return async (query) => {
      const { hits } = await search(index, { term: query, limit: LIMIT });
      return hits.map(({ id }) => tools[Number(id)]?.id ?? '');
    };
  },
};

const plainBm25: Method = {
  name: 'plain BM25',
  build: async (tools) => bm25(tools, ({ name, description }) => `${name} ${description}`),
};

const fullBm25: Method = {
  name: 'BM25 full text',
  build: async (tools) => bm25(tools, (row) => Object.values(documentOf(row, 0)).slice(1).join(' ')),
};

/** BM25 as in the books: k1 1.2, b 0.75, stems and stop words; each word of a request once. */
function bm25(tools: readonly ToolRow[], textOf: (row: ToolRow) => string): RankIds {
  const documents = tools.map((row) => termsOf(textOf(row)));
  const meanLength = documents.reduce((sum, terms) => sum + terms.length, 0) / tools.length;
  const postings = new Map<string, Map<number, number>>();
  documents.forEach((terms, id) => {
    for (const term of terms) {
      const list = postings.get(term) ?? new Map<number, number>();
      list.set(id, (list.get(id) ?? 0) + 1);
      postings.set(term, list);
    }
  });
  return (query) => {
    const scores = new Map<number, number>();
    for (const term of new Set(termsOf(query))) {
      const list = postings.get(term) ?? new Map<number, number>();
      const rarity = Math.log(1 + (tools.length - list.size + 0.5) / (list.size + 0.5));
      for (const [id, count] of list) {
        const norm = 1.2 * (0.25 + (0.75 * (documents[id]?.length ?? 0)) / meanLength);
        scores.set(id, (scores.get(id) ?? 0) + (rarity * count * 2.2) / (count + norm));
      }
    }
    const best = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, LIMIT);
    return best.map(([id]) => tools[id]?.id ?? '');
  };
}

function termsOf(text: string): readonly string[] {
  return wordsOf(text).flatMap(({ text: word, isWhole }) => (isWhole ? [] : (termOf(word) ?? [])));
}
