import type { ScheduleConfig } from '../config/types/tasks.ts';
import { canonicalJson, copyJson, isJsonObject, type JsonObject, NotJsonError } from '../core/json.ts';
import { MISSED_RULES, type Schedule } from '../core/ports/stored-schedules.ts';
import { defined, describe, readNameList, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { readCron, readOnce, readTime, type Timing } from './cron.ts';
import { LONGEST_MS } from './submission.ts';

/** A schedule as code writes it: like in the configuration, and a time may be milliseconds since 1970. */
export interface ScheduleInput extends Omit<ScheduleConfig, 'at'> {
  readonly at?: string | number;
}

/** The most schedules of a configuration, and the most that operators can add. */
export const MOST_SCHEDULES = 1000;
const MOST_PRIORITY = 100;
const MOST_ROLES = 100;
const MOST_ARGUMENT_BYTES = 262_144;
const MAX_NAME_LENGTH = 200;
/** The year 9999, so that every time can be formatted. */
const LATEST = 253_402_300_799_000;

const KEYS = [
  'tool',
  'arguments',
  'profile',
  'roles',
  'cron',
  'at',
  'timeZone',
  'missed',
  'priority',
  'expiresMs',
  'notify',
] as const;

/** Checks a schedule and completes it. Throws with the reason if it cannot be used. */
export async function readSchedule(value: unknown, what = 'A schedule'): Promise<Schedule> {
  const given = readOptions<ScheduleInput>(value, KEYS, what);
  const { cron, at, timeZone = 'UTC', missed = 'skip', expiresMs } = given;
  if ((cron === undefined) === (at === undefined)) {
    throw wrong(cron === undefined ? 'it needs cron or at' : 'it has cron and at; keep one of them');
  }
  if (!MISSED_RULES.some((rule) => rule === missed))
    throw wrong(`missed must be skip or once, got ${describe(missed)}`);
  const zone = readText(timeZone, 'timeZone');
  const schedule: Schedule = {
    tool: readText(given.tool, 'tool'),
    arguments: readArguments(given.arguments ?? {}),
    roles: readRoles(given.roles ?? []),
    timeZone: zone,
    missed,
    ...(cron !== undefined && { cron: readString(cron, 'cron') }),
    ...(at !== undefined && { at: readAt(at, zone) }),
    ...(given.profile !== undefined && { profile: readText(given.profile, 'profile') }),
    ...(given.notify !== undefined && { notify: readText(given.notify, 'notify') }),
    ...defined({
      priority: readWhole(given.priority, 'priority', { from: -MOST_PRIORITY, to: MOST_PRIORITY }),
      expiresMs: readWhole(expiresMs, 'expiresMs', { from: 1, to: LONGEST_MS }),
    }),
  };
  await timingOf(schedule);
  return schedule;
}

/** The times at which a schedule is due. */
export async function timingOf({ cron, at, timeZone }: Schedule): Promise<Timing> {
  return cron === undefined ? readOnce(at ?? 0) : readCron({ cron, timeZone });
}

/** Identifies the timing of a schedule. */
export function timingKey({ cron, at, timeZone }: Schedule): string {
  return canonicalJson(cron === undefined ? { at: at ?? 0 } : { cron, timeZone });
}

/** A mistake in a schedule, and the key that it is about. */
export interface ScheduleMistake {
  readonly name: string;
  readonly key?: 'cron' | 'at' | 'timeZone';
  readonly message: string;
}

/** The schedules of a configuration by name, and the mistakes in others. */
export async function readSchedules(
  written: Readonly<Record<string, ScheduleConfig>>,
): Promise<{ readonly schedules: ReadonlyMap<string, Schedule>; readonly mistakes: readonly ScheduleMistake[] }> {
  const schedules = new Map<string, Schedule>();
  const mistakes: ScheduleMistake[] = [];
  for (const [name, entry] of Object.entries(written)) {
    try {
      schedules.set(name, await readSchedule(entry));
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      const key = (['timeZone', 'cron', 'at'] as const).find((one) => cause.message.includes(WORDS[one]));
      mistakes.push({ name, message: cause.message, ...(key !== undefined && { key }) });
    }
  }
  return { schedules, mistakes };
}

/** Words of the messages of `cron.ts` about each key. */
const WORDS = { timeZone: 'The time zone', cron: 'The cron expression', at: 'at must be' } as const;

function readAt(at: unknown, timeZone: string): number {
  if (typeof at === 'string') return readTime(at, timeZone);
  if (typeof at === 'number' && Number.isSafeInteger(at) && at > 0 && at <= LATEST) return at;
  throw wrong(`at must be a date and time, or milliseconds since 1970, got ${describe(at)}`);
}

function readArguments(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw wrong(`arguments must be an object of JSON values, got ${describe(value)}`);
  try {
    const copy = copyJson(value) as JsonObject; // the copy of an object is an object
    const bytes = Buffer.byteLength(JSON.stringify(copy));
    if (bytes <= MOST_ARGUMENT_BYTES) return copy;
    throw wrong(`its arguments have ${bytes} bytes; at most ${MOST_ARGUMENT_BYTES} are allowed`);
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) throw cause;
    throw wrong(`arguments must be plain data: ${cause.message}`);
  }
}

function readRoles(value: unknown): readonly string[] {
  const roles = readNameList(value, 'roles of a schedule').map((role) => readText(role, 'a role'));
  if (roles.length > MOST_ROLES) throw wrong(`it has more than ${MOST_ROLES} roles`);
  return roles;
}

function readWhole(
  value: unknown,
  what: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= from && value <= to) return value;
  throw wrong(`${what} must be a whole number from ${from} to ${to}, got ${describe(value)}`);
}

function readString(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw wrong(`${what} must be a text, got ${describe(value)}`);
}

/** Reads a text that every store can hold and every terminal can show. */
function readText(value: unknown, what: string): string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME_LENGTH;
  if (isText && !/\p{Cc}/u.test(value) && value.isWellFormed()) return value;
  const shape = `a text of 1 to ${MAX_NAME_LENGTH} characters without control characters`;
  throw wrong(`${what} must be ${shape}, got ${describe(value)}`);
}

function wrong(reason: string): ToolcribError {
  return new ToolcribError('invalid_schedule', `The schedule cannot be used: ${reason}.`);
}
