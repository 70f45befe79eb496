import type { CallRow } from '../../../audit/calls.ts';
import { figures, flexible, printTable } from './table.ts';

/** Calls under headings, newest first. Rows that no key of this machine signs are marked. */
export function printCalls(rows: readonly CallRow[]): void {
  const isMarked = rows.some(({ key }) => key !== undefined);
  printTable(
    [
      ...['AT', 'TOOL', 'OUTCOME', figures('MS'), flexible('CALLER'), 'PROFILE', 'APPROVED BY', flexible('CALL')],
      ...(isMarked ? ['KEY'] : []),
    ],
    rows.map(({ at, tool, outcome, durationMs, caller = '', profile, approval, callId, count, key = 'own' }) => [
      new Date(at).toISOString(),
      tool,
      count === undefined ? outcome : `${outcome} x ${count}`,
      durationMs === undefined ? '' : durationMs.toFixed(durationMs < 10 ? 1 : 0),
      caller,
      profile,
      approval?.by ?? '',
      callId,
      ...(isMarked ? [key] : []),
    ]),
  );
}
