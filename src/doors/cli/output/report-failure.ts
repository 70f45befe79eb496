import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import type { ExitCode } from '../commands.ts';
import { note, paint, toLines } from './output.ts';

/** Failures that are neither a mistake on the command line nor one in the configuration. */
const OF_THE_MOMENT = ['store_unavailable', 'denied', 'failed'];

/** Says what went wrong and returns the exit code that says it to a shell. */
export function reportFailure(cause: unknown): ExitCode {
  const isOurs = cause instanceof ToolcribError;
  note(`${paint('red', 'error:', process.stderr)} ${toLines(messageOf(cause))}`);
  if (process.env.TOOLCRIB_DEBUG === '1') note(cause instanceof Error ? `${cause.stack}` : String(cause));
  else if (!isOurs) note('This should not have happened. TOOLCRIB_DEBUG=1 shows where.');
  return isOurs && !OF_THE_MOMENT.includes(cause.code) ? 2 : 1;
}
