import type { AuditRow } from '../../core/stored-audit.ts';
import { printTable } from './table.ts';

/** Calls under headings, newest first. */
export function printCalls(rows: readonly AuditRow[]): void {
  printTable(
    [
      { heading: 'AT' },
      { heading: 'TOOL' },
      { heading: 'OUTCOME' },
      { heading: 'MS', align: 'right' },
      { heading: 'CALLER', flexible: true },
      { heading: 'PROFILE' },
      { heading: 'APPROVED BY' },
      { heading: 'CALL', flexible: true },
    ],
    rows.map(({ at, tool, outcome, durationMs, caller = '', profile, approval, callId, count }) => [
      new Date(at).toISOString(),
      tool,
      count === undefined ? outcome : `${outcome} x ${count}`,
      durationMs === undefined ? '' : durationMs.toFixed(durationMs < 10 ? 1 : 0),
      caller,
      profile,
      approval?.by ?? '',
      callId,
    ]),
  );
}
