import { builtinRetriever } from '../src/search/builtin-retriever.ts';
import { rankGoal } from '../src/search/goals/rank-goal.ts';
import { systemClock } from '../src/system/clock.ts';
import { printTable } from './measure.ts';
import { readCatalogue } from './requests/catalogue-list.ts';
import { cataloguesOf, type Part, readRequests, type WrittenRequest } from './requests/read-requests.ts';
import { type ToolRow, toSpecs } from './retrieval-data.ts';
import { differenceOf } from './retrieval-intervals.ts';
import { type Method, methods } from './retrieval-methods.ts';

const LIMIT = 10;
const PEERS = ['MiniSearch', 'BM25 full text'];

/** The share of the needed tools among the first 5 and 10, and whether all of them are there. */
type Reached = readonly [recall5: number, recall10: number, all5: number, all10: number];
const REACHED = ['Recall@5', 'Recall@10', 'all in 5', 'all in 10'];

/** How many tools of a job of several steps are found: by goal, by plain search, and by others. */
export async function benchGoals(part: Part): Promise<void> {
  const plain = (await methods()).filter(({ name }) => name.startsWith('ours') || PEERS.includes(name));
  const compared = [GOAL, ...plain].map((method) => ({ method, several: [] as Reached[], single: [] as Reached[] }));
  for (const name of cataloguesOf(part)) {
    const rows = readCatalogue(name);
    if (rows === undefined) continue;
    const requests = readRequests(name).filter(({ relevant }) => relevant.length > 0);
    for (const { method, several, single } of compared) {
      const rank = await method.build(rows);
      for (const request of requests) {
        if (request.voice !== 'several' && !SINGLE.includes(request.voice)) continue;
        const reached = reachedBy(await rank(request.query), request);
        (request.voice === 'several' ? several : single).push(reached);
      }
    }
  }
  const count = compared[0]?.several.length ?? 0;
  if (count === 0) return;
  printTable(
    `${part}: ${count} jobs that need several tools`,
    tableOf(compared.map(({ method, several }) => [method.name, several])),
  );
  printTable(
    'requests that need one tool, as agents ask and short ones',
    tableOf(compared.map(({ method, single }) => [method.name, single])),
  );
}

const SINGLE: readonly string[] = ['agent', 'short'];

const GOAL: Method = {
  name: 'ours, as a goal',
  async build(tools: readonly ToolRow[]) {
    const retriever = builtinRetriever({ clock: systemClock, warn: console.error });
    const specs = toSpecs(tools);
    retriever.add(specs);
    const byName = new Map(specs.map((spec, index) => [spec.name, { spec, id: tools[index]?.id ?? '' }]));
    return async (query) => {
      const found = await rankGoal(query, {
        limit: LIMIT,
        rank: (words, limit) => retriever.rank(words, { limit }),
        toolOf: (name) => {
          const spec = byName.get(name)?.spec;
          return spec && { origin: spec.origin, source: spec.source, preference: undefined };
        },
      });
      return found.map(({ name }) => byName.get(name)?.id ?? '');
    };
  },
};

function reachedBy(found: readonly string[], { relevant }: WrittenRequest): Reached {
  const recall = (depth: number) =>
    found.slice(0, depth).filter((id) => relevant.includes(id)).length / new Set(relevant).size;
  const [recall5, recall10] = [recall(5), recall(LIMIT)];
  return [recall5, recall10, recall5 === 1 ? 1 : 0, recall10 === 1 ? 1 : 0];
}

function tableOf(compared: readonly (readonly [name: string, reached: readonly Reached[]])[]): string[][] {
  const [, goal = []] = compared[0] ?? [];
  const column = (reached: readonly Reached[], index: number) => reached.map((one) => one[index] ?? 0);
  return [
    [
      'method',
      ...REACHED,
      ...REACHED.map((heading, index) => (index === 0 ? `a goal is better by (95 %): ${heading}` : heading)),
    ],
    ...compared.map(([name, reached]) => [
      name,
      ...REACHED.map((_, index) => percent(column(reached, index))),
      ...REACHED.map((_, index) => (reached === goal ? '' : differenceOf(column(goal, index), column(reached, index)))),
    ]),
  ];
}

function percent(values: readonly number[]): string {
  return ((100 * values.reduce((sum, value) => sum + value, 0)) / Math.max(1, values.length)).toFixed(1);
}
