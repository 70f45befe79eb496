import { describe, expect, it, onTestFinished } from 'vitest';
import type { Schedule } from '../../src/core/ports/stored-schedules.ts';
import { done } from '../../src/core/tool-result.ts';
import { openStore } from '../../src/store/open-store.ts';
import { readSchedule, timingKey } from '../../src/tasks/schedule.ts';
import { createSchedules, type ScheduleRequest } from '../../src/tasks/schedules.ts';

const NOW = Date.parse('2026-11-16T10:00:00Z');
const NIGHTLY = { name: 'nightly', tool: 'tidy', cron: '0 3 * * *' };

async function office(configured: Readonly<Record<string, Schedule>> = {}, problem?: string) {
  const clock = { at: NOW };
  const store = await openStore({ url: 'memory:', env: {}, now: () => clock.at });
  onTestFinished(() => store.close());
  const schedules = createSchedules({
    stored: store.schedules,
    configured: () => new Map(Object.entries(configured)),
    problemOf: () => problem,
    submit: async ({ name }) => done(name),
    now: () => clock.at,
  });
  return { schedules, stored: store.schedules, clock };
}

describe('schedules that operators add', () => {
  it('are listed with defaults, their author and the next time at which they are due', async () => {
    const { schedules } = await office();
    const added = await schedules.add(
      { ...NIGHTLY, roles: 'ops', timeZone: 'Europe/Berlin', arguments: { a: [1] } },
      'ann',
    );
    const shown = {
      ...{ name: 'nightly', from: 'store', by: 'ann', changedAt: NOW, tool: 'tidy', arguments: { a: [1] } },
      ...{ roles: ['ops'], cron: '0 3 * * *', timeZone: 'Europe/Berlin', missed: 'skip' },
      nextAt: Date.parse('2026-11-17T02:00:00Z'),
    };
    expect(added).toEqual({ ok: true, schedule: shown });
    expect(await schedules.list()).toEqual([shown]);
  });

  it('take a name once, unless they replace it', async () => {
    const { schedules } = await office();
    await schedules.add(NIGHTLY, 'ann');
    expect(await schedules.add({ ...NIGHTLY, tool: 'other' }, 'bob')).toMatchObject({
      ok: false,
      error: { code: 'conflict', message: 'A schedule named "nightly" exists; choose another name, or replace it.' },
    });
    expect(await schedules.add({ ...NIGHTLY, tool: 'other', replace: true }, 'bob')).toMatchObject({ ok: true });
    expect(await schedules.list()).toMatchObject([{ tool: 'other', by: 'bob' }]);
  });

  it('are at most 1,000', async () => {
    const { schedules, stored } = await office();
    const schedule = await readSchedule({ tool: 'tidy', cron: '0 3 * * *' });
    const fill = Array.from({ length: 1000 }, (_, index) =>
      stored.put({ name: `s${index}`, schedule, timing: timingKey(schedule), by: 'ann', replace: false }, 1000),
    );
    await Promise.all(fill);
    expect(await schedules.add(NIGHTLY, 'ann')).toMatchObject({
      ok: false,
      error: { code: 'conflict', message: 'There are 1000 schedules already; remove one first.' },
    });
    expect(await schedules.add({ ...NIGHTLY, name: 's7', replace: true }, 'ann')).toMatchObject({ ok: true });
  });

  it('are removed by name', async () => {
    const { schedules } = await office();
    await schedules.add(NIGHTLY, 'ann');
    expect(await schedules.remove('nightly')).toMatchObject({ ok: true, schedule: { name: 'nightly' } });
    expect(await schedules.remove('nightly')).toBeUndefined();
    expect(await schedules.remove('a\0b')).toBeUndefined();
    expect(await schedules.list()).toEqual([]);
  });

  it('tell listeners about changes', async () => {
    const { schedules } = await office();
    let count = 0;
    const stop = schedules.onChange(() => void count++);
    await schedules.add(NIGHTLY, 'ann');
    await schedules.add(NIGHTLY, 'ann'); // refused
    await schedules.remove('nightly');
    stop();
    await schedules.add(NIGHTLY, 'ann');
    expect(count).toBe(2);
  });

  it.each<[unknown, string]>([
    [{ ...NIGHTLY, cron: '0 0 31 2 *' }, 'it never matches'],
    [{ ...NIGHTLY, at: '2027-01-01T00:00:00Z' }, 'it has cron and at; keep one of them'],
    [{ name: 'a', tool: 'tidy' }, 'it needs cron or at'],
    [{ name: 'a', tool: 'tidy', at: '2026-11-16T09:59:59Z' }, 'its time is in the past'],
    [{ name: 'a', tool: 'tidy', at: NOW }, 'its time is in the past'],
    [{ name: 'a', tool: 'tidy', at: 'soon' }, 'at must be a date and time'],
    [{ name: 'a', tool: 'tidy', at: Number.NaN }, 'at must be a date and time, or milliseconds since 1970'],
    [{ ...NIGHTLY, timeZone: 'Mars/Base' }, 'The time zone "Mars/Base" is not known'],
    [{ ...NIGHTLY, timeZone: 5 }, 'timeZone must be a text'],
    [{ ...NIGHTLY, name: 'a b' }, 'The name of a schedule must have letters'],
    [{ ...NIGHTLY, name: undefined }, 'The name of a schedule must have letters'],
    [{ ...NIGHTLY, name: '__proto__x y' }, 'The name of a schedule must have letters'],
    [{ ...NIGHTLY, tool: '' }, 'tool must be a text'],
    [{ ...NIGHTLY, tool: 'a\0' }, 'without control characters'],
    [{ ...NIGHTLY, arguments: [] }, 'arguments must be an object'],
    [{ ...NIGHTLY, arguments: { a: () => 1 } }, 'arguments must be plain data'],
    [{ ...NIGHTLY, arguments: { a: 'x'.repeat(300_000) } }, 'at most 262144 are allowed'],
    [{ ...NIGHTLY, roles: [1] }, 'takes a name or a list of names'],
    [{ ...NIGHTLY, roles: Array.from({ length: 101 }, (_, i) => `r${i}`) }, 'more than 100 roles'],
    [{ ...NIGHTLY, missed: 'all' }, 'missed must be skip or once, got "all"'],
    [{ ...NIGHTLY, priority: 101 }, 'priority must be a whole number from -100 to 100, got 101'],
    [{ ...NIGHTLY, expiresMs: 0 }, 'expiresMs must be a whole number from 1'],
    [{ ...NIGHTLY, expiresMs: 1e15 }, 'expiresMs must be a whole number from 1'],
    [{ ...NIGHTLY, replace: 'yes' }, 'replace must be true or false'],
    [{ ...NIGHTLY, often: true }, 'has no "often"'],
    [undefined, 'The name of a schedule'],
    [null, 'The name of a schedule'],
    ['nightly', 'The name of a schedule'],
  ])('are refused with the reason: %o', async (request, reason) => {
    const { schedules } = await office();
    const added = schedules.add(request as ScheduleRequest, 'ann'); // as careless code may pass it
    await expect(added).rejects.toThrow(reason);
    await expect(added).rejects.toMatchObject({ name: 'ToolcribError' });
    expect(await schedules.list()).toEqual([]);
  });

  it('need the name of the operator', async () => {
    const { schedules } = await office();
    await expect(schedules.add(NIGHTLY, undefined as unknown as string)).rejects.toThrow(
      'must be the name of the operator',
    );
  });
});

describe('schedules of the configuration', () => {
  const hourly = () => readSchedule({ tool: 'tidy', cron: '0 * * * *' });

  it('are listed, and cannot be changed or removed', async () => {
    const { schedules } = await office({ hourly: await hourly() });
    await schedules.add(NIGHTLY, 'ann');
    expect((await schedules.list()).map(({ name, from, nextAt }) => [name, from, nextAt])).toEqual([
      ['hourly', 'configuration', NOW + 3_600_000],
      ['nightly', 'store', Date.parse('2026-11-17T03:00:00Z')],
    ]);
    const conflict = {
      ok: false,
      error: { code: 'conflict', message: 'The schedule "hourly" is in the configuration; change it there.' },
    };
    expect(await schedules.remove('hourly')).toMatchObject(conflict);
    expect(await schedules.add({ ...NIGHTLY, name: 'hourly', replace: true }, 'ann')).toMatchObject(conflict);
  });

  it('hide one of the store with their name, and the review says so', async () => {
    const { schedules, stored } = await office({ nightly: await hourly() });
    const schedule = await readSchedule({ tool: 'other', cron: '0 3 * * *' });
    await stored.put({ name: 'nightly', schedule, timing: 'x', by: 'ann', replace: false }, 10);
    expect(await schedules.all()).toMatchObject([{ name: 'nightly', from: 'configuration' }]);
    expect((await schedules.review()).problems).toEqual([
      expect.stringContaining('Schedule "nightly" of the store is ignored'),
    ]);
  });

  it('whose time is over are a problem if they did not run, and a note if they did', async () => {
    const past = await readSchedule({ tool: 'tidy', at: '2026-11-16T09:00:00Z' });
    const { schedules, stored } = await office({ ran: past, forgotten: past });
    await stored.start('ran', timingKey(past), 0);
    await stored.handle('ran', timingKey(past), { slot: past.at ?? 0, last: { slot: past.at ?? 0, taskId: 'x' } });
    expect(await schedules.review()).toEqual({
      problems: [expect.stringMatching(/^Schedule "forgotten": its time is in the past and it has not run/)],
      notes: ['Schedule "ran" is over; it can be removed from the configuration.'],
    });
    expect((await schedules.list()).map(({ nextAt, last }) => [nextAt, last?.taskId])).toEqual([
      [undefined, undefined],
      [undefined, 'x'],
    ]);
  });
});

describe('any schedule', () => {
  it('shows why its calls would be refused', async () => {
    const { schedules } = await office({}, 'The tool "tidy" was not found.');
    await schedules.add(NIGHTLY, 'ann');
    expect(await schedules.list()).toMatchObject([{ problem: 'The tool "tidy" was not found.' }]);
    expect((await schedules.review()).problems).toEqual(['Schedule "nightly": The tool "tidy" was not found.']);
  });

  it('can be submitted now', async () => {
    const { schedules } = await office();
    await schedules.add(NIGHTLY, 'ann');
    expect(await schedules.run('nightly')).toEqual(done('nightly'));
    expect(await schedules.run('unknown')).toBeUndefined();
  });

  it('shows the next slot after one that was handled before the clock was set back', async () => {
    const { schedules, stored, clock } = await office();
    await schedules.add(NIGHTLY, 'ann');
    const schedule = await readSchedule({ tool: 'tidy', cron: '0 3 * * *' });
    await stored.handle('nightly', timingKey(schedule), { slot: Date.parse('2026-11-17T03:00:00Z') });
    clock.at -= 1000;
    expect(await schedules.list()).toMatchObject([{ nextAt: Date.parse('2026-11-18T03:00:00Z') }]);
  });
});

it('a crib without a store lists those of the configuration, and cannot add any', async () => {
  const schedule = await readSchedule({ tool: 'tidy', cron: '0 * * * *' });
  const schedules = createSchedules({
    stored: undefined,
    configured: () => new Map([['hourly', schedule]]),
    problemOf: () => undefined,
    submit: async () => done(''),
    now: () => NOW,
  });
  expect(await schedules.list()).toMatchObject([{ name: 'hourly', nextAt: NOW + 3_600_000 }]);
  await expect(schedules.add(NIGHTLY, 'ann')).rejects.toMatchObject({ code: 'not_available' });
});
