import { describe, expect, it } from 'vitest';
import { builtinRetriever } from '../../src/search/builtin-retriever.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { figuresOf } from '../../src/search/fuse.ts';
import { CALIBRATIONS, type Curve, chanceOf } from '../../src/search/tuning.ts';
import { systemClock } from '../../src/system/clock.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

function office() {
  const retriever = builtinRetriever({
    clock: systemClock,
    warn: (message) => {
      throw new Error(message);
    },
  });
  retriever.add(OFFICE);
  return retriever;
}

const everything = { limit: 100, minScore: 0 };

describe('a score is the likelihood that a hit answers the request', () => {
  const curves = Object.entries(CALIBRATIONS).flatMap(([mode, { curve }]) => (curve ? [[mode, curve] as const] : []));

  it.each(curves)('%s: a better fit is likelier, and no hit is certain', (_, curve: Curve) => {
    const chances = Array.from({ length: 101 }, (_, percent) => chanceOf(percent / 100, curve));
    expect(chances).toEqual(chances.toSorted((a, b) => a - b));
    expect(new Set(chances).size).toBe(chances.length);
    expect(chances.every((chance) => chance > 0 && chance < 1)).toBe(true);
    expect(chances[0]).toBeLessThan(0.25);
    expect(chances[100]).toBeGreaterThan(0.5);
  });

  it('a good fit is likely, a poor one is not', async () => {
    const retriever = office();
    const [sure] = await retriever.rank('write text to a file of the workspace', everything);
    const [unsure] = await retriever.rank('knit a woollen jumper for the winter', everything);
    expect(sure).toMatchObject({ name: 'write_file' });
    expect(sure?.score).toBeGreaterThan(0.7);
    expect(unsure?.score ?? 0).toBeLessThan(0.4);
  });

  it('words that no tool contains lower the figure of every hit alike', () => {
    const hit = { id: 1, lexical: 5, fit: { title: 0, verb: 0 }, similarity: 0.6, score: 0.8 };
    const figureWith = (unknown: number) =>
      figuresOf([hit], { mode: 'hybrid', catalogSize: 100, background: 0, unknown })(hit);
    expect(figureWith(0)).toBe(0.8);
    expect(figureWith(0.5)).toBeLessThan(0.75);
    expect(figureWith(1)).toBeLessThan(figureWith(0.5));
  });

  it('the order is that of the fit: likelihood changes no rank', async () => {
    const scores = (await office().rank('send a mail about the issue in the calendar', everything)).map(
      ({ score }) => score,
    );
    expect(scores.length).toBeGreaterThan(3);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });
});

describe('if a request names several tools', () => {
  it('the one that fits better is first, whatever the names are', async () => {
    const retriever = office();
    retriever.add([specOf('a', 'The first letter')]);
    expect(namesOf(await retriever.rank('a get_weather', everything)).slice(0, 2)).toEqual(['get_weather', 'a']);
  });
});

describe('without a minScore', () => {
  it('an unanswerable request finds the nearest tools, with low confidence', async () => {
    const hits = await office().rank('zebra crossing', { limit: 10 });
    expect(hits.length).toBeGreaterThan(0);
    expect(new Set(hits.map(({ confidence }) => confidence))).toEqual(new Set(['low']));
  });

  it('the wording of a request does not decide whether a tool is found', async () => {
    const retriever = office();
    for (const request of [
      'send my parcel to a bakery by carrier pigeon',
      'send a parcel to a bakery by carrier pigeon',
    ])
      expect((await retriever.rank(request, { limit: 10 }))[0]).toMatchObject({ confidence: 'low' });
  });

  it('nothing is found without a common word or meaning, or below a given `minScore`', async () => {
    expect(await office().rank('zzzzqqq', { limit: 10 })).toEqual([]);
    expect(await office().rank('zebra crossing', { limit: 10, minScore: 0.9 })).toEqual([]);
  });

  it('the best hit decides: others are returned with it although they would not be enough alone', async () => {
    const retriever = createRetriever();
    retriever.add([...OFFICE, specOf('pigeon', 'Send a parcel by carrier pigeon over the hills')]);
    const hits = await retriever.rank('carrier pigeon over the hills, or send an email', { limit: 10 });
    expect(namesOf(hits).slice(0, 2)).toEqual(['pigeon', 'send_mail']);
    const [, second] = hits;
    const alone = await retriever.rank('carrier pigeon over the hills, or send an email', {
      limit: 10,
      minScore: (second?.score ?? 0) + 0.001,
    });
    expect(namesOf(alone)).toEqual(['pigeon']);
  });

  it('a tool far behind the best is not a hit', async () => {
    const retriever = office();
    const request = 'write text to a file of the workspace';
    const shown = namesOf(await retriever.rank(request, { limit: 100 }));
    const all = namesOf(await retriever.rank(request, everything));
    expect(shown.length).toBeLessThan(all.length);
    expect(all.slice(0, shown.length)).toEqual(shown);
  });

  it('a named tool is a hit, and adds no others', async () => {
    const hits = await office().rank('zebra get_weather', { limit: 10 });
    expect(hits[0]).toMatchObject({ name: 'get_weather', score: 1 });
    const unlikely = createRetriever();
    const others = Array.from({ length: 40 }, (_, index) => specOf(`tool_${index}`, `Common words of number ${index}`));
    unlikely.add([specOf('alpha_tool', 'Zeppelin'), ...others]);
    const request = 'alpha_tool: common zeppelin';
    expect((await unlikely.rank(request, everything)).length).toBeGreaterThan(30);
    expect(namesOf(await unlikely.rank(request, { limit: 10 }))).toEqual(['alpha_tool']);
  });
});

describe('a meaningless `minScore`', () => {
  it.each([Number.NaN, 1.5, Number.POSITIVE_INFINITY])('%d matches nothing', async (minScore) => {
    expect(await office().rank('get_weather', { limit: 10, minScore })).toEqual([]);
  });

  it('below 0 counts as 0', async () => {
    const retriever = office();
    const request = 'write text to a file';
    expect(await retriever.rank(request, { limit: 9, minScore: -1 })).toEqual(
      await retriever.rank(request, { limit: 9, minScore: 0 }),
    );
  });
});
