import type { CallRow } from '../../../audit/recorded-calls.ts';
import { defined } from '../../../core/read-options.ts';
import { toShownCall } from '../../shown.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { readCount } from '../flags.ts';
import { withStore } from '../open-crib.ts';
import { note, printJson } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

const USUAL_LIMIT = 10;

/** `toolcrib calls`: lists recorded calls, newest first. */
export function listCalls({ flags }: Invocation): Promise<ExitCode> {
  const { tool, caller, outcome } = flags;
  const limit = readCount(flags.limit) ?? USUAL_LIMIT;
  return withStore(flags, async (crib) => {
    const calls = await crib.calls.list(defined({ limit, tool, caller, outcome }));
    if (flags.json === true) printJson({ calls: calls.map(toShownCall) });
    else if (calls.length === 0) note('No recorded calls found.');
    else printCalls(calls);
    return 0;
  });
}

/** Prints calls as a table. The column KEY appears if a row is not signed by a key of this machine. */
export function printCalls(rows: readonly CallRow[]): void {
  const isMarked = rows.some(({ key }) => key !== undefined);
  printTable(
    [
      ...['AT', 'TOOL', 'OUTCOME', figures('MS'), flexible('CALLER'), 'PROFILE', 'APPROVED BY', flexible('CALL')],
      ...(isMarked ? ['KEY'] : []),
    ],
    rows.map(({ at, tool, durationMs, caller = '', profile, approval, callId, key = 'own', ...row }) => [
      new Date(at).toISOString(),
      tool,
      outcomeText(row),
      durationMs === undefined ? '' : durationMs.toFixed(durationMs < 10 ? 1 : 0),
      caller,
      profile,
      approval?.by ?? '',
      callId,
      ...(isMarked ? [key] : []),
    ]),
  );
}

function outcomeText({ outcome, count, isReplayed }: Pick<CallRow, 'outcome' | 'count' | 'isReplayed'>): string {
  if (count !== undefined) return `${outcome} x ${count}`;
  return isReplayed === true ? `${outcome} (replay)` : outcome;
}
