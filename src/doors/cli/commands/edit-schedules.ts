import { defined } from '../../../core/read-options.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { visible } from '../../../core/visible-text.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { ScheduleInfo, ScheduleOutcome, ScheduleRequest } from '../../../tasks/schedules.ts';
import { toShownSchedule, toTime } from '../../shown.ts';
import { readArguments } from '../call-arguments.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readPriority, usage } from '../flags.ts';
import { noteMissingRunner, whoIsHere, withCrib, withStore } from '../open-crib.ts';
import { note, print, printJson, toLine } from '../output.ts';
import { printTable } from '../table.ts';

const ADDING = ['args', 'role', 'cron', 'at', 'time-zone', 'missed', 'priority', 'notify', 'replace'] as const;

/** `toolcrib schedules`: lists, adds, removes and runs schedules. */
export function editSchedules({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb = 'list', name, tool] = words;
  const foreign = verb === 'add' ? undefined : ADDING.find((flag) => flags[flag] !== undefined);
  if (foreign !== undefined) throw usage(`--${foreign} can only be used with "toolcrib schedules add".`, 'schedules');
  if (verb === 'list') {
    if (name !== undefined) throw usage(`"toolcrib schedules list" does not take "${name}".`, 'schedules');
    // The tools of sources are needed to tell which schedules cannot run.
    return withCrib(flags, (crib) => listSchedules(crib, flags));
  }
  if (verb !== 'add' && verb !== 'remove' && verb !== 'run')
    throw usage(`schedules takes list, add, remove or run, not "${verb}".`, 'schedules');
  if (name === undefined) throw usage(`"toolcrib schedules ${verb}" needs a NAME.`, 'schedules');
  if (verb === 'add') return addSchedule(flags, name, tool);
  if (tool !== undefined) throw usage(`"toolcrib schedules ${verb}" does not take "${tool}".`, 'schedules');
  if (verb === 'remove') return withStore(flags, (crib) => removeSchedule(crib, flags, name));
  return withCrib(flags, (crib) => runSchedule(crib, flags, name));
}

async function listSchedules(crib: Crib, flags: Flags): Promise<ExitCode> {
  const schedules = await crib.schedules.list();
  if (flags.json === true) printJson({ schedules: schedules.map(toShownSchedule) });
  else if (schedules.length === 0) note('No schedules found. "toolcrib schedules add" adds one.');
  else {
    printTable(['NAME', 'TOOL', 'WHEN', 'TIME ZONE', 'NEXT', 'LAST', 'FROM'], schedules.map(toRow));
    for (const { name, problem } of schedules)
      if (problem !== undefined) note(toLine(`Schedule "${name}": ${problem}`));
  }
  if (schedules.some(({ nextAt }) => nextAt !== undefined)) noteMissingRunner(flags);
  return 0;
}

function toRow({ name, tool, cron, at, timeZone, nextAt, last, from }: ScheduleInfo): readonly string[] {
  const when = cron ?? toTime(at ?? 0);
  const before = last === undefined ? '' : `${toTime(last.slot)} ${last.error?.code ?? last.taskId ?? ''}`;
  return [name, tool, when, timeZone, nextAt === undefined ? 'over' : toTime(nextAt), before, from].map(visible);
}

async function addSchedule(flags: Flags, name: string, tool: string | undefined): Promise<ExitCode> {
  if (tool === undefined) throw usage('"toolcrib schedules add" needs a NAME and a TOOL.', 'schedules');
  const { role, profile, cron, at, missed, priority, notify, replace } = flags;
  const request = {
    name,
    tool,
    arguments: { ...(await readArguments(flags.args)) },
    ...defined({ roles: role, profile, cron, at, timeZone: flags['time-zone'], notify, replace }),
    ...(missed !== undefined && { missed: missed as NonNullable<ScheduleRequest['missed']> }), // the flag allows only these
    ...(priority !== undefined && { priority: readPriority(priority, 'schedules') }),
  };
  return withStore(flags, async (crib) => {
    const { schedule } = requireDone(await crib.schedules.add(request, whoIsHere()));
    if (flags.json === true) printJson(toShownSchedule(schedule));
    else print(toLine(`${name} is next due ${schedule.nextAt === undefined ? 'never' : toTime(schedule.nextAt)}`));
    noteMissingRunner(flags);
    return 0;
  });
}

async function removeSchedule(crib: Crib, flags: Flags, name: string): Promise<ExitCode> {
  requireDone(await crib.schedules.remove(name), name);
  if (flags.json === true) printJson({ removed: [name] });
  else print(toLine(`${name} removed`));
  return 0;
}

async function runSchedule(crib: Crib, flags: Flags, name: string): Promise<ExitCode> {
  const result = await crib.schedules.run(name);
  if (result === undefined) throw noSchedule(name);
  if (result.status === 'failed') throw new ToolcribError('failed', result.error.message);
  const id = result.status === 'waiting' ? result.waiting.id : '';
  if (flags.json === true) printJson({ taskId: id });
  else print(id);
  noteMissingRunner(flags);
  return 0;
}

function requireDone(outcome: ScheduleOutcome | undefined, name = ''): Extract<ScheduleOutcome, { ok: true }> {
  if (outcome === undefined) throw noSchedule(name);
  if (outcome.ok) return outcome;
  throw new ToolcribError('failed', outcome.error.message);
}

function noSchedule(name: string): ToolcribError {
  return new ToolcribError('failed', `The schedule "${name}" was not found. "toolcrib schedules" lists them.`);
}
