import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contender, startContenders, within } from './gateway-contenders.ts';
import { median, printTable } from './measure.ts';
import { createProcesses, familyOf, type Member, scriptOf } from './processes.ts';
import type { EchoClient, Revision } from './wire-client.ts';

const ROUNDS = 5;
const WARM_UP_MS = 3000;
const SEQUENTIAL_MS = 400;
const LOADED_MS = 1000;
const IN_FLIGHT = 16;
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(2);
const MEGABYTE = 'x'.repeat(1_000_000);
const LARGE_MS = 10_000;

/** What a gateway adds to a call, beside peers without guards. Rounds take turns, so that a noisy moment hits all alike. */
export async function benchGateway({ only = '', profile }: Options = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-gateway-'));
  const processes = createProcesses();
  process.env.XDG_STATE_HOME = join(folder, 'state'); // no gateway writes into the home of the person who runs the bench
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder); // also if somebody ends the bench
  try {
    const contenders = await startContenders({ processes, folder, only: new RegExp(only), profileFolder: profile });
    const rows: Row[] = [];
    for (const contender of contenders)
      for (const revision of contender.revisions)
        rows.push({ contender, revision, ...(await contender.open(revision)), ...EMPTY() });
    for (const row of rows) await callFor(WARM_UP_MS, row.client, IN_FLIGHT);
    for (let round = 0; round < ROUNDS; round++) for (const row of rows) await measure(row);
    const large = new Map<Row, string>();
    for (const row of rows) large.set(row, await tryLarge(row.client));
    print(rows, large);
    for (const { client } of rows) client.close();
  } finally {
    await processes.end();
    removeFolder();
  }
}

interface Options {
  /** A pattern for the names of those that are wanted. */
  readonly only?: string | undefined;
  /** Where profiles of our gateways are written. */
  readonly profile?: string | undefined;
}

interface Row {
  readonly contender: Contender;
  readonly revision: Revision;
  readonly client: EchoClient;
  readonly roots: readonly number[];
  /** Of calls one after the other. */
  readonly timesUs: number[];
  /** With many in flight, round by round. */
  readonly callsPerSecond: number[];
  /** Processor time of a call: of all processes, and of what stands between client and server. */
  readonly allCpuUs: number[];
  readonly gatewayCpuUs: number[];
}

const EMPTY = () => ({ timesUs: [], callsPerSecond: [], allCpuUs: [], gatewayCpuUs: [] });

async function measure(row: Row): Promise<void> {
  const { client, roots } = row;
  row.timesUs.push(...(await callFor(SEQUENTIAL_MS, client, 1)));
  const before = cpuOf(roots);
  const begin = performance.now();
  const { length: calls } = await callFor(LOADED_MS, client, IN_FLIGHT);
  row.callsPerSecond.push((calls * 1000) / (performance.now() - begin));
  const after = cpuOf(roots);
  row.allCpuUs.push((after.allUs - before.allUs) / calls);
  row.gatewayCpuUs.push((after.gatewayUs - before.gatewayUs) / calls);
}

/** Times of single calls in microseconds. */
async function callFor(timeMs: number, client: EchoClient, inFlight: number): Promise<readonly number[]> {
  const times: number[] = [];
  const end = performance.now() + timeMs;
  const callAgain = async () => {
    for (let begin = performance.now(); begin < end; begin = performance.now()) {
      await client.echo(TEXT);
      times.push((performance.now() - begin) * 1000);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, callAgain));
  return times;
}

/** Of the client, which is this process, too. Whoever starts a process for each call gets off lightly: many are missed. */
function cpuOf(roots: readonly number[]): { readonly allUs: number; readonly gatewayUs: number } {
  const family = familyOf(roots);
  const between = family.filter(({ pid }) => !/\/echo-\w+\.ts$/.test(scriptOf(pid)));
  const { user, system } = process.cpuUsage();
  return { allUs: user + system + cpuSum(family), gatewayUs: cpuSum(between) };
}

function cpuSum(members: readonly Member[]): number {
  return members.reduce((sum, { cpuUs }) => sum + cpuUs, 0);
}

async function tryLarge(client: EchoClient): Promise<string> {
  try {
    await within(LARGE_MS, client.echo(MEGABYTE));
    return 'works';
  } catch {
    return 'fails';
  }
}

function print(rows: readonly Row[], large: ReadonlyMap<Row, string>): void {
  const shown = rows.map((row) => {
    const { contender, revision, timesUs, callsPerSecond, allCpuUs, gatewayCpuUs } = row;
    const bare = rows.find(
      (other) =>
        other.contender.name === 'direct' && other.contender.server === contender.server && other.revision === revision,
    );
    const added = row === bare ? '' : `+${whole(median(timesUs) - median(bare?.timesUs ?? []))}`;
    return [
      ...[contender.server, revision, contender.name, whole(median(timesUs)), added, whole(percentile(timesUs, 0.99))],
      ...[whole(median(callsPerSecond)), whole(median(allCpuUs)), row === bare ? '' : whole(median(gatewayCpuUs))],
      large.get(row) ?? '',
    ];
  });
  printTable(`One tools/call of a small echo tool: us a call, one after the other; calls/s, ${IN_FLIGHT} in flight`, [
    ['server', 'client', '', 'median', 'added', 'p99', 'calls/s', 'CPU of all', 'of the gateway', '1 MB'],
    ...shown,
  ]);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}

// node bench/gateway.ts [--only PATTERN] [--profile FOLDER]
if (import.meta.main)
  await benchGateway(parseArgs({ options: { only: { type: 'string' }, profile: { type: 'string' } } }).values);
