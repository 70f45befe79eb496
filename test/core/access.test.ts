import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccessClause, admits, type Hours, isWithinHours, uniteClauses } from '../../src/core/access-clause.ts';
import { accessClause, caller } from './arbitraries.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

describe('hours', () => {
  /** Zones without summer time, with their distance from UTC in minutes. */
  const zone = fc.constantFrom<readonly [string | undefined, number]>(
    [undefined, 0],
    ['UTC', 0],
    ['Asia/Kolkata', 330],
    ['Asia/Kathmandu', 345],
    ['America/Phoenix', -420],
    ['Pacific/Kiritimati', 840],
    ['Pacific/Pago_Pago', -660],
  );
  const minute = fc.integer({ min: 0, max: 24 * 60 - 1 });
  const days = fc.option(fc.subarray([1, 2, 3, 4, 5, 6, 7]), { nil: undefined });
  const day = fc.integer({ min: 11_000, max: 24_000 }); // since 1970: the years 2000 to 2035
  /** A moment of the local day: any, or close to where the hours begin or end. */
  const moment = fc.record({
    near: fc.constantFrom('from', 'to', 'midnight', 'noon'),
    offMinutes: fc.oneof(fc.integer({ min: -1, max: 1 }), fc.integer({ min: -720, max: 720 })),
    ms: fc.constantFrom(0, 1, 59_999),
  });
  const clockTime = (at: number) =>
    `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;

  /** Lays out the windows that began today and yesterday and looks into each. */
  function isInsideWindow(local: number, from: number, to: number, allowed: readonly number[] | undefined): boolean {
    const today = Math.floor(local / DAY_MS);
    return [today - 1, today].some((day) => {
      const weekday = ((((day + 3) % 7) + 7) % 7) + 1; // 1970-01-01 was a Thursday
      if (allowed !== undefined && !allowed.includes(weekday)) return false;
      const start = day * DAY_MS + from * MINUTE_MS;
      const end = day * DAY_MS + to * MINUTE_MS + (to < from ? DAY_MS : 0);
      return local >= start && local < end;
    });
  }

  it('Hours hold from their start to their end in their own time zone, across midnight, on the days on which they began.', () => {
    fc.assert(
      fc.property(day, moment, zone, minute, minute, days, (date, at, [timeZone, offset], from, to, allowed) => {
        const hours: Hours = {
          from: clockTime(from),
          to: clockTime(to),
          ...(timeZone !== undefined && { timeZone }),
          ...(allowed !== undefined && { days: allowed }),
        };
        const edge = { from, to, midnight: 0, noon: 720 }[at.near];
        const local = date * DAY_MS + (edge + at.offMinutes) * MINUTE_MS + at.ms;
        const isHeld = isWithinHours(hours, local - offset * MINUTE_MS);
        expect(isHeld).toBe(isInsideWindow(local, from, to, allowed));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['2026-03-27T22:00:00Z', true, 'Friday evening'],
    ['2026-03-28T05:59:00Z', true, 'Saturday morning, begun on Friday'],
    ['2026-03-28T06:00:00Z', false, 'the end'],
    ['2026-03-28T22:00:00Z', false, 'Saturday evening'],
    ['2026-03-27T05:00:00Z', false, 'Friday morning, begun on Thursday'],
  ])('From 22:00 to 06:00 on Fridays holds at %s: %s (%s).', (at, isHeld) => {
    expect(isWithinHours({ from: '22:00', to: '06:00', days: [5] }, Date.parse(at))).toBe(isHeld);
  });

  it('Summer time moves the hours with the clocks of the place.', () => {
    const hours: Hours = { from: '09:00', to: '17:00', timeZone: 'Europe/Berlin' };
    expect(isWithinHours(hours, Date.parse('2026-01-15T07:30:00Z'))).toBe(false);
    expect(isWithinHours(hours, Date.parse('2026-07-15T07:30:00Z'))).toBe(true);
  });
});

describe('admits', () => {
  it('Denied beats allowed.', () => {
    fc.assert(
      fc.property(accessClause, caller, (clause, who) => {
        const isDenied =
          (who.id !== undefined && clause.deny?.users?.includes(who.id)) ||
          clause.deny?.roles?.some((role) => who.roles?.includes(role));
        if (isDenied) expect(admits(clause, who)).toBe(false);
      }),
    );
  });

  it('Any required role, any listed user, all required permissions.', () => {
    fc.assert(
      fc.property(accessClause, caller, ({ deny: _, ...clause }, who) => {
        const hasRole = clause.roles === undefined || clause.roles.some((role) => who.roles?.includes(role));
        const isListed = clause.users === undefined || clause.users.some((user) => user === who.id);
        const mayAll = (clause.permissions ?? []).every((permission) => who.permissions?.includes(permission));
        expect(admits(clause, who)).toBe(hasRole && isListed && mayAll);
      }),
    );
  });

  it('A deny list excludes exactly the identified callers on it.', () => {
    fc.assert(
      fc.property(accessClause, caller, ({ deny, ...clause }, who) => {
        fc.pre(deny !== undefined && who.id !== undefined);
        const isDenied =
          deny?.users?.some((user) => user === who.id) || deny?.roles?.some((role) => who.roles?.includes(role));
        expect(admits({ ...clause, deny: deny ?? {} }, who)).toBe(admits(clause, who) && isDenied !== true);
      }),
    );
  });

  it.each<AccessClause>([
    { roles: ['dev'] },
    { users: ['alice'] },
    { permissions: ['read'] },
    { deny: { users: ['bob'] } },
    { roles: [] },
    { users: [] },
  ])('No identity and a policy that needs one: %j refuses.', (clause) => {
    expect(admits(clause, {})).toBe(false);
  });

  it('A clause without conditions admits every caller.', () => {
    fc.assert(
      fc.property(caller, (who) => {
        expect(admits({}, who)).toBe(true);
      }),
    );
  });

  it('Hours are not evaluated here: they decide calls, not visibility.', () => {
    expect(admits({ hours: { from: '00:00', to: '00:00' } }, {})).toBe(true);
  });
});

describe('uniteClauses', () => {
  it('Every clause of both lists is kept once, in an order that does not depend on the order of the lists.', () => {
    fc.assert(
      fc.property(fc.array(accessClause), fc.array(accessClause), (a, b) => {
        const united = uniteClauses(a, b);
        expect(united).toEqual(uniteClauses(b, a));
        for (const clause of [...a, ...b]) {
          expect(
            united.filter((other) => JSON.stringify(sorted(other)) === JSON.stringify(sorted(clause))),
          ).toHaveLength(1);
        }
      }),
    );
  });

  function sorted(clause: AccessClause): unknown {
    return [clause.roles, clause.users, clause.permissions, clause.deny?.roles, clause.deny?.users, 'deny' in clause];
  }
});
