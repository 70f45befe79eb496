import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chest, createCrib, defineTool } from 'toolcrib';
import { openGuarded } from './call-contenders.ts';
import { drawPanels, type Line } from './chart.ts';
import { type Contender, compare, printTable, type Timing } from './measure.ts';

const TOOLS = [10, 100, 1000, 10_000, 100_000];
const AT_ONCE = [1, 10, 100, 1000];
const CHART = join(import.meta.dirname, '../docs/images/cost-of-a-call.svg');

/** The cost of a call of an asynchronous tool by the number of tools and of calls at once: a table and a chart. */
export async function benchScale(): Promise<void> {
  const byTools: Contender[] = [];
  for (const count of TOOLS) byTools.push({ name: String(count), run: callsOfAny(await openMany(count), count) });
  const timedByTools = await compare(byTools);
  const guarded = await openGuarded();
  const timedAtOnce: Timing[] = [];
  for (const timing of await compare(
    AT_ONCE.map((count) => ({ name: String(count), run: callAtOnce(guarded, count) })),
  ))
    timedAtOnce.push(perCall(timing));
  printTable('A call as the crib comes, by the number of its tools: us of CPU, mean', rowsOf('tools', timedByTools));
  printTable('A call under all guards, by the number of calls at once: us of CPU, mean', rowsOf('calls', timedAtOnce));
  mkdirSync(join(CHART, '..'), { recursive: true });
  const panels = [
    { title: 'By the number of tools, as a crib comes', lines: linesOf(timedByTools) },
    { title: 'By the number of calls at once, all guards on', lines: linesOf(timedAtOnce) },
  ];
  writeFileSync(CHART, drawPanels(panels, 'us of CPU for one call of an asynchronous tool'));
}

function openMany(count: number): Promise<Chest> {
  const tools = Array.from({ length: count }, (_, index) =>
    defineTool({
      name: `tool_${index}`,
      description: `Does the thing number ${index}`,
      input: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false },
      run: async ({ a }) => a,
    }),
  );
  return createCrib({ tools }).then((crib) => crib.open(undefined, { id: 'alice' }));
}

/** Tools that are called in turn, so that a large crib cannot live from one warm entry. */
const CALLED = 100;

function callsOfAny(chest: Chest, count: number): () => Promise<unknown> {
  const names = Array.from({ length: CALLED }, (_, index) => `tool_${Math.floor((index * count) / CALLED)}`);
  let next = 0;
  return () => chest.call(names[next++ % CALLED] ?? '', { a: 1 });
}

function callAtOnce(chest: Chest, count: number): () => Promise<unknown> {
  return () => Promise.all(Array.from({ length: count }, () => chest.call('add', { a: 1, b: 2 })));
}

function perCall({ name, note, microseconds, thread, process: all }: Timing): Timing {
  const shared = (value: number) => value / Number(name);
  const spread = ({ mean, median }: Timing['thread']) => ({ mean: shared(mean), median: shared(median) });
  return { name, note, microseconds: shared(microseconds), thread: spread(thread), process: spread(all) };
}

function rowsOf(what: string, timings: readonly Timing[]): readonly (readonly string[])[] {
  return [
    [what, 'this thread', 'all threads'],
    ...timings.map(({ name, thread, process: all }) => [
      Number(name).toLocaleString('en'),
      thread.mean.toFixed(2),
      all.mean.toFixed(2),
    ]),
  ];
}

function linesOf(timings: readonly Timing[]): readonly Line[] {
  const line = (name: string, key: 'thread' | 'process'): Line => ({
    name,
    points: timings.map((timing) => [Number(timing.name), timing[key].mean] as const),
  });
  return [line('this thread', 'thread'), line('all threads', 'process')];
}
