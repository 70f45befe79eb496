import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contender, contendersFor, cpuOf, type Server, type Setting } from './gateway-contenders.ts';
import { benchLarge, benchList, benchMegabyte, TEXT } from './gateway-large.ts';
import { median, printTable } from './measure.ts';
import { createProcesses } from './processes.ts';
import { type EchoClient, REVISIONS, type Revision } from './wire-client.ts';

/** What can be measured by itself: small calls by kind of server, a megabyte, results of 20 MB, and long lists. */
const SECTIONS = ['stdio', 'events', 'json', 'megabyte', 'large', 'list'] as const;
type Section = (typeof SECTIONS)[number];

const ROUNDS = 6;
/** Calls until a contender is warm, by calls: on a busy machine its code would not be compiled after a fixed time. Slow ones get no more than the time. */
const WARM_UP = { calls: 10_000, ms: 20_000 };
const ROUND_MS = 700;
/** The begin of each round is not measured: V8 shrinks the heap of a contender that waits for its turn. */
const AWAKE_MS = 400;
const COLD_CALLS = 400;
const IN_FLIGHT = 64;

interface Options {
  readonly sections: readonly Section[];
  readonly revision: Revision;
  /** A pattern for the names of those that are wanted. */
  readonly only: string;
  /** Where profiles of our gateways are written. */
  readonly profile: string | undefined;
  readonly beside: string | undefined;
}

const USUAL: Options = { sections: SECTIONS, revision: '2025-11-25', only: '', profile: undefined, beside: undefined };

/** What a gateway adds to a call, beside one that only copies bytes and beside peers without guards. */
export async function benchGateway({ sections, revision, only, profile, beside }: Options = USUAL): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-gateway-'));
  process.env.XDG_STATE_HOME = join(folder, 'state'); // no gateway writes into the home of the person who runs the bench
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder); // also if somebody ends the bench
  for (const section of sections) {
    const processes = createProcesses();
    const setting = { processes, folder, only: new RegExp(only), profileFolder: profile, beside };
    try {
      if (section === 'megabyte') for (const server of SERVERS) await benchMegabyte(server, setting, revision);
      else if (section === 'large') for (const server of SERVERS) await benchLarge(server, setting, revision);
      else if (section === 'list') await benchList(setting, revision);
      else await benchCalls(section, setting, revision);
    } finally {
      await processes.end();
    }
  }
  removeFolder();
}

const SERVERS: readonly Server[] = ['stdio', 'json', 'events'];

/** One contender, connected. */
interface Row {
  readonly name: string;
  readonly client: EchoClient;
  readonly roots: readonly number[];
  /** Of the first calls of a fresh process, in microseconds of its processor time. */
  readonly coldUs: number;
  readonly single: Rounds;
  readonly loaded: Rounds;
}

/** What a contender did, round by round. */
interface Rounds {
  readonly timesUs: number[];
  readonly callsPerSecond: number[];
  /** Processor time of a call: of what stands between client and server. */
  readonly cpuUs: number[];
}

const NO_ROUNDS = (): Rounds => ({ timesUs: [], callsPerSecond: [], cpuUs: [] });

/** Rounds take turns, in both directions, so that a noisy moment hits all alike. */
async function benchCalls(server: Server, setting: Setting, revision: Revision): Promise<void> {
  const rows: Row[] = [];
  for (const contender of await contendersFor(server, setting)) rows.push(await openRow(contender, revision));
  for (const { client } of rows) await callFor(WARM_UP.ms, client, { inFlight: IN_FLIGHT, most: WARM_UP.calls });
  for (let round = 0; round < ROUNDS; round++)
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      await measure(row, row.single, 1);
      await measure(row, row.loaded, IN_FLIGHT);
    }
  printCalls(server, rows, revision);
  for (const { client } of rows) client.close();
}

async function openRow({ name, open }: Contender, revision: Revision): Promise<Row> {
  const { client, roots } = await open(revision);
  const before = cpuOf(roots);
  for (let calls = 0; calls < COLD_CALLS; calls++) await client.echo(TEXT);
  const coldUs = (cpuOf(roots) - before) / COLD_CALLS;
  return { name, client, roots, coldUs, single: NO_ROUNDS(), loaded: NO_ROUNDS() };
}

async function measure({ client, roots }: Row, rounds: Rounds, inFlight: number): Promise<void> {
  await callFor(AWAKE_MS, client, { inFlight });
  const before = cpuOf(roots);
  const begin = performance.now();
  const times = await callFor(ROUND_MS, client, { inFlight });
  rounds.callsPerSecond.push((times.length * 1000) / (performance.now() - begin));
  rounds.cpuUs.push((cpuOf(roots) - before) / times.length);
  for (const time of times) rounds.timesUs.push(time);
}

interface Load {
  readonly inFlight: number;
  readonly most?: number;
}

/** Times of single calls in microseconds. */
async function callFor(
  timeMs: number,
  client: EchoClient,
  { inFlight, most = Number.POSITIVE_INFINITY }: Load,
): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + timeMs;
  const callAgain = async () => {
    for (let begin = performance.now(); begin < end && times.length < most; begin = performance.now()) {
      await client.echo(TEXT);
      times.push((performance.now() - begin) * 1000);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, callAgain));
  return times;
}

function printCalls(server: Server, rows: readonly Row[], revision: Revision): void {
  const raw = rows.find(({ name }) => name === 'raw');
  const shown = rows.map(({ name, coldUs, single, loaded }) => {
    const cpu = (rounds: Rounds, of: Rounds | undefined) => [
      `${whole(mean(rounds.cpuUs))} / ${whole(median(rounds.cpuUs))}`,
      `${(mean(rounds.cpuUs) / mean(of?.cpuUs ?? [])).toFixed(2)} x`,
    ];
    const [one, many] = [cpu(single, raw?.single), cpu(loaded, raw?.loaded)];
    const isDirect = name === 'direct';
    return [
      ...[name, isDirect ? '' : whole(coldUs), whole(median(single.timesUs)), ...(isDirect ? ['', ''] : one)],
      ...[
        whole(median(loaded.callsPerSecond)),
        whole(percentile(loaded.timesUs, 0.99)),
        ...(isDirect ? ['', ''] : many),
      ],
    ];
  });
  printTable(
    `${server}: tools/call with 1 kB, client of ${revision}: us a call; processor time of the gateway as mean / median of rounds`,
    [['', 'cold', 'one: p50', 'CPU', '', `${IN_FLIGHT} in flight: calls/s`, 'p99', 'CPU', ''], ...shown],
  );
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}

// node bench/gateway.ts [SECTION...] [--client REVISION] [--only PATTERN] [--profile FOLDER] [--beside FILE, another build's dist/cli/main.js]
if (import.meta.main) {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { client: text, only: text, profile: text, beside: text },
  });
  const wanted = SECTIONS.filter((section) => positionals.length === 0 || positionals.includes(section));
  const revision = REVISIONS.find((known) => known === values.client) ?? USUAL.revision;
  const { only = '', profile, beside } = values;
  await benchGateway({ sections: wanted, revision, only, profile, beside });
}
