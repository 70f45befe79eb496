import { describe, expect, it } from 'vitest';
import { lastSlot, readCron, readTime } from '../../src/tasks/cron.ts';

const BERLIN = 'Europe/Berlin';
const at = (text: string) => Date.parse(text);

/** The next slots after a time, in UTC. */
async function slots(
  cron: string,
  { after, count = 4, timeZone = BERLIN }: { after: string; count?: number; timeZone?: string },
) {
  const timing = await readCron({ cron, timeZone });
  const found: string[] = [];
  for (let from = at(after); found.length < count; ) {
    const slot = timing.next(from);
    if (slot === undefined) break;
    found.push(new Date(slot).toISOString().slice(5, 16));
    from = slot;
  }
  return found;
}

describe('the slots of a cron expression', () => {
  it('follow the wall clock of the time zone', async () => {
    expect(await slots('30 2 * * *', { after: '2026-07-01T00:00Z', count: 2 })).toEqual(['07-01T00:30', '07-02T00:30']);
    expect(await slots('30 2 * * *', { after: '2026-12-01T00:00Z', count: 2 })).toEqual(['12-01T01:30', '12-02T01:30']);
    expect(await slots('0 9 * * MON-FRI', { after: '2026-11-20T10:00Z', count: 2, timeZone: 'UTC' })).toEqual([
      '11-23T09:00',
      '11-24T09:00',
    ]);
    expect(await slots('@daily', { after: '2026-11-20T10:00Z', count: 1, timeZone: 'UTC' })).toEqual(['11-21T00:00']);
    expect(await slots('0 0 L * *', { after: '2026-11-20T10:00Z', count: 1, timeZone: 'UTC' })).toEqual([
      '11-30T00:00',
    ]);
  });

  it('run once for a time that occurs twice, when the clock is set back on 2026-10-25', async () => {
    const days = { after: '2026-10-24T12:00Z' };
    expect(await slots('30 2 * * *', { ...days, count: 2 })).toEqual(['10-25T00:30', '10-26T01:30']);
    expect(await slots('*/30 2 * * *', days)).toEqual(['10-25T00:00', '10-25T00:30', '10-26T01:00', '10-26T01:30']);
    // from the second occurrence of 02:10
    expect(await slots('*/30 2 * * *', { after: '2026-10-25T01:10Z', count: 1 })).toEqual(['10-26T01:00']);
  });

  it('run once for a time that does not occur, when the clock is set forward on 2027-03-28', async () => {
    const days = { after: '2027-03-27T12:00Z' };
    expect(await slots('30 2 * * *', { ...days, count: 2 })).toEqual(['03-28T01:00', '03-29T00:30']);
    expect(await slots('*/30 2 * * *', { ...days, count: 3 })).toEqual(['03-28T01:00', '03-29T00:00', '03-29T00:30']);
    expect(await slots('*/30 2-3 * * *', { ...days, count: 3 })).toEqual(['03-28T01:00', '03-28T01:30', '03-29T00:00']);
  });

  it('follow the time that passes, if they are for every hour', async () => {
    expect(await slots('15,45 * * * *', { after: '2026-10-25T00:30Z' })).toEqual([
      '10-25T00:45',
      '10-25T01:15',
      '10-25T01:45',
      '10-25T02:15',
    ]);
    expect(await slots('@hourly', { after: '2026-10-24T23:30Z', count: 3 })).toEqual([
      '10-25T00:00',
      '10-25T01:00',
      '10-25T02:00',
    ]);
    expect(await slots('45 * * * *', { after: '2027-03-28T00:00Z', count: 3 })).toEqual([
      '03-28T00:45',
      '03-28T01:45',
      '03-28T02:45',
    ]);
    // Lord Howe Island sets its clock forward by half an hour: there is no 02:15.
    expect(
      await slots('15 * * * *', { after: '2026-10-03T14:00Z', count: 2, timeZone: 'Australia/Lord_Howe' }),
    ).toEqual(['10-03T14:45', '10-03T16:15']);
  });

  it('are each later than the one before, in every time zone with a change that year', async () => {
    for (const timeZone of [
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Africa/Cairo',
    ]) {
      for (const cron of ['*/20 0-3 * * *', '7 * * * *', '30 1 * * SUN']) {
        const timing = await readCron({ cron, timeZone });
        let [before, count] = [at('2026-10-20T00:00Z'), 0];
        for (; before < at('2026-11-03T00:00Z'); count++) {
          const slot = timing.next(before) ?? Number.NaN;
          expect(slot).toBeGreaterThan(before);
          expect(timing.next(slot - 1)).toBe(slot);
          before = slot;
        }
        expect(count).toBeGreaterThan(1);
      }
    }
  });

  it('can be years apart', async () => {
    const timing = await readCron({ cron: '0 0 29 2 *', timeZone: 'UTC' });
    expect(timing.next(at('2028-03-01T00:00Z'))).toBe(at('2032-02-29T00:00Z'));
  });
});

describe('a cron expression is refused', () => {
  it.each([
    ['0 0 31 2 *', 'it never matches'],
    ['0 0 30 2 +MON', 'it never matches'],
    ['*/10 * * * * *', 'seconds cannot be given'],
    ['* * * *', 'five fields'],
    ['', 'five fields'],
    ['@reboot', 'five fields'],
    ['2026-10-24T10:00:00', 'five fields'],
    ['61 * * * *', 'minute: 61'],
    ['0 0 * * 8', 'dayOfWeek: 8'],
    ['a b c d e', 'illegal characters'],
    ['5-1 * * * *', 'From value is larger'],
    ['? * * * *', '"?" is not supported'],
    [`*${',1'.repeat(100)} * * * *`, 'longer than 200 characters'],
  ])('%s, with the reason', async (cron, reason) => {
    const refused = readCron({ cron, timeZone: BERLIN });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_schedule', message: expect.stringContaining(reason) });
  });

  it.each(['Mars/Base', '', '+02:00', 'Europe/Berlin; DROP', 'x'.repeat(1000)])(
    'in the time zone %s',
    async (timeZone) => {
      const refused = readCron({ cron: '* * * * *', timeZone });
      await expect(refused).rejects.toThrow(
        /^The time zone ".{0,40}" is not known; write a name such as Europe\/Berlin/,
      );
    },
  );
});

describe('a date and time', () => {
  it.each([
    ['2026-12-24T18:00:00Z', '2026-12-24T18:00Z'],
    ['2026-12-24T18:00:00+03:00', '2026-12-24T15:00Z'],
    ['2026-12-24T18:00', '2026-12-24T17:00Z'],
    ['2026-10-25T02:30:00', '2026-10-25T00:30Z'],
    ['2027-03-28T02:30:00', '2027-03-28T01:00Z'],
  ])('%s is read in the time zone, unless it has an offset', (text, instant) => {
    expect(readTime(text, BERLIN)).toBe(at(instant));
  });

  it.each(['tomorrow', '2026-12-24', '2026-02-31T10:00:00', '2026-13-01T10:00:00', '2026-12-24T25:00', ''])(
    '%s is refused',
    (text) => expect(() => readTime(text, BERLIN)).toThrow('at must be a date and time such as'),
  );
});

describe('the last slot of a period', () => {
  it('is found without walking through all of them', async () => {
    const everyMinute = await readCron({ cron: '* * * * *', timeZone: 'UTC' });
    const until = at('2026-01-01T00:00:30Z');
    expect(lastSlot(everyMinute, { after: 0, until })).toBe(at('2026-01-01T00:00Z'));
    expect(lastSlot(everyMinute, { after: at('2026-01-01T00:00Z'), until })).toBeUndefined();
    expect(lastSlot(everyMinute, { after: at('2025-12-31T23:59:59Z'), until: at('2026-01-01T00:00Z') })).toBe(
      at('2026-01-01T00:00Z'),
    );
    const yearly = await readCron({ cron: '0 3 1 1 *', timeZone: BERLIN });
    expect(lastSlot(yearly, { after: at('2020-06-01T00:00Z'), until: at('2026-11-01T00:00Z') })).toBe(
      at('2026-01-01T02:00Z'),
    );
  });
});
