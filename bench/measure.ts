/** One thing to time. */
export interface Contender {
  readonly name: string;
  /** Told in the table beside the figure. */
  readonly note?: string;
  run(): unknown;
}

export interface Timing {
  readonly name: string;
  readonly note: string;
  /** Median of the rounds. */
  readonly microseconds: number;
  /** Mean CPU time of this thread: collecting garbage counts, and whatever else runs on the machine does not. */
  readonly threadMicroseconds: number;
}

const ROUNDS = 400;
/** Shorter than a turn of the scheduler, so that most rounds are not interrupted. */
const ROUND_MS = 1.5;

/** Time of one call of each contender. Rounds take turns, so that a noisy moment hits all alike. */
export async function compare(contenders: readonly Contender[]): Promise<readonly Timing[]> {
  const batches = new Map<Contender, number>();
  for (const contender of contenders) batches.set(contender, await batchSize(contender));
  const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  const cpu = new Map<Contender, number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of contenders) {
      const before = process.threadCpuUsage();
      times.get(contender)?.push(await timeBatch(contender, batches.get(contender) ?? 1));
      const { user, system } = process.threadCpuUsage(before);
      cpu.set(contender, (cpu.get(contender) ?? 0) + user + system);
    }
  }
  return contenders.map((contender) => ({
    name: contender.name,
    note: contender.note ?? '',
    microseconds: median(times.get(contender) ?? []),
    threadMicroseconds: (cpu.get(contender) ?? 0) / (ROUNDS * (batches.get(contender) ?? 1)),
  }));
}

const WARM_UP_MS = 800; // compiling takes its time while other programs run

/** How many calls fill a round, measured with warm code. */
async function batchSize(contender: Contender): Promise<number> {
  const end = performance.now() + WARM_UP_MS;
  const times: number[] = [];
  while (performance.now() < end) times.push(await timeBatch(contender, 100));
  return Math.max(10, Math.round((ROUND_MS * 1000) / median(times)));
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
