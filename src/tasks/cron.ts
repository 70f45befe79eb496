import { ToolcribError } from '../core/tool-error.ts';
import { createWallClock, isTimeZone } from './wall-clock.ts';

/** Times at which a schedule is due. */
export interface Timing {
  /** The first slot after an instant; undefined if there is none. */
  next(after: number): number | undefined;
}

/** The cron expression and the time zone that it is read in. */
interface CronSettings {
  readonly cron: string;
  readonly timeZone: string;
}

const MAX_LENGTH = 200;
const MINUTE_MS = 60_000;
/** More than any clock is set back at once. */
const LONGEST_OVERLAP_MS = 3 * 3_600_000;
const NICKNAME = /^@(hourly|daily|midnight|weekly|monthly|yearly|annually)$/i;

/**
 * Reads a cron expression. Throws if it cannot be read or never matches.
 *
 * The npm package only matches wall times. Changes of the clock are treated here: an expression that names hours runs once
 * for a wall time that occurs twice, and at the end of the gap for one that does not occur; an expression for every hour
 * follows the time that passes.
 */
export async function readCron({ cron, timeZone }: CronSettings): Promise<Timing> {
  requireTimeZone(timeZone);
  const text = cron.trim();
  const fields = text.split(/\s+/);
  if (text.length > MAX_LENGTH) throw wrong(cron, `it is longer than ${MAX_LENGTH} characters`);
  if (!NICKNAME.test(text) && fields.length !== 5) throw wrong(cron, fieldsMessage(fields.length));
  if (text.includes('?')) throw wrong(cron, '"?" is not supported; write *');
  const { Cron } = await import('croner'); // loaded lazily, as most cribs have no schedules
  const pattern = createPattern(() => new Cron(text, { timezone: 'UTC', mode: '5-part' }), cron);
  const nextWall = (after: number) => pattern.nextRun(new Date(after))?.getTime();
  const isHourly = /^@hourly$/i.test(text) || fields[1] === '*';
  const timing = createTiming(timeZone, nextWall, isHourly ? 'passing time' : 'wall time');
  if (nextWall(0) === undefined) throw wrong(cron, 'it never matches; check its day and its month');
  return timing;
}

function createPattern<Pattern>(create: () => Pattern, cron: string): Pattern {
  try {
    return create();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^\w+: /, '') : 'it cannot be read';
    throw wrong(cron, reason.slice(0, MAX_LENGTH), cause);
  }
}

function createTiming(
  timeZone: string,
  nextWall: (after: number) => number | undefined,
  follows: 'passing time' | 'wall time',
): Timing {
  const { wallAt, instantsOf, instantOf } = createWallClock(timeZone);
  const slotsAt = (wall: number) => (follows === 'passing time' ? instantsOf(wall) : [instantOf(wall)]);
  return {
    next(after) {
      const now = wallAt(after);
      // While the clock is about to be set back, wall times that are over come again.
      const setBack = Math.max(0, now + LONGEST_OVERLAP_MS - wallAt(after + LONGEST_OVERLAP_MS));
      let first: number | undefined;
      for (let wall = nextWall(now - setBack); wall !== undefined; wall = nextWall(wall)) {
        for (const slot of slotsAt(wall)) if (slot > after && slot < (first ?? slot + 1)) first = slot;
        if (wall > now && first !== undefined) break;
      }
      return first;
    },
  };
}

/** The timing of a schedule with a single slot. */
export function readOnce(at: number): Timing {
  return { next: (after) => (at > after ? at : undefined) };
}

/** Reads a date and time: with an offset or Z, or as the wall time of the time zone. Throws if it is not one. */
export function readTime(text: string, timeZone: string): number {
  requireTimeZone(timeZone);
  const [, wall = '', offset] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.\d{1,3})?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const utc = Date.parse(`${wall}Z`);
  // Date.parse accepts 31 February and counts on from there.
  const isReal = !Number.isNaN(utc) && new Date(utc).toISOString().startsWith(wall);
  if (!isReal) {
    const message = `at must be a date and time such as 2026-12-24T18:00:00 or 2026-12-24T18:00:00Z, got ${JSON.stringify(text.slice(0, 40))}.`;
    throw new ToolcribError('invalid_schedule', message);
  }
  return offset === undefined ? createWallClock(timeZone).instantOf(utc) : Date.parse(text);
}

/** The last slot up to an instant and after another one; undefined if there is none. */
export function lastSlot(timing: Timing, { after, until }: { readonly after: number; readonly until: number }) {
  const isDueAfter = (instant: number) => (timing.next(instant) ?? Number.POSITIVE_INFINITY) <= until;
  if (!isDueAfter(after)) return undefined;
  let [from, to] = [after, until];
  while (to - from > MINUTE_MS / 2) {
    const middle = Math.floor((from + to) / 2);
    if (isDueAfter(middle)) from = middle;
    else to = middle;
  }
  return timing.next(from);
}

function requireTimeZone(timeZone: string): void {
  if (isTimeZone(timeZone)) return;
  const message = `The time zone ${JSON.stringify(timeZone.slice(0, 40))} is not known; write a name such as Europe/Berlin or UTC.`;
  throw new ToolcribError('invalid_schedule', message);
}

function fieldsMessage(count: number): string {
  const seconds = count === 6 ? ' Schedules run at most once a minute, so seconds cannot be given.' : '';
  return `it must have five fields (minute, hour, day of the month, month, day of the week), got ${count}.${seconds}`;
}

function wrong(cron: string, reason: string, cause?: unknown): ToolcribError {
  const shown = JSON.stringify(cron.length > 40 ? `${cron.slice(0, 40)}…` : cron);
  const message = `The cron expression ${shown} cannot be used: ${reason.replace(/\.?$/, '.')}`;
  return new ToolcribError('invalid_schedule', message, { cause });
}
