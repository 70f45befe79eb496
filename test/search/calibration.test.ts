import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCatalogue } from '../../scripts/calibration/catalogue.ts';
import { barFor, type Example, fitLogistic, refusedBelow } from '../../scripts/calibration/fit-logistic.ts';
import { tryRequests } from '../../scripts/calibration/held-out-requests.ts';
import { createRandom } from '../../scripts/vectors/random.ts';
import { builtinEmbedder } from '../../src/search/dense/builtin-embedder.ts';

const embedder = builtinEmbedder();
const TOOLS = [
  { id: 'a', name: 'get_weather', description: 'Current weather and forecast for a city' },
  { id: 'b', name: 'weather_forecast', description: 'Forecast and current weather for a city' },
  { id: 'c', name: 'convert_currency', description: 'Convert an amount of money to another currency' },
  { id: 'd', name: 'send_mail', description: 'Send an email to somebody' },
];

describe('a catalogue without its answers', () => {
  it('scores a request lower while its tools are removed, and as before when they are back', () => {
    const catalogue = createCatalogue(TOOLS, embedder, 'hybrid');
    const request = 'what is the weather forecast for Oslo';
    const before = catalogue.bestScore(request);
    const gone = catalogue.alike('a');
    expect(new Set(gone)).toEqual(new Set(['a', 'b']));
    expect(catalogue.without(gone, () => catalogue.bestScore(request))).toBeLessThan(before / 2);
    expect(catalogue.bestScore(request)).toBe(before);
  });

  it('has each request twice, with an answer and without, and foreign ones without', () => {
    const queries = TOOLS.map(({ id, description }) => ({ id, query: description, relevant: [id] }));
    const set = { name: 'small', tools: TOOLS, queries };
    const strangers = [{ id: 's', query: 'does life have a meaning', relevant: [] }];
    const options = {
      ...{ embedder, mode: 'words' as const, others: [], strangers },
      ...{ talk: ['It is late.'], random: createRandom(1) },
    };
    const trials = [...tryRequests(set, options)];
    const answerable = trials.filter(({ isAnswerable }) => isAnswerable);
    expect(trials.length).toBeGreaterThan(2 * answerable.length);
    expect(mean(answerable)).toBeGreaterThan(2 * mean(trials.filter(({ isAnswerable }) => !isAnswerable)));
    expect([...tryRequests(set, { ...options, random: createRandom(1) })]).toEqual(trials);
  });
});

it('has all requests over three catalogues, two in five of them without an answer', () => {
  const file = join(import.meta.dirname, '../../scripts/calibration/requests/catalogues.jsonl');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const requests = lines.map((line): { id: string; catalogue: number; relevant: readonly string[] } =>
    JSON.parse(line),
  );
  expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length);
  for (const catalogue of [1, 2, 3]) {
    const own = requests.filter((request) => request.catalogue === catalogue);
    expect([own.length, own.filter(({ relevant }) => relevant.length === 0).length]).toEqual([220, 90]);
  }
});

describe('the logistic function', () => {
  const random = createRandom(3);
  const examples: readonly Example[] = Array.from({ length: 4000 }, () => {
    const score = random.next();
    return { score, isAnswerable: random.next() < 1 / (1 + Math.exp(2 - 5 * score)), weight: 1 };
  });

  it('is recovered from examples that it made', () => {
    const { bias, slope } = fitLogistic(examples);
    expect(bias).toBeCloseTo(-2, 0);
    expect(slope).toBeCloseTo(5, 0);
  });

  it('a threshold loses the share it was made for, and refuses more of the unanswerable requests', () => {
    const bar = barFor(0.05, examples);
    const answerable = examples.filter(({ isAnswerable }) => isAnswerable);
    const lost = answerable.filter(({ score }) => score < bar).length / answerable.length;
    expect(lost).toBeCloseTo(0.05, 2);
    expect(refusedBelow(bar, examples)).toBeGreaterThan(3 * lost);
    expect(refusedBelow(0, examples)).toBe(0);
  });
});

function mean(trials: readonly { readonly score: number }[]): number {
  return trials.reduce((sum, { score }) => sum + score, 0) / trials.length;
}
