import type { AuditRow } from '../../core/stored-audit.ts';
import { printTable } from './table.ts';

/** A call as it is shown; times in ISO 8601. */
export function toShownCall(row: AuditRow) {
  const { at, until, chain, hash, number, kind: _kind, ...rest } = row;
  return {
    ...rest,
    at: new Date(at).toISOString(),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    row: { chain, number, hash },
  };
}

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
