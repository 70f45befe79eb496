import type { JsonObject } from '../json.ts';
import type { ToolError } from '../tool-error.ts';

/** A call that is submitted as a task at certain times. Either `cron` or `at` is present. */
export interface Schedule {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Absent means the default profile. */
  readonly profile?: string;
  /** The roles of its caller, whose id is `schedule:` and the name of the schedule. */
  readonly roles: readonly string[];
  /** A cron expression with five fields. */
  readonly cron?: string;
  /** The only time at which it is due, in milliseconds since 1970. */
  readonly at?: number;
  /** The time zone of `cron`. */
  readonly timeZone: string;
  /** Treatment of a slot that no process has seen within a minute. */
  readonly missed: (typeof MISSED_RULES)[number];
  readonly priority?: number;
  readonly expiresMs?: number;
  /** The webhook of the configuration that is told about the end of each task. */
  readonly notify?: string;
}

/** Rules for missed slots: submit none of them, or the latest one. */
export const MISSED_RULES = ['skip', 'once'] as const;

/** A schedule in the store, with its author and time. */
export interface StoredSchedule {
  readonly name: string;
  readonly schedule: Schedule;
  readonly by: string;
  /** Milliseconds since 1970, like all times here. */
  readonly at: number;
}

/** How far a schedule has come. */
export interface ScheduleProgress {
  readonly name: string;
  /** Identifies cron, time and time zone. Another timing starts anew. */
  readonly timing: string;
  /** All slots up to this time have been submitted or skipped. */
  readonly handledAt: number;
  /** A later slot that a process has begun to submit. */
  readonly claimedSlot?: number;
  readonly last?: LastSlot;
}

/** The last slot that was submitted: as a task, or in vain. */
export interface LastSlot {
  readonly slot: number;
  readonly taskId?: string;
  readonly error?: Pick<ToolError, 'code' | 'message'>;
}

/** A schedule to store. */
export interface NewSchedule {
  readonly name: string;
  readonly schedule: Schedule;
  readonly timing: string;
  readonly by: string;
  /** True if a schedule with this name may be there already. */
  readonly replace: boolean;
}

/** Storage for schedules: those that operators added, and the progress of these and of those of the configuration. */
export interface StoredSchedules {
  /** By name. */
  list(): Promise<readonly StoredSchedule[]>;
  /** Stores a schedule. Its slots count from now on, unless it replaces one with the same timing. Removes schedules whose only slot is long over. */
  put(schedule: NewSchedule, most: number): Promise<'added' | 'changed' | 'taken' | 'full'>;
  /** Removes a schedule and its progress. False if there is none. */
  remove(name: string): Promise<boolean>;
  /** The progress of all schedules, and the time of the store. */
  progress(): Promise<{ readonly now: number; readonly progress: readonly ScheduleProgress[] }>;
  /** Starts the progress of a schedule, unless it has one with this timing. */
  start(name: string, timing: string, handledAt: number): Promise<void>;
  /** Claims a slot for a short time. Of several processes, one succeeds. */
  claim(name: string, timing: string, slot: number): Promise<boolean>;
  /** Gives a claimed slot back at once, to be claimed again. */
  release(name: string, slot: number): Promise<void>;
  /** Stores that all slots up to this one were handled; with `last`, that this one was submitted. Never goes back. */
  handle(name: string, timing: string, handled: { readonly slot: number; readonly last?: LastSlot }): Promise<void>;
}
