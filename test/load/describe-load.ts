import type { Sent } from './clients.ts';
import { judgeLoad } from './judge-load.ts';
import type { LoadReport } from './run-load.ts';

/** How calls ended and how long their callers waited, as tables in Markdown. */
export function describeCalls(report: LoadReport): string {
  const { sent, kills } = report;
  const outcomes = [...Map.groupBy(sent, ({ outcome }) => outcome)].sort(([, a], [, b]) => b.length - a.length);
  const { lost, twice, wrong, misrecorded } = judgeLoad(report);
  return [
    '| outcome | calls | p50 | p99 | max |',
    '|---|--:|--:|--:|--:|',
    ...outcomes.map(([outcome, calls]) => describeWaits(`\`${outcome}\``, calls)),
    describeWaits('all', sent),
    '',
    '| kills | lost | twice | wrong | not in the audit as answered |',
    '|--:|--:|--:|--:|--:|',
    `| ${kills} | ${lost} | ${twice} | ${wrong} | ${misrecorded} |`,
  ].join('\n');
}

function describeWaits(name: string, calls: readonly Sent[]): string {
  const { p50Ms, p99Ms, maxMs } = waitsOf(calls);
  return `| ${name} | ${shown(calls.length)} | ${shown(p50Ms)} ms | ${shown(p99Ms)} ms | ${shown(maxMs)} ms |`;
}

/** What the server held, as a table in Markdown. */
export function describeFigures({ before, peak, after }: LoadReport): string {
  return [
    '| held by the server | before | peak | after |',
    '|---|--:|--:|--:|',
    `| RSS | ${before.rssMb} MB | ${peak.rssMb} MB | ${after.rssMb} MB |`,
    `| descriptors | ${before.descriptors} | ${peak.descriptors} | ${after.descriptors} |`,
    `| children | ${before.children} | ${peak.children} | ${after.children} |`,
  ].join('\n');
}

/** How long callers waited. */
export function waitsOf(calls: readonly Sent[]) {
  const times = calls.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => Math.ceil(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function shown(count: number): string {
  return count.toLocaleString('en-US');
}
