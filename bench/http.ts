import { once } from 'node:events';
import { createCrib } from 'toolcrib';
import { median, printTable } from './measure.ts';
import { createProcesses } from './processes.ts';

const ROUNDS = 15;
const CALLS = 400;
const WARM_UP = 3000;
const IN_FLIGHT = 16;

interface Contender {
  readonly name: string;
  run(): Promise<unknown>;
}

interface Cost {
  /** Of calls one after the other. */
  readonly timesUs: number[];
  /** With many in flight, round by round. */
  readonly loadedUs: number[];
  /** Processor time of this process, round by round. */
  readonly cpuUs: number[];
}

/** What the crib adds to an HTTP request: all gates, templates, the address check and bounds, beside a bare `fetch`. */
export async function benchHttp(): Promise<void> {
  const processes = createProcesses();
  try {
    const host = await startServer(processes);
    const crib = await openCrib(host);
    const chest = await crib.open();
    const contenders: readonly Contender[] = [
      { name: 'fetch', run: async () => (await fetch(`http://${host}/weather/Oslo?units=si`)).json() },
      {
        name: 'the crib',
        async run() {
          const result = await chest.call('weather', { city: 'Oslo', units: 'si' });
          if (!result.ok) throw new Error(`the crib answered ${JSON.stringify(result)}`);
        },
      },
    ];
    const costs = await measureAll(contenders);
    print(costs);
    await crib.close();
  } finally {
    await processes.end();
  }
}

async function startServer(processes: ReturnType<typeof createProcesses>): Promise<string> {
  const { child } = processes.start([`${import.meta.dirname}/peers/json-http.ts`]);
  const [line] = await once(child.stdout, 'data');
  return `127.0.0.1:${JSON.parse(String(line)).port}`;
}

function openCrib(host: string) {
  const text = { type: 'string' };
  const weather = {
    name: 'weather',
    description: 'Tells the weather',
    input: { type: 'object', properties: { city: text, units: text }, required: ['city'] },
    run: { kind: 'http', url: `http://${host}/weather/{city}`, query: { units: '{units}' } },
  };
  const config = { executors: { http: { allowPrivate: [host] } }, tools: [weather], extensions: { audit: false } };
  return createCrib({ config: config as never, store: { url: 'memory:' } }); // as it would stand in a file
}

async function measureAll(contenders: readonly Contender[]): Promise<ReadonlyMap<Contender, Cost>> {
  const costs = new Map(
    contenders.map((contender): [Contender, Cost] => [contender, { timesUs: [], loadedUs: [], cpuUs: [] }]),
  );
  for (const { run } of contenders) for (let count = 0; count < WARM_UP; count++) await run();
  // Rounds take turns, so that a noisy moment hits both alike.
  for (let round = 0; round < ROUNDS; round++) for (const [contender, cost] of costs) await measure(contender, cost);
  return costs;
}

async function measure({ run }: Contender, { timesUs, loadedUs, cpuUs }: Cost): Promise<void> {
  const before = process.cpuUsage();
  for (let count = 0; count < CALLS; count++) {
    const begin = performance.now();
    await run();
    timesUs.push((performance.now() - begin) * 1000);
  }
  const { user, system } = process.cpuUsage(before);
  cpuUs.push((user + system) / CALLS);
  const begin = performance.now();
  const work = async () => {
    for (let count = 0; count < CALLS / IN_FLIGHT; count++) await run();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  loadedUs.push(((performance.now() - begin) * 1000) / CALLS);
}

function print(costs: ReadonlyMap<Contender, Cost>): void {
  const [bare] = costs.values();
  const show = (cost: Cost, key: keyof Cost): readonly string[] => {
    const [value, base] = [median(cost[key]), median(bare?.[key] ?? [])];
    return [`${Math.round(value)} us`, cost === bare ? '' : `x ${(value / base).toFixed(2)}`];
  };
  printTable(
    `An HTTP request to a server on this machine: us a call, one after the other, and with ${IN_FLIGHT} in flight`,
    [
      ['', 'median', '', 'in flight', '', 'processor', ''],
      ...[...costs].map(([{ name }, cost]) => [
        name,
        ...show(cost, 'timesUs'),
        ...show(cost, 'loadedUs'),
        ...show(cost, 'cpuUs'),
      ]),
    ],
  );
}

// node bench/http.ts
if (import.meta.main) await benchHttp();
