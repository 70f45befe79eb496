import { between, contendersFor, cpuOf, type Server, type Setting, within } from './gateway-contenders.ts';
import { median, printTable } from './measure.ts';
import { memoryOf } from './processes.ts';
import type { Revision } from './wire-client.ts';

/** The text of small calls. */
export const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(23); // 1 kB
const MEGABYTE = 1_000_000;
const LARGE_CALLS = 12;
const LARGE_MS = 10_000;
const HUGE = 20_000_000;
const HUGE_CALLS = 3;
const WARM_UP_CALLS = 400;
const MANY_TOOLS = 10_000;

/** A megabyte of arguments, and one of a result: one after the other, after some to warm up. */
export async function benchMegabyte(server: Server, setting: Setting, revision: Revision): Promise<void> {
  const text = 'x'.repeat(MEGABYTE);
  const rows: string[][] = [];
  for (const { name, open } of await contendersFor(server, setting)) {
    const { client, roots } = await open(revision);
    const sent = await timeLarge(() => client.echo(text), roots);
    const received = await timeLarge(() => client.echo('x', MEGABYTE), roots);
    rows.push([name, ...sent, ...received]);
    client.close();
  }
  printTable(`${server}: 1 MB, ms a call, median (processor time of the gateway, mean)`, [
    ['', 'arguments', 'CPU', 'result', 'CPU'],
    ...rows,
  ]);
}

/** Results of 20 MB: what the gateway's memory grows by at most, for one at a time and for four. */
export async function benchLarge(server: Server, setting: Setting, revision: Revision): Promise<void> {
  const rows: string[][] = [];
  for (const { name, open } of await contendersFor(server, setting)) {
    const { client, roots } = await open(revision);
    for (let calls = 0; calls < WARM_UP_CALLS; calls++) await client.echo(TEXT);
    const call = () => client.echo('x', HUGE);
    const idle = between(roots).reduce((sum, { pid }) => sum + memoryOf(pid).now, 0);
    const peak = () => between(roots).reduce((sum, { pid }) => sum + memoryOf(pid).peak, 0) - idle;
    const one = await timeLarge(call, roots, HUGE_CALLS);
    const peakOfOne = peak();
    const four = await timeLarge(async () => void (await Promise.all([call(), call(), call(), call()])), roots, 2);
    rows.push([name, ...one, megabytes(peakOfOne), four[0] ?? '', megabytes(peak())]);
    client.close();
  }
  printTable(`${server}: a result of 20 MB: ms, and MB that the gateway grows by`, [
    ['', 'one', 'CPU', 'grows by', 'four at once', 'grows by'],
    ...rows,
  ]);
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString('en');
}

async function timeLarge(
  call: () => Promise<void>,
  roots: readonly number[],
  calls = LARGE_CALLS,
): Promise<readonly string[]> {
  const times: number[] = [];
  let before = 0;
  for (let count = 0; count < calls * 2; count++) {
    if (count === calls) before = cpuOf(roots);
    const begin = performance.now();
    const works = await within(LARGE_MS, call()).then(
      () => true,
      () => false,
    );
    if (!works) return ['fails', ''];
    if (count >= calls) times.push(performance.now() - begin);
  }
  return [median(times).toFixed(1), ((cpuOf(roots) - before) / calls / 1000).toFixed(1)];
}

/** `tools/list` of a server with many tools, page by page as the gateway wants it. */
export async function benchList(setting: Setting, revision: Revision): Promise<void> {
  const rows: string[][] = [];
  for (const { name, open } of await contendersFor('stdio', setting, MANY_TOOLS)) {
    const { client, roots } = await open(revision);
    const count = await client.list();
    const [ms = '', cpu = ''] = await timeLarge(async () => void (await client.list()), roots);
    rows.push([name, `${count}`, ms, cpu]);
    client.close();
  }
  printTable(`tools/list of a server with ${MANY_TOOLS} tools, first page, ms`, [
    ['', 'tools', 'time', 'CPU'],
    ...rows,
  ]);
}
