import { setTimeout } from 'node:timers/promises';
import { type Chest, createCrib, defineTool } from 'toolcrib';
import { median, printTable } from './measure.ts';
import { benchJob } from './script-job.ts';

const ROUNDS = 30;
const MANY = 20;
const NO_INPUT = { type: 'object' as const, properties: {} };

/** Scripts: a fresh machine, and what a call in a script costs beside the same call without one. */
export async function benchScript(): Promise<void> {
  const tools = [
    defineTool({ name: 'instant', description: 'Answer at once', input: NO_INPUT, run: () => 1 }),
    defineTool({ name: 'slow', description: 'Answer after 20 ms', input: NO_INPUT, run: () => setTimeout(20, 1) }),
  ];
  const crib = await createCrib({ tools, profiles: { agent: { expose: 'script' } } });
  const chest = await crib.open('agent', { id: 'alice' });
  const script = (code: string) => run(chest, 'execute_script', { code });
  const cold = await timed(() => script('return 1'));
  const rested = await medianOf(
    () => script('return 1'),
    () => setTimeout(30),
  );
  const fresh = await medianOf(() => script('return 1'));
  const rows = [
    ['the first script of a process', ms(cold), 'with its thread'],
    ['a script that returns at once', ms(rested), 'on a warm thread, its machine was made meanwhile'],
    ['the same, one after another', ms(fresh), 'with the time to make its machine'],
  ];
  for (const name of ['instant', 'slow']) {
    const direct = await medianOf(() => Promise.all(Array.from({ length: MANY }, () => run(chest, name))));
    const code = `await Promise.all(Array.from({ length: ${MANY} }, () => tools.${name}()))`;
    const inside = await medianOf(() => script(code));
    const more = ((inside - fresh - direct) * 1000) / MANY;
    rows.push([
      `${MANY} calls in parallel, ${name}`,
      ms(inside),
      `${ms(direct)} without a script; ${more.toFixed(0)} us more a call`,
    ]);
  }
  const direct = await medianOf(async () => {
    for (let count = 0; count < 100; count++) await run(chest, 'instant');
  });
  const inside = await medianOf(() => script('for (let i = 0; i < 100; i++) await tools.instant()'));
  const more = ((inside - fresh - direct) * 1000) / 100;
  rows.push([
    '100 calls one after another, instant',
    ms(inside),
    `${ms(direct)} without a script; ${more.toFixed(0)} us more a call`,
  ]);
  await crib.close();
  printTable('Scripts', rows);
  await benchJob();
}

async function run(chest: Chest, name: string, input: object = {}): Promise<void> {
  const result = await chest.call(name, input);
  if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result)}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

async function medianOf(work: () => Promise<unknown>, before?: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await before?.();
    times.push(await timed(work));
  }
  return median(times);
}

function ms(time: number): string {
  return `${time.toFixed(2)} ms`;
}

if (import.meta.main) await benchScript();
