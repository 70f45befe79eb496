import { describe, expect, it } from 'vitest';
import type { Embedder, Ranked } from '../../src/core/retriever.ts';
import { toSearchAnswer } from '../../src/core/retriever.ts';
import { builtinRetriever } from '../../src/search/builtin-retriever.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { builtinEmbedder } from '../../src/search/dense/builtin-embedder.ts';
import { createDenseIndex } from '../../src/search/dense/dense-index.ts';
import { systemClock } from '../../src/system/clock.ts';
import { OFFICE, specOf } from './specs.ts';

function fail(message: string): never {
  throw new Error(message);
}

/** Vectors of an endpoint: those that come with the package, moved so that all texts are alike by at least `floor`. */
function endpointVectors(floor: number): Embedder {
  const builtin = builtinEmbedder();
  const common = Math.sqrt(floor / (1 - floor));
  return {
    model: `moved ${floor}`,
    async embed(texts) {
      const vectors = await builtin.embed(texts);
      return vectors.map((vector) => {
        const norm = Math.hypot(...vector);
        return norm === 0
          ? new Float32Array(vector.length + 1)
          : Float32Array.of(...vector.map((x) => x / norm), common);
      });
    },
  };
}

const endpoint = (floor: number) => () =>
  createRetriever({
    dense: (snapshot) =>
      createDenseIndex({ embedder: endpointVectors(floor), snapshot, clock: systemClock, warn: fail }),
  });

const MODES = {
  words: { open: () => createRetriever(), sure: 'write text to a file', unsure: 'paint the workspace of an uncle' },
  'words and vectors': {
    open: () => builtinRetriever({ clock: systemClock, warn: fail }),
    sure: 'write text to a file',
    unsure: 'knit a woollen jumper for somebody',
  },
  'vectors, where no tool says a word of the request': {
    open: () => builtinRetriever({ clock: systemClock, warn: fail }),
    sure: 'rain outlook',
    unsure: 'knit woollen jumpers',
  },
  'an endpoint': { open: endpoint(0), sure: 'write text to a file', unsure: 'knit a woollen jumper for somebody' },
  'an endpoint whose model finds everything similar': {
    open: endpoint(0.7),
    sure: 'write text to a file',
    unsure: 'knit a woollen jumper for somebody',
  },
} as const;

describe.each(Object.entries(MODES))('confidence by %s', (_, { open, sure, unsure }) => {
  const first = async (request: string): Promise<Ranked | undefined> => {
    const retriever = open();
    retriever.add(OFFICE);
    return (await retriever.rank(request, { limit: 10 }))[0];
  };

  it('is high if a tool clearly fits', async () => {
    expect(await first(sure)).toMatchObject({ confidence: 'high' });
  });

  it('is low if no tool fits, and the nearest are still found', async () => {
    expect(await first(unsure)).toMatchObject({ confidence: 'low' });
  });
});

describe('confidence', () => {
  it('is high for a tool that the request names, whatever else it says', async () => {
    const retriever = createRetriever();
    retriever.add(OFFICE);
    expect(await retriever.rank('zebra get_weather', { limit: 1 })).toMatchObject([{ confidence: 'high' }]);
  });

  it('is given for each hit: hits behind a clear match may have low confidence', async () => {
    const retriever = createRetriever();
    retriever.add(OFFICE);
    const hits = await retriever.rank('write text to a file', { limit: 10 });
    expect(hits.map(({ name, confidence }) => [name, confidence])).toContainEqual(['write_file', 'high']);
    expect(hits.map(({ confidence }) => confidence)).toContain('low');
  });
});

describe('the answer of a door', () => {
  const hit = (name: string, confidence?: 'high' | 'low') => ({
    ...{ name, score: 0.5, why: '', description: '', spec: specOf(name) },
    ...(confidence && { confidence }),
  });

  it('has all hits, with the confidence of the best', () => {
    const hits = ['a', 'b', 'c', 'd'].map((name, place) => hit(name, place === 0 ? 'high' : 'low'));
    expect(toSearchAnswer(hits)).toEqual({ hits, confidence: 'high' });
  });

  it('has the nearest three if no tool clearly fits', () => {
    const hits = ['a', 'b', 'c', 'd'].map((name) => hit(name, 'low'));
    const note = 'No tool clearly fits; nearest:';
    expect(toSearchAnswer(hits)).toEqual({ hits: hits.slice(0, 3), confidence: 'low', note });
  });

  it('has low confidence for an empty list, and none if a retriever does not give it', () => {
    expect(toSearchAnswer([])).toEqual({ hits: [], confidence: 'low' });
    const hits = ['a', 'b', 'c', 'd'].map((name) => hit(name));
    expect(toSearchAnswer(hits)).toEqual({ hits });
  });
});
