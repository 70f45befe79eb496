import { describe, expect, it } from 'vitest';
import type { DenseIndex, DenseTool } from '../../src/core/retriever.ts';
import { builtinRetriever } from '../../src/search/builtin-retriever.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { systemClock } from '../../src/system/clock.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

const options = { limit: 10, minScore: 0 };

/** A fake index of meanings: a tool is as close as its first text says behind a `~`. */
function toldMeanings(kept: Map<number, number>, asked: string[] = []): DenseIndex & { readonly added: number[] } {
  const added: number[] = [];
  return {
    added,
    add(tools: readonly DenseTool[]) {
      for (const { id, texts } of tools) {
        added.push(id);
        kept.set(id, Number(/~(-?[\d.]+)/.exec(texts[0] ?? '')?.[1] ?? 0));
      }
    },
    remove(ids) {
      for (const id of ids) kept.delete(id);
    },
    has: (id) => kept.has(id),
    async prepare(query) {
      asked.push(query);
      return query === 'mute' ? undefined : { sentences: [query] };
    },
    rank: (_, limit) =>
      [...kept]
        .map(([id, similarity]) => ({ id, similarity }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, limit),
    similarity: (_, ids) => Float32Array.from(ids, (id) => kept.get(id) ?? 0),
    snapshot: () => new TextEncoder().encode(JSON.stringify([...kept])),
  };
}

describe('words and meaning together', () => {
  it('a tool without a word of the request is found by its meaning, and the hit says so', async () => {
    const retriever = createRetriever({ dense: () => toldMeanings(new Map()) });
    retriever.add([...OFFICE, specOf('umbrella', 'Whether it will rain ~0.8')]);
    const [hit] = await retriever.rank('shall I take a coat', { limit: 3 });
    expect(hit).toMatchObject({ name: 'umbrella', why: 'similar in meaning (0.80)' });
    expect(hit?.score).toBeCloseTo(0.44, 5);
  });

  it('a distant meaning is not a hit, and does not lower hits by words', async () => {
    const retriever = createRetriever({ dense: () => toldMeanings(new Map()) });
    retriever.add([specOf('far', 'Teapot ~-0.9'), ...OFFICE]);
    expect(await retriever.rank('nothing of that kind', { limit: 3 })).toEqual([]);
    expect(namesOf(await retriever.rank('teapot', options))[0]).toBe('far');
  });

  it('if a request has no vectors, only words count', async () => {
    const retriever = createRetriever({ dense: () => toldMeanings(new Map()) });
    const alone = createRetriever();
    for (const one of [retriever, alone]) one.add([...OFFICE, specOf('mute', 'Say nothing ~0.9')]);
    expect(await retriever.rank('mute', options)).toEqual(await alone.rank('mute', options));
  });

  it('hidden tools do not displace visible ones', async () => {
    const retriever = createRetriever({ dense: () => toldMeanings(new Map()) });
    const crowd = Array.from({ length: 300 }, (_, index) => specOf(`crowd_${index}`, 'Hidden ~0.9'));
    retriever.add([...crowd, specOf('shown', 'Visible ~0.6')]);
    const hits = await retriever.rank('something else', { limit: 3, among: (name) => name === 'shown' });
    expect(namesOf(hits)).toEqual(['shown']);
  });

  it('a removed tool is no longer found by its meaning, and its number may be reused', async () => {
    const retriever = createRetriever({ dense: () => toldMeanings(new Map()) });
    retriever.add([specOf('first', 'One ~0.9')]);
    retriever.remove(['first']);
    retriever.add([specOf('second', 'Two ~0.7')]);
    expect(namesOf(await retriever.rank('anything', options))).toEqual(['second']);
  });

  it('stored vectors are not computed again, and missing ones are', async () => {
    const before = createRetriever({ dense: () => toldMeanings(new Map()) });
    before.add(OFFICE);
    const snapshot = before.snapshot();
    const made: ReturnType<typeof toldMeanings>[] = [];
    const dense = (bytes: Uint8Array | undefined) => {
      const index = toldMeanings(new Map(JSON.parse(new TextDecoder().decode(bytes))));
      made.push(index);
      return index;
    };
    createRetriever({ snapshot, dense }).add(OFFICE);
    expect(made[0]?.added).toEqual([]);
    const lost = toldMeanings(new Map());
    const again = createRetriever({ snapshot, dense: () => lost });
    again.add(OFFICE);
    expect(lost.added).toHaveLength(OFFICE.length);
    // The snapshot lacks them, so it is worth keeping another.
    expect(again.changes).toBe(OFFICE.length);
  });
});

describe('the vectors that come with the package', () => {
  const builtin = () =>
    builtinRetriever({
      clock: systemClock,
      warn: (message) => {
        throw new Error(message);
      },
    });

  it('find tools with other words', async () => {
    const retriever = builtin();
    retriever.add(OFFICE);
    const [hit] = await retriever.rank('how warm will it be outside in Oslo, rain or sunshine', options);
    expect(hit?.name).toBe('get_weather');
    expect(hit?.why).toMatch(/similar in meaning \(0\.\d\d\)/);
  });

  it('a snapshot with them gives the same answers', async () => {
    const before = builtin();
    before.add(OFFICE);
    const wanted = await before.rank('put a meeting on my schedule', options);
    const after = builtinRetriever({ clock: systemClock, warn: () => {}, snapshot: before.snapshot() });
    after.add(OFFICE);
    expect(after.changes).toBe(0);
    expect(await after.rank('put a meeting on my schedule', options)).toEqual(wanted);
  });
});
