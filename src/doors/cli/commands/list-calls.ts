import { defined } from '../../../core/defined.ts';
import { toShownCall } from '../../shown.ts';
import { readCount } from '../arguments/read-count.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { withCrib } from '../open-crib.ts';
import { note, printJson } from '../output/output.ts';
import { printCalls } from '../output/shown-calls.ts';

const USUAL_LIMIT = 10;

/** `toolcrib calls`: calls that were made, newest first. */
export function listCalls({ flags }: Invocation): Promise<ExitCode> {
  const { tool, caller, outcome } = flags;
  const limit = readCount(flags.limit) ?? USUAL_LIMIT;
  return withCrib(flags, async (crib) => {
    const calls = await crib.calls.list(defined({ limit, tool, caller, outcome }));
    if (flags.json === true) printJson({ calls: calls.map(toShownCall) });
    else if (calls.length === 0) note('No such calls are on record.');
    else printCalls(calls);
    return 0;
  });
}
