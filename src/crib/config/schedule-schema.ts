import { names } from '../../config/policy-schema.ts';
import { anything, choice, mapOf, NAMES, object, text, typed, whole } from '../../config/schema-node.ts';
import type { ScheduleConfig } from '../../config/types/tasks.ts';
import { MISSED_RULES } from '../../core/ports/stored-schedules.ts';
import { LONGEST_MS } from '../../tasks/submission.ts';

/** Schedules by name. Cron expressions, times and time zones are checked when the configuration is read. */
export const schedulesNode = mapOf(
  typed(
    'ScheduleConfig',
    object<ScheduleConfig>(
      'A call that is submitted as a task at certain times, either by cron or at one time.',
      {
        tool: text('The tool to call.'),
        arguments: mapOf(anything('The value.'), 'The arguments of the call; default none.'),
        profile: text('The profile that it is called under; default the default profile.'),
        roles: names('Roles of its caller, whose id is schedule:NAME.'),
        cron: text(
          'Minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, @yearly.',
        ),
        at: text('The only time to call it: 2026-12-24T18:00:00, in the time zone, or with Z or an offset.'),
        timeZone: text('The time zone of cron and at, for example Europe/Berlin; default UTC.'),
        missed: choice(
          MISSED_RULES,
          'Treatment of times at which no process ran tasks: skip them (default), or make up for the last one once.',
        ),
        priority: whole('Tasks with a higher number run first, from -100 to 100; default 0.', -100, 100),
        expiresMs: whole(
          'Time in milliseconds in which the task must begin, at most 366 days; default tasks.expireMs.',
          1,
          LONGEST_MS,
        ),
        notify: text('The webhook of tasks.webhooks that is told about the end of each task.'),
      },
      ['tool'],
    ),
  ),
  'Calls at certain times, by name. The processes that run tasks submit them, each once.',
  NAMES,
);
