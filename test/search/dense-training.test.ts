import { describe, expect, it } from 'vitest';
import { trainModel } from '../../scripts/vectors/train-model.ts';
import type { TrainingSet } from '../../scripts/vectors/training-sets.ts';
import { readModel } from '../../src/search/dense/builtin-embedder.ts';
import { embedBy, numbersFrom } from './dense-samples.ts';

const TOPICS = [
  ['send_letter', 'Sends post to a person', ['write to my aunt', 'tell anna hello', 'message for the boss']],
  ['get_forecast', 'Rain and sun by city', ['is it wet in rome', 'umbrella needed', 'how warm will it be']],
  ['play_song', 'Starts music', ['i want to hear jazz', 'put on some tunes', 'turn the band up']],
  ['pay_bill', 'Moves money between accounts', ['settle my rent', 'transfer ten euros', 'owe the plumber']],
] as const;

const asked: TrainingSet = {
  name: 'asked',
  tools: TOPICS.map(([name, description]) => ({ id: name, name, description })),
  queries: TOPICS.flatMap(([name, , requests]) =>
    requests.map((query, index) => ({
      id: `${name}${index}`,
      query: `Hello there. ${query}.`,
      relevant: [name, 'gone'],
    })),
  ),
};
const corpus: TrainingSet = {
  name: 'corpus',
  tools: [{ id: 'c', name: 'copyFile', description: 'Copies a file to a folder. Keeps its date and name.' }],
  queries: [],
};

function generalVectors(): ReadonlyMap<string, Float32Array> {
  const next = numbersFrom(7);
  const words = 'the send letter post rain sun city music money rome jazz rent euros file folder'.split(' ');
  return new Map(words.map((word) => [word, Float32Array.from({ length: 20 }, next)]));
}

function trained(seed: number, passes: number): Uint8Array {
  const other = { words: 200, minCount: 1, dimensions: 24, passes, batchSize: 8, extraTools: 4 };
  return trainModel({ sets: [asked, corpus], general: generalVectors(), seed, say: () => undefined, other });
}

/** How many requests are nearest to their own tool. */
function found(file: Uint8Array): number {
  const embed = embedBy(file);
  const direction = (text: string) => {
    const vector = embed(text);
    const norm = Math.hypot(...vector) || 1;
    return vector.map((value) => value / norm);
  };
  const tools = TOPICS.map(([name, description]) => direction(`${name}. ${description}`));
  const isFound = (request: string, own: number) => {
    const query = direction(request);
    const similarities = tools.map((tool) => tool.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0));
    return similarities.indexOf(Math.max(...similarities)) === own;
  };
  return TOPICS.flatMap(([, , requests], own) => requests.filter((request) => isFound(request, own))).length;
}

describe('training word vectors', () => {
  it('gives the same bytes for the same seed, and others for another', () => {
    const once = trained(1, 1);
    expect(trained(1, 1)).toEqual(once);
    expect(trained(2, 1)).not.toEqual(once);
  });

  it('learns which tool a request needs', () => {
    expect(found(trained(1, 0))).toBeLessThan(9);
    expect(found(trained(1, 4))).toBe(12);
  });

  it('keeps every word of the texts and fills up with general language', () => {
    const { fingerprints } = readModel(trained(1, 0), 'a trained model');
    expect(fingerprints.length).toBeGreaterThan(generalVectors().size);
    expect(fingerprints.length).toBeLessThanOrEqual(200);
  });
});
