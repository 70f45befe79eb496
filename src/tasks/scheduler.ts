import type { Clock } from '../core/ports/crib-context.ts';
import type { LastSlot, Schedule, ScheduleProgress, StoredSchedules } from '../core/ports/stored-schedules.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { oneAtATime } from '../system/clock.ts';
import { lastSlot, type Timing } from './cron.ts';
import { timingKey, timingOf } from './schedule.ts';

/** A slot that was not seen in this time is missed. */
const ON_TIME_MS = 60_000;
/** A slot that a process has begun to submit is submitted for this time, also by another process. */
const OWED_MS = 600_000;
/** Longest time between two looks at the store, so that a schedule of another process is seen before its slot is missed. */
const LOOK_MS = 30_000;
/** Pause before a slot that could not be submitted is submitted again. */
const AGAIN_MS = 5000;

/** A schedule and its name. */
export interface NamedSchedule {
  readonly name: string;
  readonly schedule: Schedule;
}

/** Dependencies of the scheduler. */
export interface SchedulerPorts {
  readonly stored: StoredSchedules;
  /** All schedules: those of the configuration and those of the store. */
  all(): Promise<readonly NamedSchedule[]>;
  /** Submits the call of a schedule for a slot. Never rejects. A slot that was submitted before resolves to the same task. */
  submit(schedule: NamedSchedule, slot: number): Promise<ToolResult>;
  /** True while an unknown tool may still appear. */
  mayBeListedLater(): boolean;
  /** Calls the listener when a schedule was added, changed or removed in this process. */
  onChange(listener: () => void): () => void;
  /** Its timers should not keep the process alive. */
  readonly clock: Pick<Clock, 'setTimer'>;
  warn(message: string): void;
}

/** A schedule in the course of one look. */
interface SeenSchedule extends NamedSchedule {
  readonly key: string;
  readonly timing: Timing;
  readonly handledAt: number;
  /** The first slot that is not handled; undefined if there is none. */
  readonly dueAt: number | undefined;
  readonly claimedSlot?: number;
}

/** Submits the slots of all schedules as they become due. Returns a function that stops it and waits for a submission that is under way. */
export function startScheduler(ports: SchedulerPorts): () => Promise<void> {
  const { stored, clock } = ports;
  /** The schedules of the last look, by name. */
  let seen: ReadonlyMap<string, SeenSchedule> = new Map();
  let stopTimer: (() => void) | undefined;
  let isStopped = false;

  /** A schedule of another version, or in a time zone that this machine does not know, does not stop the others. */
  const unusable = (name: string, cause: unknown): undefined => {
    if (!(cause instanceof ToolcribError) || cause.code !== 'invalid_schedule') throw cause;
    ports.warn(`The schedule "${name}" cannot be used on this machine: ${cause.message}`);
  };
  /** Submits what is due, and returns the time to wait for the next look. */
  const look = async (): Promise<number> => {
    const [all, { now, progress }] = await Promise.all([ports.all(), stored.progress()]);
    const byName = new Map(progress.map((one) => [one.name, one]));
    const next = new Map<string, SeenSchedule>();
    let waitMs = LOOK_MS;
    for (const one of all) {
      if (isStopped) break;
      const schedule = await see(one, {
        progress: byName.get(one.name),
        before: seen.get(one.name),
        now,
        stored,
      }).catch((cause: unknown) => unusable(one.name, cause));
      if (schedule === undefined) continue;
      next.set(one.name, schedule);
      const { dueAt = Number.POSITIVE_INFINITY } = schedule;
      const at = dueAt > now ? dueAt : await submitDue(schedule, now, ports);
      waitMs = Math.min(waitMs, Math.max(0, at - now));
    }
    seen = next;
    return waitMs;
  };
  const lookAndWait = oneAtATime(async () => {
    if (isStopped) return;
    stopTimer?.();
    const waitMs = await look().catch((cause: unknown) => {
      ports.warn(`The schedules cannot be read: ${messageOf(cause)}`);
      return AGAIN_MS;
    });
    if (!isStopped) stopTimer = clock.setTimer(waitMs, () => void lookAndWait());
  });
  const stopListening = ports.onChange(() => void lookAndWait());
  void lookAndWait();
  return async () => {
    isStopped = true;
    stopListening();
    await lookAndWait(); // waits for the one that is under way
    stopTimer?.();
  };
}

interface Sight {
  readonly progress: ScheduleProgress | undefined;
  /** The schedule at the last look. */
  readonly before: SeenSchedule | undefined;
  readonly now: number;
  readonly stored: StoredSchedules;
}

/** Finds how far a schedule has come. One that is new begins now. */
async function see(one: NamedSchedule, { progress, before, now, stored }: Sight): Promise<SeenSchedule> {
  const key = timingKey(one.schedule);
  const same = before?.key === key ? before : undefined;
  const known = progress?.timing === key ? progress : undefined;
  // A process with another configuration may have replaced the progress.
  const handledAt = known?.handledAt ?? same?.handledAt ?? now;
  const timing = same?.timing ?? (await timingOf(one.schedule));
  if (known === undefined) await stored.start(one.name, key, handledAt);
  const dueAt = same?.handledAt === handledAt ? same.dueAt : timing.next(handledAt);
  const { claimedSlot } = known ?? {};
  return { ...one, key, timing, handledAt, dueAt, ...(claimedSlot !== undefined && { claimedSlot }) };
}

/** Submits the due slots of a schedule. Returns the time of the next look at it. */
async function submitDue(due: SeenSchedule, now: number, ports: SchedulerPorts): Promise<number> {
  const { stored } = ports;
  const { name, key } = due;
  const { toSubmit, skippedUntil } = dueSlots(due, now);
  if (skippedUntil !== undefined) await stored.handle(name, key, { slot: skippedUntil });
  for (const slot of toSubmit) {
    if (!(await stored.claim(name, key, slot))) return now + AGAIN_MS; // another process submits it, and may die meanwhile
    const last = toLast(await ports.submit(due, slot), slot);
    if (last === undefined || (last.error?.code === 'unknown_tool' && ports.mayBeListedLater())) {
      await stored.release(name, slot);
      return now + AGAIN_MS;
    }
    await stored.handle(name, key, { slot, last });
    if (last.error !== undefined) ports.warn(`The call of schedule "${name}" was refused: ${last.error.message}`);
  }
  return due.timing.next(now) ?? Number.POSITIVE_INFINITY;
}

/** Slots to submit, the oldest first, and the time up to which older ones are left out. */
interface DueSlots {
  readonly toSubmit: readonly number[];
  readonly skippedUntil?: number;
}

function dueSlots({ timing, handledAt, claimedSlot, schedule }: SeenSchedule, now: number): DueSlots {
  const onTime: number[] = [];
  const from = Math.max(handledAt, now - ON_TIME_MS - 1);
  for (let slot = timing.next(from); slot !== undefined && slot <= now; slot = timing.next(slot)) onTime.push(slot);
  const missed = lastSlot(timing, { after: handledAt, until: Math.min(from, now) });
  const isOwed = missed !== undefined && missed === claimedSlot && now - missed <= OWED_MS;
  const madeUp = missed !== undefined && (isOwed || (onTime.length === 0 && schedule.missed === 'once'));
  const toSubmit = madeUp ? [missed, ...onTime] : onTime;
  return missed === undefined || madeUp ? { toSubmit } : { toSubmit, skippedUntil: missed };
}

/** The end of a submission; undefined if it has to be made again. */
function toLast(result: ToolResult, slot: number): LastSlot | undefined {
  if (result.status === 'waiting') return { slot, taskId: result.waiting.id };
  if (result.status === 'done') return { slot };
  const { code, message, retryable } = result.error;
  const mayPass = retryable || code === 'cancelled'; // the process stops
  return mayPass ? undefined : { slot, error: { code, message } };
}
