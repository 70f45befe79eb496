import { availableParallelism, cpus } from 'node:os';
import { evaluate, type Quality } from '../src/retrieval/evaluate.ts';
import { printTable } from './measure.ts';
import { hasSets, readSet, setsOf } from './retrieval-data.ts';
import { methods } from './retrieval-methods.ts';
import { benchRetrievalSpeed } from './retrieval-speed.ts';

/** How good search is on sets that nothing was tuned on, beside other ways to search. */
async function benchRetrievalQuality(): Promise<void> {
  const all = await methods();
  const figures = new Map(all.map(({ name }) => [name, [] as number[]]));
  const names = setsOf('dev');
  for (const name of names) {
    const set = readSet('dev', name);
    const rows: string[][] = [['method', 'NDCG@10', 'Recall@1', 'Recall@5', 'Recall@10', 'MRR', 'ms/query']];
    for (const method of all) {
      const quality = await evaluate(set.requests, await method.build(set.tools));
      figures.get(method.name)?.push(quality.ndcg10);
      rows.push([method.name, ...cellsOf(quality)]);
    }
    printTable(`${set.name}: ${set.tools.length} tools, ${set.requests.length} requests`, rows);
  }
  const percent = (value: number) => (100 * value).toFixed(1);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  printTable('NDCG@10', [
    ['method', ...names, 'mean'],
    ...[...figures].map(([name, values]) => [name, ...values.map(percent), percent(mean(values))]),
  ]);
}

function cellsOf({ ndcg10, recall1, recall5, recall10, mrr, msPerQuery }: Quality): readonly string[] {
  const shares = [ndcg10, recall1, recall5, recall10, mrr].map((share) => (100 * share).toFixed(1));
  return [...shares, msPerQuery.toFixed(3)];
}

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
if (!hasSets) console.log('The sets are not on this machine (../shared/retrieval); there is nothing to measure.');
else {
  const only = process.argv[2];
  if (only !== 'speed') await benchRetrievalQuality();
  if (only !== 'quality') await benchRetrievalSpeed();
}
