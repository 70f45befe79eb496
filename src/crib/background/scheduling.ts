import type { CribContext } from '../../core/ports/crib-context.ts';
import type { Schedule } from '../../core/ports/stored-schedules.ts';
import { defined, didYouMean } from '../../core/read-options.ts';
import { messageOf, ToolcribError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import { idleClock } from '../../system/clock.ts';
import { type NamedSchedule, startScheduler } from '../../tasks/scheduler.ts';
import { type CribSchedules, createSchedules } from '../../tasks/schedules.ts';
import { explain } from '../catalog/explain.ts';
import { ENTER, type EnterableChest } from '../chest.ts';
import type { Crib } from '../crib.ts';
import type { Engine } from '../engine.ts';
import { chooseProfile } from '../open.ts';

/** The door of calls that schedules submit. */
const SCHEDULE_DOOR = 'schedule';

/** The schedules of a crib. */
export interface Scheduling {
  readonly schedules: CribSchedules;
  /** Submits the calls of schedules as they become due. Returns a function that stops it. */
  startSchedules(): () => Promise<void>;
}

export function createScheduling(engine: Engine, { store }: CribContext, { open }: Pick<Crib, 'open'>): Scheduling {
  const submit = async ({ name, schedule }: NamedSchedule, slot?: number): Promise<ToolResult> => {
    const { tool, profile, timeZone, priority = 0, expiresMs, notify } = schedule;
    const chest = await open(profile, callerOf(name, schedule)).catch(asRefusal);
    if ('status' in chest) return chest;
    const made = slot === undefined ? {} : { slot: `${name}@${slot}` };
    return (chest as EnterableChest)[ENTER]({
      name: tool,
      input: schedule.arguments,
      options: { timeZone, door: SCHEDULE_DOOR },
      submission: {
        call: { timeZone },
        delayMs: 0,
        priority,
        ...defined({ lifetimeMs: expiresMs, notify }),
        ...made,
      },
    }); // every chest of a crib can be entered
  };
  const { all, onChange, ...schedules } = createSchedules({
    stored: store?.schedules,
    configured: engine.schedules,
    problemOf: (schedule) => problemOf(schedule, engine),
    submit,
    now: Date.now,
  });
  return {
    schedules,
    startSchedules() {
      if (store === undefined) return async () => {};
      return startScheduler({
        stored: store.schedules,
        all,
        submit,
        mayBeListedLater: engine.host.isStarting,
        onChange,
        clock: idleClock,
        warn: engine.warn,
      });
    },
  };
}

function callerOf(name: string, { roles }: Schedule) {
  return { id: `schedule:${name}`, roles };
}

function asRefusal(cause: unknown): ToolResult {
  if (!(cause instanceof ToolcribError)) throw cause;
  return failed(toolError('denied', messageOf(cause), { cause }));
}

/** The reason why the call of a schedule would be refused now, as far as it can be known before. */
function problemOf(
  { tool, profile, roles, notify }: Schedule,
  { generation, profiles, host, hasTools, taskSettings }: Engine,
): string | undefined {
  const { byName } = profiles();
  if (profile !== undefined && !byName.has(profile))
    return `The profile "${profile}" was not found.${didYouMean(profile, byName.keys())}`;
  const { webhooks } = taskSettings();
  if (notify !== undefined && !Object.hasOwn(webhooks, notify))
    return `The webhook "${notify}" was not found in tasks.webhooks.${didYouMean(notify, Object.keys(webhooks))}`;
  if (!hasTools() || host.isStarting()) return undefined;
  const caller = { roles };
  const { visible, reasons } = explain(generation(), chooseProfile(profile, profiles(), caller), caller, tool);
  return visible ? undefined : `The tool "${tool}" cannot be called: ${reasons.join('; ').replace(/([^.?])$/, '$1.')}`;
}
