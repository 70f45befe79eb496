import { once } from 'node:events';
import type { AuditSummary } from '../../../audit/crib-audit.ts';
import type { AuditReport } from '../../../core/ports/audit-report.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { type Flags, usage } from '../flags.ts';
import { withStore } from '../open-crib.ts';
import { counted, note, paint, print, printJson, toLine } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

const VERBS: Readonly<Record<string, (crib: Crib, flags: Flags) => Promise<ExitCode>>> = {
  verify: verifyAudit,
  export: exportAudit,
  key: printKey,
};

/** `toolcrib audit`: what is on record, whether it was changed, and all of it. */
export function inspectAudit({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb] = words;
  const work = verb === undefined ? summarizeAudit : VERBS[verb];
  if (work === undefined) throw usage(`audit takes verify, export or key, not "${verb}".`, 'audit');
  return withStore(flags, (crib) => work(crib, flags));
}

async function summarizeAudit(crib: Crib, flags: Flags): Promise<ExitCode> {
  const summary = await crib.audit.summary();
  if (flags.json === true) printJson({ rows: summary.rows, chains: summary.chains.map(toShownChain) });
  else if (summary.chains.length === 0) note('Nothing is on record yet.');
  else {
    print(`${counted(summary.rows, 'row')} in ${counted(summary.chains.length, 'chain')}`);
    printTable(
      ['CHAIN', 'BEGUN', figures('ROWS'), figures('REMOVED'), flexible('LAST CHECKPOINT')],
      summary.chains.map(({ chain, startedAt, count, removed, checkpoint }) => [
        chain,
        timeText(startedAt),
        String(count),
        String(removed),
        checkpoint === undefined ? 'none yet' : `row ${checkpoint.count}, ${timeText(checkpoint.at)}`,
      ]),
    );
  }
  return 0;
}

/** The key that other machines list as trusted. */
async function printKey(crib: Crib, flags: Flags): Promise<ExitCode> {
  const key = await crib.audit.key();
  if (flags.json === true) printJson({ key });
  else print(key);
  return 0;
}

function toShownChain({ startedAt, checkpoint, ...chain }: AuditSummary['chains'][number]) {
  return {
    ...chain,
    startedAt: timeText(startedAt),
    ...(checkpoint !== undefined && { checkpoint: { ...checkpoint, at: timeText(checkpoint.at) } }),
  };
}

async function verifyAudit(crib: Crib, flags: Flags): Promise<ExitCode> {
  const report = await crib.audit.verify();
  if (flags.json === true) printJson(toShownReport(report));
  else printReport(report);
  return report.ok ? 0 : 1;
}

function toShownReport(report: AuditReport) {
  const findings = report.findings.map(({ at, ...finding }) => ({
    ...finding,
    ...(at !== undefined && { at: timeText(at) }),
  }));
  return { ...report, findings };
}

function printReport({ ok, rows, chains, findings, moreFindings, notes }: AuditReport): void {
  for (const { kind, message } of findings) print(`${paint('red', kind)}  ${toLine(message)}`);
  if (moreFindings > 0) print(`and ${moreFindings} more`);
  for (const sentence of notes) note(`${paint('yellow', 'note:', process.stderr)} ${toLine(sentence)}`);
  const sealed = chains.reduce(
    (sum, chain) => sum + Math.min(chain.rows, Math.max(0, chain.sealed - chain.removed)),
    0,
  );
  const what = `${counted(rows, 'row')} in ${counted(chains.length, 'chain')}, ${sealed} of them sealed`;
  note(
    ok
      ? paint('green', `Nothing was changed: ${what}.`, process.stderr)
      : paint('red', `Something is wrong, see above: ${what}.`, process.stderr),
  );
}

/** One JSON document a line, as it was hashed; whoever reads slowly is waited for. */
async function exportAudit(crib: Crib): Promise<ExitCode> {
  for await (const row of crib.audit.export()) {
    if (!process.stdout.write(`${JSON.stringify(row)}\n`)) await once(process.stdout, 'drain');
  }
  return 0;
}

function timeText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
