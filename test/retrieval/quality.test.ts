import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { measureCatalogue, type Quality, readRequests } from '../../src/crib/search-quality.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { evaluate } from '../../src/retrieval/evaluate.ts';
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

/** Floors: below what is reached today by less than any change worth making moves it. */
describe('search over the labelled set does not become worse', () => {
  const requests = readRequests(readRows('queries.jsonl'));
  let quality: Quality;
  beforeAll(async () => {
    quality = await measureCatalogue(readRows('tools.jsonl'), requests, (message) => {
      throw new Error(message);
    });
  });

  it('the right tools are found and ranked', () => {
    expect(quality.ndcg10).toBeGreaterThan(0.4);
    expect(quality.recall10).toBeGreaterThan(0.59);
  });

  it('at most one answerable request in thirty finds nothing', () => {
    expect(quality.lost).toBeLessThan(1 / 30);
  });

  it('requests that nothing answers are refused more often than answerable ones are lost', () => {
    expect(quality.refused).toBeGreaterThan(0.11);
    expect(quality.refused).toBeGreaterThan(4 * quality.lost);
  });

  it('words alone find less, and still something', async () => {
    const rows = readRows('tools.jsonl') as Row[]; // as the README of the set says
    const retriever = createRetriever();
    retriever.add(
      rows.map(({ id, description, server, schema }) => specOf(id, description, { source: server, input: schema })),
    );
    const words = await evaluate(requests, async (query) => namesOf(await retriever.rank(query, { limit: 10 })));
    expect(words.ndcg10).toBeGreaterThan(0.34);
    expect(words.ndcg10).toBeLessThan(quality.ndcg10);
  });
});
