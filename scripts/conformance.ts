// Runs the official conformance suite against the gateway and against our client, and says what became of each scenario.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { bundleClient, ERAS, runClientScenarios, runServerScenarios } from '../test/conformance/run-suite.ts';
import { serveCrib } from '../test/conformance/served-crib.ts';
import { type ExpectedFailures, judge, type Run, unknownEntries, type Verdict } from '../test/conformance/verdicts.ts';

const FIXTURE = join(import.meta.dirname, '../test/conformance/fixture-server.ts');
const LIST = join(import.meta.dirname, '../test/conformance/expected-failures.yaml');

const expected: readonly ExpectedFailures[] = parse(readFileSync(LIST, 'utf8'));
const reasons = expected.map(({ reason }) => reason);
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-conformance-'));
const runs = await runAll(folder);
const judged = runs.map((run) => ({ run, verdict: judge(run, expected) }));
const surprises = [
  ...judged.flatMap(({ run, verdict }) => (verdict.kind === 'unexpected' ? verdict.why.map(sayOf(run)) : [])),
  ...unknownEntries(runs, expected).map(
    (entry) => `${entry} is listed as an expected failure, and there is no such scenario`,
  ),
];
say(tableOf('server: the gateway', 'server'));
say(tableOf('client: servers further up', 'client'));
say(`Expected failures:\n${reasons.map((reason, index) => `  (${index + 1}) ${reason}`).join('\n')}`);
say(countsOf());
if (surprises.length > 0) {
  say(`Unexpected:\n${surprises.map((line) => `  ${line}`).join('\n')}\nWhat the suite wrote is in ${folder}.`);
  process.exitCode = 1;
} else rmSync(folder, { recursive: true, force: true });

async function runAll(results: string): Promise<readonly Run[]> {
  const done: Run[] = [];
  const isGood = (run: Run) => judge(run, expected).kind !== 'unexpected';
  const suites = ERAS.map((era) => ({ era, folder: results, isGood }));
  // The suite knows the tools by names of its own.
  const fixture = { mcp: { command: process.execPath, args: [FIXTURE] }, prefix: '' };
  const gateway = await serveCrib(results, { sources: { fixture } });
  try {
    for (const suite of suites) done.push(...(await runServerScenarios(gateway.url, suite)));
  } finally {
    await gateway.close();
  }
  await bundleClient();
  for (const suite of suites) done.push(...(await runClientScenarios(suite)));
  return done;
}

function sayOf({ side, era, scenario }: Run): (why: string) => string {
  return (why) => `${side} ${scenario} at ${era}: ${why}`;
}

function tableOf(title: string, side: Run['side']): string {
  const ofSide = judged.filter(({ run }) => run.side === side);
  const rows = [...Map.groupBy(ofSide, ({ run }) => run.scenario)].map(([scenario, both]) => [
    scenario,
    ...ERAS.map((era) => both.find(({ run }) => run.era === era)).map((one) => (one ? wordOf(one.verdict) : '-')),
  ]);
  return [[title, ...ERAS], ...rows]
    .map(([first = '', ...cells]) => `${first.padEnd(46)}${cells.map((cell) => cell.padEnd(16)).join('')}`.trimEnd())
    .join('\n');
}

function wordOf(verdict: Verdict): string {
  if (verdict.kind !== 'expected') return verdict.kind === 'pass' ? 'pass' : 'UNEXPECTED';
  return `${verdict.isPart ? 'pass but' : 'expected'} ${verdict.reasons.map((reason) => `(${reasons.indexOf(reason) + 1})`).join('')}`;
}

function countsOf(): string {
  const lines = (['server', 'client'] as const).flatMap((side) =>
    ERAS.map((era) => {
      const kinds = judged.filter(({ run }) => run.side === side && run.era === era).map(({ verdict }) => verdict.kind);
      const count = (kind: Verdict['kind']) => kinds.filter((one) => one === kind).length;
      return `${side} ${era}: ${count('pass')} pass, ${count('expected')} fail as expected, ${count('unexpected')} unexpected`;
    }),
  );
  return lines.join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
