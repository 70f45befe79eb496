import { once } from 'node:events';
import type { AuditSummary } from '../../../audit/crib-audit.ts';
import type { AuditReport } from '../../../core/ports/audit-report.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, usage } from '../flags.ts';
import { withStore } from '../open-crib.ts';
import { counted, note, paint, print, printJson, toLine } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

const VERBS: Readonly<Record<string, (crib: Crib, flags: Flags) => Promise<ExitCode>>> = {
  verify: verifyAudit,
  export: exportAudit,
  key: printKey,
};

/** `toolcrib audit`: summarizes, verifies and exports the audit log. */
export function inspectAudit({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb] = words;
  const work = verb === undefined ? summarizeAudit : VERBS[verb];
  if (work === undefined) throw usage(`audit takes verify, export or key, not "${verb}".`, 'audit');
  return withStore(flags, (crib) => work(crib, flags));
}

async function summarizeAudit(crib: Crib, flags: Flags): Promise<ExitCode> {
  const summary = await crib.audit.summary();
  if (flags.json === true) printJson({ rows: summary.rows, chains: summary.chains.map(toShownChain) });
  else if (summary.chains.length === 0) note('The audit log is empty.');
  else {
    print(`${counted(summary.rows, 'row')} in ${counted(summary.chains.length, 'chain')}`);
    printTable(
      ['CHAIN', 'STARTED', figures('ROWS'), figures('REMOVED'), flexible('LAST CHECKPOINT')],
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

/** Prints the public key, for the list of trusted keys on other machines. */
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
  if (moreFindings > 0) print(`${moreFindings} more findings are not shown`);
  for (const sentence of notes) note(`${paint('yellow', 'note:', process.stderr)} ${toLine(sentence)}`);
  const sealed = chains.reduce(
    (sum, chain) => sum + Math.min(chain.rows, Math.max(0, chain.sealed - chain.removed)),
    0,
  );
  const what = `${counted(rows, 'row')} in ${counted(chains.length, 'chain')}, ${sealed} sealed`;
  const problems = counted(findings.length + moreFindings, 'problem');
  note(
    ok
      ? paint('green', `The audit log is intact: ${what}.`, process.stderr)
      : paint('red', `The audit log is not intact: ${problems} found; ${what}.`, process.stderr),
  );
}

/** Prints one JSON document per line, exactly as it was hashed. Respects the back-pressure of stdout. */
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
