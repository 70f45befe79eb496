import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { measureCatalogue, readRequests } from '../src/crib/search-quality.ts';
import { evaluate, type Quality } from '../src/search/evaluate.ts';
import { printTable } from './measure.ts';
import { hasSets, readSet, setsOf } from './retrieval-data.ts';
import { benchGoals } from './retrieval-goals.ts';
import { differenceOfSets, type Paired, shareOf } from './retrieval-intervals.ts';
import { methods } from './retrieval-methods.ts';
import { benchRequests } from './retrieval-requests.ts';
import { benchRetrievalSpeed } from './retrieval-speed.ts';

/** How good search is on sets that nothing was tuned on, beside other ways to search. */
async function benchRetrievalQuality(): Promise<void> {
  const all = await methods();
  const ours = all[0]?.name ?? '';
  const names = setsOf('dev');
  // By method: the NDCG of each request, set by set.
  const figures = new Map(all.map(({ name }) => [name, [] as (readonly number[])[]]));
  const gainOver = (name: string, sets: (list: readonly (readonly number[])[]) => readonly (readonly number[])[]) => {
    if (name === ours) return '';
    const theirs = sets(figures.get(name) ?? []);
    return differenceOfSets(sets(figures.get(ours) ?? []).map((own, index): Paired => [own, theirs[index] ?? []]));
  };
  for (const name of names) {
    const set = readSet('dev', name);
    const rows: string[][] = [[...COLUMNS, 'ours is better by (95 %)']];
    for (const method of all) {
      const rank = await method.build(set.tools);
      const quality = await evaluate(set.requests, async (query) => (await rank(query)).map((id) => ({ id })));
      const byId = new Map(quality.outcomes.map((outcome) => [outcome.id, outcome.ndcg10]));
      figures.get(method.name)?.push(set.requests.map(({ id }) => byId.get(id) ?? 0));
      rows.push([method.name, ...cellsOf(quality), gainOver(method.name, (list) => list.slice(-1))]);
    }
    printTable(`${set.name}: ${set.tools.length} tools, ${set.requests.length} requests`, rows);
  }
  const percent = (value: number) => (100 * value).toFixed(1);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  printTable('NDCG@10', [
    ['method', ...names, 'mean', 'ours is better by (95 %)'],
    ...[...figures].map(([name, sets]) => {
      const means = sets.map(mean);
      return [name, ...means.map(percent), percent(mean(means)), gainOver(name, (list) => list)];
    }),
  ]);
}

const COLUMNS = ['method', 'NDCG@10', 'Recall@1', 'Recall@5', 'Recall@10', 'MRR', 'ms/query'];

const LABELLED_SET = join(import.meta.dirname, '../test/search/set');

/** How good search is as it is by default, and how often low confidence is right and wrong: on the sets, and on our own. */
async function benchConfidence(): Promise<void> {
  const rows: string[][] = [
    ['set', 'NDCG@10 (95 %)', 'nothing found, %', 'low, something fits, %', 'low, nothing fits, %'],
  ];
  const measure = async (name: string, tools: readonly unknown[], requests: readonly unknown[]) => {
    const quality = await measureCatalogue(tools, readRequests(requests), console.error);
    const fits = quality.outcomes.filter(({ relevant }) => relevant.length > 0);
    const nothingFits = quality.outcomes.filter(({ relevant }) => relevant.length === 0);
    const low = (list: Quality['outcomes']) =>
      shareOf(list.map(({ found, confidence }) => (found.length === 0 || confidence === 'low' ? 1 : 0)));
    const lost = (100 * quality.lost).toFixed(1);
    rows.push([name, shareOf(fits.map(({ ndcg10 }) => ndcg10)), lost, low(fits), low(nothingFits)]);
  };
  for (const name of setsOf('dev')) {
    const { tools, requests } = readSet('dev', name);
    await measure(name, tools, requests);
  }
  const tools = readLabelled('tools.jsonl');
  await measure('our own, as agents ask', tools, readLabelled('queries.jsonl'));
  await measure('our own, as people ask', tools, readLabelled('turns.jsonl'));
  printTable('ours, as it is by default', rows);
}

function readLabelled(file: string): readonly unknown[] {
  const lines = readFileSync(join(LABELLED_SET, file), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown); // JSON.parse says any
}

function cellsOf({ ndcg10, recall1, recall5, recall10, mrr, msPerQuery }: Quality): readonly string[] {
  const shares = [ndcg10, recall1, recall5, recall10, mrr].map((share) => (100 * share).toFixed(1));
  return [...shares, msPerQuery.toFixed(3)];
}

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
if (!hasSets) console.log('The sets are not on this machine (../shared/retrieval): only our own is measured.');
const only = process.argv[2];
if (hasSets && (only === undefined || only === 'quality')) await benchRetrievalQuality();
if (only === undefined || only === 'quality' || only === 'confidence') await benchConfidence();
if (only === undefined || only === 'requests') await benchRequests('dev');
if (only === undefined || only === 'goals') await benchGoals('dev');
if (only === 'held') await benchRequests('held');
if (hasSets && (only === undefined || only === 'speed')) await benchRetrievalSpeed();
