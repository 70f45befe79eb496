import type { Caller } from '../../../core/caller.ts';
import type { TaskState } from '../../../core/ports/stored-tasks.ts';
import { defined } from '../../../core/read-options.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { textOf } from '../../../core/tool-result.ts';
import { toVisibleJson, visible, visibleJson } from '../../../core/visible-text.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { Task, TaskDetail, TaskOutcome } from '../../../tasks/task-listing.ts';
import { toShownTask, toTime } from '../../shown.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readCount, usage } from '../flags.ts';
import { noteMissingRunner, whoIsHere, withCrib, withStore } from '../open-crib.ts';
import { note, print, toLine, toLines } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

const USUAL_LIMIT = 10;
const FILTERS = ['state', 'outcome', 'tool', 'limit'] as const;

/** `toolcrib tasks`: lists, shows, cancels and resends background calls. It runs none of them. */
export function editTasks({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb = 'list', id] = words;
  if (verb === 'list') {
    if (id !== undefined) throw usage(`"toolcrib tasks list" does not take "${id}".`, 'tasks');
    const limit = readCount(flags.limit) ?? USUAL_LIMIT;
    return withStore(flags, (crib) => listTasks(crib, flags, limit));
  }
  if (verb !== 'show' && verb !== 'cancel' && verb !== 'resend')
    throw usage(`tasks takes list, show, cancel or resend, not "${verb}".`, 'tasks');
  const filter = FILTERS.find((flag) => flags[flag] !== undefined);
  if (filter !== undefined) throw usage(`--${filter} only filters the list of tasks.`, 'tasks');
  if (id === undefined) throw usage(`"toolcrib tasks ${verb}" needs an ID. "toolcrib tasks" lists them.`, 'tasks');
  if (verb === 'show') return withStore(flags, (crib) => showTask(crib, flags, id));
  if (verb === 'cancel') return withStore(flags, (crib) => cancelTask(crib, flags, id));
  // The tool may have changed since, so its source is needed.
  return withCrib(flags, (crib) => resendTask(crib, flags, id));
}

async function listTasks(crib: Crib, flags: Flags, limit: number): Promise<ExitCode> {
  const { state = 'all', outcome, tool } = flags;
  const ofState = state === 'all' ? {} : { state: state as TaskState }; // the command allows only these values
  const tasks = await crib.tasks.list({ ...ofState, ...defined({ outcome, tool }), limit });
  if (flags.json === true) printTasks({ tasks: tasks.map(toShownTask) });
  else if (tasks.length === 0) note('No tasks found.');
  else
    printTable(
      ['ID', 'TOOL', 'STATE', flexible('CALLER'), 'PROFILE', 'CREATED', 'RUNS AT', 'ENDED', figures('ATTEMPTS')],
      tasks.map(toRow),
    );
  if (tasks.some((task) => task.state === 'queued')) noteMissingRunner(flags);
  return 0;
}

function toRow(task: Task): readonly string[] {
  const { id, tool, caller, profile, createdAt, runAt, endedAt, attempts } = task;
  const shown = [tool, stateText(task), caller.id ?? '', profile].map(visible);
  return [id, ...shown, toTime(createdAt), timeOf(runAt), timeOf(endedAt), attempts === undefined ? '' : `${attempts}`];
}

function stateText({ state, outcome, cancelledBy }: Task): string {
  if (outcome !== undefined && outcome !== state) return `${state} (${outcome})`;
  return state === 'running' && cancelledBy !== undefined ? 'running (cancelled)' : state;
}

function timeOf(at: number | undefined): string {
  return at === undefined ? '' : toTime(at);
}

async function showTask(crib: Crib, flags: Flags, id: string): Promise<ExitCode> {
  const task = await crib.tasks.get(id);
  if (task === undefined) throw noSuchTask(id);
  if (flags.json === true) printTasks({ task: toShownTask(task) });
  else describeTask(task);
  if (task.state === 'queued') noteMissingRunner(flags);
  return 0;
}

function describeTask(task: TaskDetail): void {
  const { id, tool, profile, source, caller, door, arguments: given, result, progress } = task;
  const rows: Readonly<Record<string, string | undefined>> = {
    id,
    tool,
    source,
    profile,
    caller: caller.id,
    door,
    state: stateText(task),
    created: toTime(task.createdAt),
    'runs at': task.state === 'queued' ? timeOf(task.runAt) : undefined,
    started: timeOf(task.startedAt),
    ended: timeOf(task.endedAt),
    'must begin by': task.state === 'queued' ? toTime(task.expiresAt) : undefined,
    attempts: task.attempts === undefined ? undefined : `${task.attempts}`,
    approval: task.approvalId,
    'cancelled by': task.cancelledBy,
    'repeats task': task.resentFrom,
    schedule: task.slot,
    progress: progress === undefined ? undefined : toVisibleJson(progress),
  };
  const shown = Object.entries(rows).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
  for (const [name, value] of shown) print(`${name.padEnd(14)} ${toLine(value)}`);
  if (given !== undefined) print(`${'arguments'.padEnd(14)} ${toVisibleJson(given)}`);
  if (result !== undefined) print(`result\n${toLines(textOf(result))}`);
}

/** The user of this command line acts as the operator. */
function whoActs(): Caller {
  return { id: whoIsHere(), operator: true };
}

async function cancelTask(crib: Crib, flags: Flags, id: string): Promise<ExitCode> {
  if ((await crib.tasks.get(id)) === undefined) throw noSuchTask(id);
  const outcome = await crib.tasks.cancel(id, whoActs());
  const after = outcome.ok ? undefined : await crib.tasks.get(id); // it may have been cancelled before
  const task = after?.outcome === 'cancelled' ? after : requireDone(outcome);
  if (flags.json === true) printTask(task);
  else if (task.state === 'done') print(`${id} cancelled`);
  else print(`${id} is running and was told to end`);
  return 0;
}

async function resendTask(crib: Crib, flags: Flags, id: string): Promise<ExitCode> {
  if ((await crib.tasks.get(id)) === undefined) throw noSuchTask(id);
  const task = requireDone(await crib.tasks.resend(id, whoActs(), { door: 'cli' }));
  if (flags.json === true) printTask(task);
  else print(task.id);
  note(`The task ${task.id} repeats ${toLine(id)}.`);
  noteMissingRunner(flags);
  return 0;
}

function requireDone(outcome: TaskOutcome): Task {
  if (!outcome.ok) throw new ToolcribError('failed', outcome.error.message);
  return outcome.task;
}

function noSuchTask(id: string): ToolcribError {
  return new ToolcribError('failed', `The task "${id}" was not found. "toolcrib tasks" lists them.`);
}

function printTask(task: TaskDetail): void {
  const { arguments: _arguments, result: _result, ...listed } = task;
  printTasks({ task: toShownTask(listed) });
}

function printTasks(value: unknown): void {
  print(visibleJson(JSON.stringify(value, null, 2)));
}
