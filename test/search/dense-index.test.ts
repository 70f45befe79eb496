import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DenseHit, DenseIndex, Embedder } from '../../src/core/retriever.ts';
import { createDenseIndex } from '../../src/search/dense/dense-index.ts';
import { embedBy, modelOf, numbersFrom, stillClock } from './dense-samples.ts';

const WORDS = Array.from(
  { length: 60 },
  (_, index) => `w${'abcdefghij'[index % 10]}${'klmnop'[Math.floor(index / 10)]}`,
);
const embedWords = embedBy(modelOf(WORDS, 128));
const embedder: Embedder = { model: 'sample', embed: (texts) => texts.map(embedWords) };

function indexOf(tools: Iterable<readonly [number, readonly string[]]>, snapshot?: Uint8Array): DenseIndex {
  const index = createDenseIndex({ embedder, snapshot, clock: stillClock, warn: expect.unreachable });
  index.add(Array.from(tools, ([id, texts]) => ({ id, texts })));
  return index;
}

async function rank(index: DenseIndex, query: string, limit: number): Promise<readonly DenseHit[]> {
  const vectors = await index.prepare(query);
  return vectors === undefined ? [] : index.rank(vectors, limit);
}

function cosine(a: Float32Array, b: Float32Array): number {
  const product = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

function textsFrom(seed: number, count: number): readonly (readonly [number, readonly string[]])[] {
  const next = numbersFrom(seed);
  const word = () => WORDS[Math.floor(((next() + 1) / 2) * WORDS.length)] ?? '';
  return Array.from({ length: count }, (_, id) => [id, [Array.from({ length: 6 }, word).join(' ')]] as const);
}

describe('the dense index', () => {
  it('ranks like a comparison with every tool', async () => {
    const tools = textsFrom(1, 500);
    const request = 'wak wbl wcm';
    const all = tools.map(([id, [text = '']]) => ({ id, similarity: cosine(embedWords(text), embedWords(request)) }));
    const hits = await rank(indexOf(tools), request, 500);
    expect(hits).toHaveLength(500);
    for (const { id, similarity } of hits) expect(similarity).toBeCloseTo(all[id]?.similarity ?? 0, 1);
    const best = all.toSorted((a, b) => b.similarity - a.similarity).slice(0, 10);
    const found = new Set(hits.slice(0, 14).map(({ id }) => id));
    expect(best.filter(({ id }) => found.has(id)).length).toBeGreaterThanOrEqual(9);
  });

  it('finds nearly the same among many by the signs only', async () => {
    const tools = textsFrom(2, 12_000);
    const index = indexOf(tools);
    const ids = Uint32Array.from(tools, ([id]) => id);
    for (const request of ['wbk wcl wdm wen', 'wak', 'wjp wip whp', 'wal wbl. wcn wdn.', 'wek wfk wgk whk wik']) {
      const vectors = (await index.prepare(request)) ?? expect.unreachable();
      const similarities = index.similarity(vectors, ids);
      const exact = [...ids].sort((a, b) => (similarities[b] ?? 0) - (similarities[a] ?? 0) || a - b).slice(0, 20);
      const found = new Set(index.rank(vectors, 50).map(({ id }) => id));
      expect(exact.filter((id) => found.has(id)).length, request).toBeGreaterThanOrEqual(19);
      expect(index.similarity(vectors, ids)).toEqual(similarities);
    }
  });

  it('uses the best sentence of the request and the best text of a tool', async () => {
    const index = indexOf([
      [0, ['wak wbk', 'wfp wgp']],
      [1, ['whn win']],
    ]);
    const hits = await rank(index, 'wfp wgp. whn win.', 5);
    expect(hits.map(({ id }) => id)).toEqual([0, 1]);
    for (const { similarity } of hits) expect(similarity).toBeCloseTo(1, 2);
  });

  it('returns the similarity of the given ids, in their order, and 0 for unknown ones', async () => {
    const index = indexOf([
      [3, ['wak']],
      [7, ['wbl']],
      [9, ['unheard of']],
    ]);
    const vectors = (await index.prepare('wbl')) ?? expect.unreachable();
    const similarities = index.similarity(vectors, Uint32Array.of(7, 99, 9, 3, 7));
    expect(similarities[0]).toBeCloseTo(1, 3);
    expect([similarities[1], similarities[2], similarities[4]]).toEqual([0, 0, similarities[0]]);
    expect(similarities[3]).toBeLessThan(0.9);
  });

  it('returns the similarity of the current tools, although they changed after the ranking', async () => {
    const index = indexOf([
      [0, ['wak']],
      [1, ['wbl']],
    ]);
    const vectors = (await index.prepare('wbl')) ?? expect.unreachable();
    const ids = Uint32Array.of(0, 1, 2);
    expect(index.rank(vectors, 5)[0]?.id).toBe(1);
    const ranked = [...index.similarity(vectors, ids)];
    index.add([{ id: 0, texts: ['wbl'] }]);
    await index.prepare('wak');
    expect([...index.similarity(vectors, ids)]).toEqual([ranked[1], ranked[1], 0]);
    index.remove([1]);
    expect([...index.similarity(vectors, ids)]).toEqual([ranked[1], 0, 0]);
    const other = (await index.prepare('wak')) ?? expect.unreachable();
    index.rank(other, 5);
    expect([...index.similarity(vectors, ids)]).toEqual([ranked[1], 0, 0]);
  });

  it('random adds, replacements and removals equal a rebuild', async () => {
    const text = fc.array(fc.constantFrom(...WORDS, 'unknown'), { maxLength: 4 }).map((words) => words.join(' '));
    const change = fc.record({
      id: fc.nat(12),
      texts: fc.option(fc.array(text, { maxLength: 3 }), { nil: undefined }),
      asks: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), text, async (changes, request) => {
        const index = indexOf([]);
        const expected = new Map<number, readonly string[]>();
        for (const { id, texts, asks } of changes) {
          if (texts === undefined) {
            index.remove([id]);
            expected.delete(id);
          } else {
            index.add([{ id, texts }]);
            expected.set(id, texts);
          }
          if (asks) await index.prepare(request);
        }
        const rebuilt = indexOf(expected);
        expect(await rank(index, request, 20)).toEqual(await rank(rebuilt, request, 20));
        expect(await rank(indexOf([], index.snapshot()), request, 20)).toEqual(await rank(rebuilt, request, 20));
        for (let id = 0; id <= 12; id++) expect(index.has(id)).toBe(expected.has(id));
      }),
      { numRuns: 60 },
    );
  });

  it('a removed tool is never returned', async () => {
    const index = indexOf(textsFrom(3, 5000));
    await index.prepare('wak');
    index.remove(Array.from({ length: 4990 }, (_, id) => id));
    const hits = await rank(index, 'wak wbk', 50);
    expect(hits.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([
      4990, 4991, 4992, 4993, 4994, 4995, 4996, 4997, 4998, 4999,
    ]);
  });

  it('two tools with equal texts are both found', async () => {
    const index = indexOf([
      [5, ['wak wbl']],
      [2, ['wak wbl']],
    ]);
    expect((await rank(index, 'wak', 5)).map(({ id }) => id)).toEqual([2, 5]);
  });

  it('a snapshot of another model or a damaged one is ignored', async () => {
    const bytes = indexOf([[1, ['wak']]]).snapshot();
    expect(indexOf([], bytes).has(1)).toBe(true);
    const other = createDenseIndex({
      embedder: { ...embedder, model: 'another' },
      snapshot: bytes,
      clock: stillClock,
      warn: expect.unreachable,
    });
    expect(other.has(1)).toBe(false);
    for (let place = 0; place < bytes.length; place += 5) {
      const damaged = bytes.slice();
      damaged[place] = (damaged[place] ?? 0) ^ 0x55;
      expect(indexOf([], damaged).has(1)).toBe(false);
    }
    expect(indexOf([], bytes.subarray(0, bytes.length / 2)).has(1)).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['emoji', '🎉🔥'],
    ['an unknown word', 'qqqq'],
    ['Chinese', '查询天气'],
    ['a lone surrogate', '\ud800'],
    ['a megabyte of one letter', 'x'.repeat(1_000_000)],
  ])('a request of %s is left to words', async (_, request) => {
    expect(await indexOf([[0, ['wak']]]).prepare(request)).toBeUndefined();
  });

  it('a megabyte of sentences is answered by its beginning', async () => {
    const hits = await rank(
      indexOf([
        [0, ['wak']],
        [1, ['wbl']],
      ]),
      `wak. ${'Something else. '.repeat(70_000)}wbl.`,
      2,
    );
    expect(hits[0]?.id).toBe(0);
    expect(hits[0]?.similarity).toBeCloseTo(1, 2);
  });

  it('tools with empty, enormous or many texts have no bad effect', async () => {
    const index = indexOf([
      [0, []],
      [1, ['', '🎉']],
      [2, ['wak '.repeat(300_000)]],
      [3, Array.from({ length: 1000 }, () => 'wbl')],
    ]);
    expect((await rank(index, 'wak', 10)).map(({ id }) => id)).toEqual([2, 3]);
    index.remove([0, 1, 2, 3, 4]);
    expect(await rank(index, 'wak', 10)).toEqual([]);
  });
});
