import { once } from 'node:events';
import { TASK_DOOR } from '../../../core/ports/task-states.ts';
import { didYouMean } from '../../../core/read-options.ts';
import { FACTS, type ToolCall } from '../../../core/tool-call.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { ToolResult } from '../../../core/tool-result.ts';
import type { Crib } from '../../../crib/crib.ts';
import { openProfiles } from '../../check-report.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readConcurrency } from '../flags.ts';
import { surviveStrays, withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, note, noteReview, paint, print, toLine } from '../output.ts';

/** The tasks of a worker. */
interface Work {
  readonly concurrency?: number;
  readonly profiles?: readonly string[];
  readonly sources?: readonly string[];
}

/** `toolcrib worker`: runs background calls until a signal; a second signal stops it at once. */
export async function runWorker({ flags, lists = {} }: Invocation): Promise<ExitCode> {
  const concurrency = readConcurrency(flags.concurrency);
  const work: Work = {
    ...(concurrency !== undefined && { concurrency }),
    ...(lists.profile !== undefined && { profiles: lists.profile }),
    ...(lists.source !== undefined && { sources: lists.source }),
  };
  return withCrib(flags, (crib) => runTasks(crib, flags, work), {
    watch: true,
    worker: work.sources ?? true,
  });
}

const USUAL_GRACE_MS = 10_000;
const LONG_MS = 3_600_000;
/** Timeout for storing the ends of tasks that were aborted. */
const LEAVING_MS = 2000;

async function runTasks(crib: Crib, flags: Flags, work: Work): Promise<ExitCode> {
  requireKnown('profile', work.profiles, await profilesOf(crib));
  requireKnown(
    'source',
    work.sources,
    crib.sources().map(({ name }) => name),
  );
  surviveStrays(crib, 'worker');
  const { signal } = cancelOnInterrupt();
  printEnds(crib, flags);
  const runner = crib.server.runTasks({ ...work, isWorker: true });
  note(`${paint('bold', 'Toolcrib', process.stderr)} runs background calls ${describeWork(crib, work)}`);
  await noteReview(crib, flags);
  const held = setInterval(() => {}, LONG_MS); // the poll of the store does not keep the process alive
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(held);
  note('Shutting down: waiting for running tasks. Send the signal again to stop at once.');
  const drained = runner.stop();
  // Read now: the configuration may have changed since the start.
  await within(crib.server.serverSettings().graceMs ?? USUAL_GRACE_MS, drained);
  runner.abort();
  await within(LEAVING_MS, drained);
  return 0;
}

/** The names under which calls are stored: the profiles, and that of the operator with all tools. */
async function profilesOf(crib: Crib): Promise<readonly string[]> {
  const { profile } = await crib.openAll();
  return [...(await openProfiles(crib)).map(({ chest }) => chest.profile), profile];
}

function requireKnown(what: string, names: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new ToolcribError('usage', `The ${what} "${unknown}" was not found.${didYouMean(unknown, known)}`);
}

function describeWork(crib: Crib, { concurrency, profiles, sources }: Work): string {
  const of = profiles === undefined ? 'of all profiles' : `of the profiles ${profiles.join(', ')}`;
  const from = sources === undefined ? 'from all sources' : `from the sources ${sources.join(', ')}`;
  return toLine(`${of} ${from}, at most ${concurrency ?? crib.server.taskSettings().concurrency} at once.`);
}

/** Prints a line for each attempt that has ended. */
function printEnds(crib: Crib, { json }: Flags): void {
  crib.extensions.add({
    name: 'workerLines',
    priority: 1000,
    onEnd(call, result) {
      if (call.door !== TASK_DOOR || call.parent !== undefined) return;
      const end = toEnd(call, result);
      print(json === true ? JSON.stringify(end) : toLine(`${end.at} ${end.id} ${end.tool} ${end.outcome}`));
    },
  });
}

function toEnd(call: ToolCall, result: ToolResult) {
  const at = new Date(call[FACTS].startedAt).toISOString();
  return {
    at,
    id: call.id,
    tool: call.spec.name,
    outcome: result.status === 'failed' ? result.error.code : result.status,
  };
}

async function within(limitMs: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, limitMs);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
