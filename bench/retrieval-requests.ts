import { builtinRetriever } from '../src/search/builtin-retriever.ts';
import { evaluate, type Quality } from '../src/search/evaluate.ts';
import { systemClock } from '../src/system/clock.ts';
import { printTable } from './measure.ts';
import { readCatalogue } from './requests/catalogue-list.ts';
import { cataloguesOf, type Part, readRequests, VOICES, type WrittenRequest } from './requests/read-requests.ts';
import { type ToolRow, toSpecs } from './retrieval-data.ts';
import { differenceOf, shareOf } from './retrieval-intervals.ts';
import { type Method, methods } from './retrieval-methods.ts';

type Outcome = Quality['outcomes'][number] & WrittenRequest;

const LIMIT = 10;
const SHOWN = ['ours', 'lexical only', 'MiniSearch', 'BM25 full text'];

/** How good search is on requests written for catalogues of real products, by voice, beside BM25 and MiniSearch. */
export async function benchRequests(part: Part): Promise<void> {
  const catalogues = cataloguesOf(part).filter((name) => readRequests(name).length > 0);
  const present = catalogues.filter((name) => readCatalogue(name) !== undefined);
  if (present.length < catalogues.length)
    console.log(
      `${catalogues.length - present.length} catalogues are not in the cache; get them by: npm run requests -- fetch`,
    );
  const chosen = (await methods()).filter(({ name }) => SHOWN.some((one) => name.startsWith(one)));
  const outcomes = new Map(chosen.map(({ name }) => [name, [] as Outcome[]]));
  const asItIs: Outcome[] = [];
  let tools = 0;
  for (const name of present) {
    const rows = readCatalogue(name) ?? [];
    tools += rows.length;
    for (const method of chosen)
      outcomes.get(method.name)?.push(...(await outcomesOf(method, rows, readRequests(name))));
    asItIs.push(...(await outcomesByDefault(rows, readRequests(name))));
  }
  if (asItIs.length === 0) return;
  const answered = [...outcomes].map(
    ([name, list]) => [name, list.filter(({ relevant }) => relevant.length > 0)] as const,
  );
  const told = `${part}: ${asItIs.length} requests, ${present.length} catalogues, ${tools} tools`;
  printTable(`requests of people and agents, ${told}`, tableOf(answered));
  printTable(
    'those in English',
    tableOf(answered.map(([name, list]) => [name, list.filter(({ voice }) => voice.length > 2)])),
  );
  printTable('NDCG@10 by voice', voicesOf(answered));
  printTable('ours, as it is by default', confidenceOf(asItIs));
}

async function outcomesOf(method: Method, rows: readonly ToolRow[], requests: readonly WrittenRequest[]) {
  const rank = await method.build(rows);
  const { outcomes } = await evaluate(requests, async (query) => (await rank(query)).map((id) => ({ id })));
  return inOrder(outcomes, requests);
}

/** With the bar for hits and the confidence that a crib has. */
async function outcomesByDefault(rows: readonly ToolRow[], requests: readonly WrittenRequest[]) {
  const retriever = builtinRetriever({ clock: systemClock, warn: console.error });
  const specs = toSpecs(rows);
  retriever.add(specs);
  const ids = new Map(specs.map(({ name }, index) => [name, rows[index]?.id ?? '']));
  const { outcomes } = await evaluate(requests, async (query) =>
    (await retriever.rank(query, { limit: LIMIT })).map(({ name, confidence }) => ({
      id: ids.get(name) ?? '',
      confidence,
    })),
  );
  return inOrder(outcomes, requests);
}

/** Outcomes in the order of the requests, so that those of two methods can be paired. */
function inOrder(outcomes: Quality['outcomes'], requests: readonly WrittenRequest[]): readonly Outcome[] {
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
  return requests.flatMap((request) => ({ ...request, ...(byId.get(request.id) as Quality['outcomes'][number]) })); // one for each request
}

type Answered = readonly (readonly [string, readonly Outcome[]])[];

function tableOf(answered: Answered): string[][] {
  const [, ours = []] = answered[0] ?? [];
  return [
    ['method', 'NDCG@10', 'Recall@1', 'Recall@5', 'Recall@10', 'one in five (95 %)', 'ours is better by (95 %)'],
    ...answered.map(([name, list]) => [
      name,
      ...[ndcg, recallAt(1), recallAt(5), recallAt(10)].map((of) => percent(list.map(of))),
      shareOf(list.map(oneInFive)),
      list === ours ? '' : differenceOf(ours.map(ndcg), list.map(ndcg)),
    ]),
  ];
}

function voicesOf(answered: Answered): string[][] {
  const [, ours = []] = answered[0] ?? [];
  const of = (list: readonly Outcome[], voice: string) => list.filter((one) => one.voice === voice).map(ndcg);
  const voices = VOICES.filter((voice) => of(ours, voice).length > 0);
  return [
    [
      'voice',
      'requests',
      ...answered.map(([name]) => name),
      ...answered.slice(1).map(([name]) => `ours against ${name}`),
      'one in five, ours (95 %)',
    ],
    ...voices.map((voice) => [
      voice,
      `${of(ours, voice).length}`,
      ...answered.map(([, list]) => percent(of(list, voice))),
      ...answered.slice(1).map(([, list]) => differenceOf(of(ours, voice), of(list, voice))),
      shareOf(ours.filter((one) => one.voice === voice).map(oneInFive)),
    ]),
  ];
}

function confidenceOf(outcomes: readonly Outcome[]): string[][] {
  const low = (list: readonly Outcome[]) => shareOf(list.map(({ confidence }) => (confidence === 'low' ? 1 : 0)));
  const voices = VOICES.filter((voice) => outcomes.some((one) => one.voice === voice));
  return [
    ['voice', 'NDCG@10 (95 %)', 'nothing found, %', 'low, something fits, %', 'low, nothing fits, %'],
    ...voices.map((voice) => {
      const list = outcomes.filter((one) => one.voice === voice);
      const nothing = percent(list.map(({ found }) => (found.length === 0 ? 1 : 0)));
      return voice === 'none'
        ? [voice, '', nothing, '', low(list)]
        : [voice, shareOf(list.map(ndcg)), nothing, low(list), ''];
    }),
  ];
}

const ndcg = ({ ndcg10 }: Outcome): number => ndcg10;
const oneInFive = ({ found, relevant }: Outcome): number =>
  found.slice(0, 5).some((id) => relevant.includes(id)) ? 1 : 0;
const recallAt =
  (depth: number) =>
  ({ found, relevant }: Outcome): number =>
    found.slice(0, depth).filter((id) => relevant.includes(id)).length / relevant.length;

function percent(values: readonly number[]): string {
  return ((100 * values.reduce((sum, value) => sum + value, 0)) / Math.max(1, values.length)).toFixed(1);
}
