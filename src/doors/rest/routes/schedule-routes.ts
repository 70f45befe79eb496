import { MISSED_RULES } from '../../../core/ports/stored-schedules.ts';
import type { ScheduleOutcome, ScheduleRequest } from '../../../tasks/schedules.ts';
import { toShownSchedule } from '../../shown.ts';
import { type Answer, notFound, ok, refuse, refuseFor, statusOf } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, CALL_WAITING, choice, flag, list, object, shortText, text, time, whole } from '../shapes.ts';

const SCHEDULE = {
  name: text(),
  from: choice(['configuration', 'store'], 'Where it is written. Only those of the store can be removed here.'),
  tool: text(),
  arguments: anyObject(),
  'profile?': text('Absent for the default profile.'),
  roles: list(text(), 'The roles of its caller, schedule:NAME.'),
  'cron?': text(),
  'at?': time('The only time to call it.'),
  timeZone: text(),
  missed: choice(MISSED_RULES),
  'priority?': whole(undefined, -100, 100),
  'expiresMs?': whole(),
  'notify?': text(),
  'by?': text('The operator who added it.'),
  'changedAt?': time(),
  'nextAt?': time('The next time at which it is due.'),
  'last?': object(
    {
      at: time('The time at which it was due.'),
      'taskId?': text('The task that was submitted.'),
      'error?': object({ code: text(), message: text() }, 'Why the call was refused.'),
    },
    'The last time that was submitted.',
  ),
  'problem?': text('Why its calls would be refused now.'),
};

const REMOVED = { 200: { says: 'The schedule is removed.', schema: object({ removed: list(text()) }) } };
const REMOVES = 'Removes a schedule that an operator added. Tasks that it has submitted stay.';

/** Routes of schedules. */
export const SCHEDULE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/schedules',
    group: 'schedules',
    says: 'Lists the schedules of the configuration and those that operators added.',
    who: 'operator',
    answers: { 200: { says: 'The schedules, by name.', schema: object({ schedules: list(object(SCHEDULE)) }) } },
    run: async ({ crib }) => ok({ schedules: (await crib.schedules.list()).map(toShownSchedule) }),
  },
  {
    method: 'POST',
    path: '/api/schedules',
    group: 'schedules',
    says: 'Adds a schedule.',
    who: 'operator',
    body: object({
      name: shortText('The name of the schedule.', 64),
      tool: shortText('The tool to call.'),
      'arguments?': anyObject('The arguments of the call.'),
      'profile?': shortText('The profile that it is called under. Default: the default profile.'),
      'roles?': list(shortText('A role of its caller, schedule:NAME.')),
      'cron?': shortText('Minute, hour, day of the month, month, day of the week. Either cron or at is needed.'),
      'at?': shortText('The only time to call it: 2026-12-24T18:00:00, in the time zone, or with Z or an offset.'),
      'timeZone?': shortText('The time zone of cron and at. Default: UTC.'),
      'missed?': choice(MISSED_RULES, 'What happens with missed times: skip them (default), or make up for the last.'),
      'priority?': whole('Tasks with a higher number run first. Default: 0.', -100, 100),
      'expiresMs?': whole('Time in milliseconds in which the task must begin.', 1),
      'notify?': shortText('The webhook of the configuration that is told about the end of each task.'),
      'replace?': flag('Replaces a schedule with this name.'),
    }),
    answers: { 201: { says: 'The schedule.', schema: object(SCHEDULE) } },
    run: addSchedule,
  },
  {
    method: 'POST',
    path: '/api/schedules/{name}/run',
    group: 'schedules',
    says: 'Submits the call of a schedule now, besides its times.',
    who: 'operator',
    answers: { 202: { says: 'The call runs in the background.', schema: CALL_WAITING } },
    run: runSchedule,
  },
  {
    method: 'DELETE',
    path: '/api/schedules/{name}',
    group: 'schedules',
    says: REMOVES,
    who: 'operator',
    answers: REMOVED,
    run: (asked) => removeSchedule(asked, asked.params.name ?? ''),
  },
  {
    method: 'DELETE',
    path: '/api/schedules',
    group: 'schedules',
    says: REMOVES,
    who: 'operator',
    query: { name: shortText('The name of the schedule.') },
    answers: REMOVED,
    run: (asked) => removeSchedule(asked, String(asked.query.name)),
  },
];

async function addSchedule({ crib, asker, body }: RouteRequest): Promise<Answer> {
  const request = body as unknown as ScheduleRequest; // as its schema demands
  const outcome = await crib.schedules.add(request, asker.caller.id ?? 'operator');
  return answerTo(outcome, ({ schedule }) => ok(toShownSchedule(schedule), 201));
}

async function removeSchedule({ crib }: RouteRequest, name: string): Promise<Answer> {
  const outcome = await crib.schedules.remove(name);
  return outcome === undefined ? unknown(name) : answerTo(outcome, () => ok({ removed: [name] }));
}

async function runSchedule({ crib, params }: RouteRequest): Promise<Answer> {
  const { name = '' } = params;
  const result = await crib.schedules.run(name);
  if (result === undefined) return unknown(name);
  if (result.status === 'failed') return refuse(statusOf(result.error.code), result.error);
  if (result.status === 'done') return ok({ ...result, callId: name });
  const { id } = result.waiting;
  return { status: 202, headers: { location: `/api/tasks/${id}` }, body: { ...result, callId: id } };
}

function answerTo(outcome: ScheduleOutcome, say: (done: Extract<ScheduleOutcome, { ok: true }>) => Answer): Answer {
  return outcome.ok ? say(outcome) : refuseFor(outcome.error);
}

function unknown(name: string): Answer {
  return notFound(`The schedule "${name}" was not found.`);
}
