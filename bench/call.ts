import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { OPENINGS } from './call-contenders.ts';
import { type Contender, compare, median, printTable, type Spread } from './measure.ts';

/** A call of an asynchronous tool, beside the bare function and the peers: warm in one process, cold in one each. */
export async function benchCall(): Promise<void> {
  const contenders: Contender[] = [];
  for (const { open, ...about } of OPENINGS) contenders.push({ ...about, run: await open() });
  const timings = await compare(contenders);
  const inTwo = ({ mean, median: middle }: Spread) => `${mean.toFixed(2)} / ${middle.toFixed(2)}`;
  printTable('One warm call of add, us (mean / median of the rounds)', [
    ['', 'CPU, this thread', 'CPU, all threads', 'wall, median', ''],
    ...timings.map((timing) => [
      timing.name,
      inTwo(timing.thread),
      inTwo(timing.process),
      timing.microseconds.toFixed(2),
      timing.note,
    ]),
  ]);
  printTable(`Cold calls of add in a new process, CPU of all threads, median of ${COLD_RUNS}`, [
    ['', 'the first', 'each of the first 100'],
    ...OPENINGS.map(({ name }) => {
      const runs = Array.from({ length: COLD_RUNS }, () => coldCall(name));
      const [first, hundred] = [runs.map((run) => run.first), runs.map((run) => run.hundred)];
      return [name, `${(median(first) / 1000).toFixed(1)} ms`, `${median(hundred).toFixed(0)} us`];
    }),
  ]);
}

const COLD_RUNS = 5;

function coldCall(name: string): { readonly first: number; readonly hundred: number } {
  const program = join(import.meta.dirname, 'peers/cold-call.ts');
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, name], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`a cold call of ${name} failed: ${stderr}`);
  return JSON.parse(stdout);
}
