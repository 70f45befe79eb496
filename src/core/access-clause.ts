import type { Caller } from './caller.ts';
import { canonicalJson } from './json.ts';

/** Hours of the day, `HH:MM`; an end before the start crosses midnight. */
export interface Hours {
  readonly from: string;
  readonly to: string;
  /** An IANA name; UTC if absent. */
  readonly timeZone?: string;
  /** 1 Monday to 7 Sunday, of the day on which the hours began; every day if absent. */
  readonly days?: readonly number[];
}

/** One condition on the caller. All parts of a clause and all clauses of a policy must hold. */
export interface AccessClause {
  /** Any one of these. */
  readonly roles?: readonly string[];
  /** Any one of these caller ids. */
  readonly users?: readonly string[];
  /** All of these. */
  readonly permissions?: readonly string[];
  readonly hours?: Hours;
  /** Overrides everything that allows. */
  readonly deny?: { readonly roles?: readonly string[]; readonly users?: readonly string[] };
}

/** True if the caller meets the clause, apart from its hours. This decides which tools a view holds; hours are checked at each call. */
export function admits(clause: AccessClause, caller: Caller): boolean {
  if (caller.operator === true) return true;
  const roles = caller.roles ?? [];
  const isOneOf = (list: readonly string[] | undefined) => caller.id !== undefined && (list ?? []).includes(caller.id);
  if (clause.deny !== undefined) {
    // A caller without an id might be on the deny list, so it is refused.
    if (caller.id === undefined || isOneOf(clause.deny.users)) return false;
    if (clause.deny.roles?.some((role) => roles.includes(role))) return false;
  }
  if (clause.roles !== undefined && !clause.roles.some((role) => roles.includes(role))) return false;
  if (clause.users !== undefined && !isOneOf(clause.users)) return false;
  return (clause.permissions ?? []).every((permission) => caller.permissions?.includes(permission) ?? false);
}

/** True if `at` (milliseconds since 1970) lies inside the hours. */
export function isWithinHours(hours: Hours, at: number): boolean {
  return compileHours(hours)(at);
}

/** Compiles hours into a test that is cheap to repeat: it caches the result of the current minute. */
export function compileHours(hours: Hours): (at: number) => boolean {
  const read = clockOf(hours.timeZone ?? 'UTC');
  const from = minuteOf(hours.from);
  const to = minuteOf(hours.to);
  const onDay = (begun: number) => hours.days === undefined || hours.days.includes(begun);
  const judge = (at: number): boolean => {
    const { minute, day } = read(at);
    if (from <= to) return minute >= from && minute < to && onDay(day);
    if (minute >= from) return onDay(day);
    return minute < to && onDay(day === 1 ? 7 : day - 1);
  };
  let known: { readonly minute: number; readonly answer: boolean } | undefined;
  return (at) => {
    const minute = Math.floor(at / 60_000);
    if (known?.minute !== minute) known = { minute, answer: judge(at) };
    return known.answer;
  };
}

/** The union of both lists without duplicates. The order does not depend on which list comes first. */
export function uniteClauses(a: readonly AccessClause[], b: readonly AccessClause[]): readonly AccessClause[] {
  const byText = new Map([...a, ...b].map((clause) => [canonicalJson(clause), clause]));
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? []);
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function clockOf(timeZone: string): (at: number) => { readonly minute: number; readonly day: number } {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    weekday: 'short',
    hourCycle: 'h23',
  });
  return (at) => {
    const parts = new Map(format.formatToParts(at).map((part) => [part.type, part.value]));
    return {
      minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
      day: WEEKDAYS.indexOf(parts.get('weekday') ?? '') + 1,
    };
  };
}
