import { type ToolRow, toSpecs } from '../../bench/retrieval-data.ts';
import { isPromise } from '../../src/core/json.ts';
import type { DenseIndex, Embedder, QueryVectors } from '../../src/core/retriever.ts';
import { createDenseIndex } from '../../src/search/dense/dense-index.ts';
import { figuresOf, findCandidates, fuse } from '../../src/search/fuse.ts';
import { createLexicalIndex } from '../../src/search/lexical/lexical-index.ts';
import { createPrepare } from '../../src/search/prepare-request.ts';
import { backgroundOf } from '../../src/search/rank-tools.ts';
import { denseTexts, searchTextsOf } from '../../src/search/search-texts.ts';
import type { SearchMode } from '../../src/search/tuning.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { SetTool } from '../vectors/training-sets.ts';

/** Tools that requests are tried against, some of them out of it for a while. */
export interface Catalogue {
  /** The figure of the best tool for a request, by which it is judged whether it clearly fits; 0 where nothing was found. */
  bestScore(request: string): number;
  /** The tools that say the same as one, itself included. */
  alike(id: string): readonly string[];
  /** Runs `task` while these tools are gone. */
  without<T>(ids: Iterable<string>, task: () => T): T;
}

/** More alike than this in what they say of themselves, one tool answers what the other does. */
const ALIKE = 0.8;
const MOST_ALIKE = 20;

/** A catalogue of these tools, searched by words, by vectors or by both. */
export function createCatalogue(tools: readonly SetTool[], embedder: Embedder, mode: SearchMode): Catalogue {
  const rows = tools.map((tool): ToolRow => ({ ...tool, description: tool.description ?? '' }));
  const texts = toSpecs(rows).map((spec) => searchTextsOf(spec));
  const places = new Map(tools.map(({ id }, place) => [id, place]));
  const lexical = createLexicalIndex();
  const dense = createDenseIndex({ embedder, clock: systemClock, warn: fail });
  const origin = mode === 'endpoint' ? 'endpoint' : 'builtin';
  const prepare = createPrepare({ lexical, dense: mode === 'words' ? undefined : dense, vectors: origin });
  const used = new Set<number>();
  const add = (place: number) => {
    const own = texts[place];
    if (own === undefined) return;
    lexical.add(place, own);
    dense.add([{ id: place, texts: denseTexts(own) }]);
    used.add(place);
  };
  for (const place of texts.keys()) add(place);

  return {
    bestScore(request) {
      const prepared = prepare(request);
      if (isPromise(prepared)) return fail('Vectors of the package are there at once.');
      const { gloss, known, vectors } = prepared;
      const match = lexical.match({ request: mode === 'vectors' ? '' : request, gloss, known });
      const meaning = vectors && { dense, vectors };
      const choice = { isAllowed: (place: number) => used.has(place), isFirst: (a: number, b: number) => a < b };
      const candidates = findCandidates({ match, meaning, certain: new Set(), choice, limit: 10 });
      const found = fuse(candidates, used.size);
      const background = mode === 'endpoint' && meaning ? backgroundOf(meaning, tools.length, choice) : 0;
      const figureOf = figuresOf(found, { mode, background, catalogSize: used.size, unknown: match.unknown });
      const [best] = found.toSorted((a, b) => b.score - a.score);
      return best === undefined ? 0 : figureOf(best);
    },
    alike(id) {
      const own = texts[places.get(id) ?? -1];
      const vectors = own && vectorsOf(dense, `${own.name} ${own.description}`.replace(/[.!?;\n]+/g, ' '));
      const near = vectors === undefined ? [] : dense.rank(vectors, MOST_ALIKE);
      const found = near.filter(({ similarity }) => similarity > ALIKE).map((hit) => hit.id);
      const sameName = [...used].filter((place) => texts[place]?.name === own?.name);
      return [id, ...[...found, ...sameName].map((place) => tools[place]?.id ?? '')];
    },
    without(ids, task) {
      const gone = new Set([...ids].map((id) => places.get(id) ?? -1).filter((place) => used.has(place)));
      for (const place of gone) {
        lexical.remove(place);
        dense.remove([place]);
        used.delete(place);
      }
      const result = task();
      for (const place of gone) add(place);
      return result;
    },
  };
}

function fail(message: string): never {
  throw new Error(message);
}

function vectorsOf(dense: DenseIndex, text: string): QueryVectors | undefined {
  const vectors = dense.prepare(text);
  return isPromise(vectors) ? undefined : vectors; // word vectors are there at once
}
