/** One thing to time. */
export interface Contender {
  readonly name: string;
  /** Told in the table beside the figure. */
  readonly note?: string;
  run(): unknown;
}

/** A figure of every round. */
export interface Spread {
  readonly mean: number;
  readonly median: number;
}

export interface Timing {
  readonly name: string;
  readonly note: string;
  /** Median time of the rounds. */
  readonly microseconds: number;
  /** CPU time of this thread: garbage that it collects counts, and whatever else runs on the machine does not. */
  readonly thread: Spread;
  /** CPU time of all threads of the process: garbage and rows are also handled on others. */
  readonly process: Spread;
}

interface Samples {
  readonly wall: number[];
  readonly thread: number[];
  readonly process: number[];
}

const ROUNDS = 60;
/** Long enough for the clock of the CPU time, which some systems advance by milliseconds. */
const ROUND_MS = 20;

/** Cost of one call of each contender. Rounds take turns, so that a noisy moment hits all alike. */
export async function compare(contenders: readonly Contender[]): Promise<readonly Timing[]> {
  const measured: { contender: Contender; count: number; samples: Samples }[] = [];
  for (const contender of contenders)
    measured.push({ contender, count: await batchSize(contender), samples: { wall: [], thread: [], process: [] } });
  for (let round = 0; round < ROUNDS; round++) {
    for (const { contender, count, samples } of measured) await measureBatch(contender, count, samples);
  }
  return measured.map(({ contender, samples }) => ({
    name: contender.name,
    note: contender.note ?? '',
    microseconds: median(samples.wall),
    thread: spreadOf(samples.thread),
    process: spreadOf(samples.process),
  }));
}

async function measureBatch(contender: Contender, count: number, samples: Samples): Promise<void> {
  const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];
  samples.wall.push(await timeBatch(contender, count));
  samples.thread.push(microsecondsOf(process.threadCpuUsage(thread)) / count);
  samples.process.push(microsecondsOf(process.cpuUsage(all)) / count);
}

/** User and system time together. */
export function microsecondsOf({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

export function spreadOf(values: readonly number[]): Spread {
  return { mean: values.reduce((sum, value) => sum + value, 0) / values.length, median: median(values) };
}

const WARM_UP_MS = 800; // compiling takes its time while other programs run

const MIN_CALLS = 10;

/** How many calls fill a round, measured with warm code. */
async function batchSize(contender: Contender): Promise<number> {
  const end = performance.now() + WARM_UP_MS;
  const times: number[] = [];
  while (performance.now() < end) times.push(await timeBatch(contender, 100));
  return Math.max(MIN_CALLS, Math.round((ROUND_MS * 1000) / median(times)));
}

/** Microseconds a call. */
async function timeBatch(contender: Contender, count: number): Promise<number> {
  const begin = performance.now();
  for (let index = 0; index < count; index++) await contender.run();
  return ((performance.now() - begin) * 1000) / count;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Prints rows under a heading, columns aligned. */
export function printTable(heading: string, rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  console.log(`\n${heading}`);
  for (const row of rows)
    console.log(
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}`,
    );
}

/** Medians in microseconds of contenders that take turns call by call: whatever the machine does just then hits all alike. */
export async function takeTurns(
  runs: readonly (() => unknown)[],
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<readonly number[]> {
  const times = runs.map((): number[] => []);
  for (let round = 0; round < rounds + warmUp; round++) {
    for (const [index, run] of runs.entries()) {
      const begin = performance.now();
      await run();
      if (round >= warmUp) times[index]?.push((performance.now() - begin) * 1000);
    }
  }
  return times.map(median);
}
