import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { measureCatalogue, type Quality, readRequests } from '../../src/crib/search-quality.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { evaluate } from '../../src/search/evaluate.ts';
import { namesOf, specOf } from './specs.ts';

const SET = join(import.meta.dirname, 'set');
const readRows = (file: string): readonly unknown[] =>
  readFileSync(join(SET, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

interface Row {
  readonly id: string;
  readonly description: string;
  readonly server: string;
  readonly schema: JsonSchema;
}

/** What the labelled set says of search, in the words of one file of requests. */
function measure(file: string): Promise<Quality> {
  return measureCatalogue(readRows('tools.jsonl'), readRequests(readRows(file)), (message) => {
    throw new Error(message);
  });
}

/** Floors: below what is reached today by less than any change worth making moves it. */
describe('search over the labelled set does not become worse, in the words of agents', () => {
  let quality: Quality;
  beforeAll(async () => {
    quality = await measure('queries.jsonl');
  });

  it('the right tools are found and ranked', () => {
    expect(quality.ndcg10).toBeGreaterThan(0.95);
    expect(quality.recall10).toBeGreaterThan(0.98);
  });

  it('confidence is low for seven of ten unanswerable requests, and for at most one answerable request in twenty; none is lost', () => {
    expect(quality.lowRight).toBeGreaterThan(0.7);
    expect(quality.lowWrong).toBeLessThan(0.05);
    expect(quality.lost).toBe(0);
  });

  it('words only find less, but still much', async () => {
    const rows = readRows('tools.jsonl') as Row[]; // as the README of the set says
    const retriever = createRetriever();
    retriever.add(
      rows.map(({ id, description, server, schema }) => specOf(id, description, { source: server, input: schema })),
    );
    const words = await evaluate(readRequests(readRows('queries.jsonl')), async (query) =>
      namesOf(await retriever.rank(query, { limit: 10 })).map((id) => ({ id })),
    );
    expect(words.ndcg10).toBeGreaterThan(0.91);
    expect(words.ndcg10).toBeLessThan(quality.ndcg10);
  });
});

describe('search over the labelled set does not become worse, in the words of people', () => {
  let quality: Quality;
  beforeAll(async () => {
    quality = await measure('turns.jsonl');
  });

  it('the right tools are found and ranked', () => {
    expect(quality.ndcg10).toBeGreaterThan(0.41);
    expect(quality.recall10).toBeGreaterThan(0.6);
  });

  it('no answerable request is lost, and confidence is low more often for unanswerable ones', () => {
    expect(quality.lost).toBe(0);
    expect(quality.lowRight).toBeGreaterThan(quality.lowWrong ?? 1);
    expect(quality.lowRight).toBeGreaterThan(0.24);
  });
});
