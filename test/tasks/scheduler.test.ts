import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Schedule, StoredSchedules } from '../../src/core/ports/stored-schedules.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { failed, type ToolResult } from '../../src/core/tool-result.ts';
import { openStore } from '../../src/store/open-store.ts';
import { readSchedule, type ScheduleInput, timingKey } from '../../src/tasks/schedule.ts';
import { startScheduler } from '../../src/tasks/scheduler.ts';
import { manualClock } from '../crib/manual-clock.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const WAITING = { interval: 1, timeout: 20_000 };
const START = Date.parse('2026-11-16T10:00:00Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const every = (more: Partial<ScheduleInput> = {}) => readSchedule({ tool: 'tidy', cron: '0 * * * *', ...more });
const once = (at: string, more: Partial<ScheduleInput> = {}) => readSchedule({ tool: 'tidy', at, ...more });
const waiting = (id: string): ToolResult => ({
  ok: false,
  status: 'waiting',
  waiting: { for: 'task', id, expiresAt: START + HOUR },
});

/** Several processes with one clock, and one store in memory or each its connection to one file. */
async function workshop(schedules: Readonly<Record<string, Schedule>> = {}, place: 'memory' | 'file' = 'memory') {
  const clock = manualClock(START);
  const url = place === 'memory' ? 'memory:' : `sqlite:${join(temporaryFolder(), 'crib.db')}`;
  const connect = async () => {
    const store = await openStore({ url, env: {}, now: clock.now });
    onTestFinished(() => store.close());
    return store;
  };
  const shared = await connect();
  const configured = new Map(Object.entries(schedules));
  const submitted: string[] = [];
  const warnings: string[] = [];
  const answers: ToolResult[] = [];
  const state = { isStarting: false, answer: (slot: string) => answers.shift() ?? waiting(slot) };
  const stops = new Set<() => Promise<void>>();
  const startProcess = async () => {
    const store = place === 'memory' ? shared : await connect();
    const listeners = new Set<() => void>();
    const stored = store.schedules;
    const stop = startScheduler({
      stored,
      all: async () => [...[...configured].map(([name, schedule]) => ({ name, schedule })), ...(await stored.list())],
      submit: async ({ name }, slot) => {
        submitted.push(`${name} ${new Date(slot).toISOString().slice(11, 16)}`);
        return state.answer(`${name}@${slot}`);
      },
      mayBeListedLater: () => state.isStarting,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      clock,
      warn: (message) => void warnings.push(message),
    });
    const end = async () => {
      stops.delete(end);
      await stop();
    };
    stops.add(end);
    return { stored, end, tell: () => listeners.forEach((listener) => void listener()) };
  };
  onTestFinished(async () => {
    for (const stop of stops) await stop();
  });
  const settled = () => vi.waitFor(() => expect(clock.count()).toBe(stops.size), WAITING);
  /** Lets time pass in steps, each after the schedulers have looked. */
  const pass = async (ms: number, stepMs = 30 * SECOND) => {
    await settled();
    for (let left = ms; left > 0; left -= stepMs) {
      clock.advance(Math.min(stepMs, left));
      await settled();
    }
  };
  return { shared, clock, configured, submitted, warnings, answers, state, startProcess, settled, pass };
}

async function lastOf(stored: StoredSchedules, name: string) {
  return (await stored.progress()).progress.find((one) => one.name === name);
}

describe('the scheduler', () => {
  it('submits each slot once, whatever the number of processes', async () => {
    const schedules = { hourly: await every(), other: await every({ cron: '30 11 * * *' }) };
    const { startProcess, pass, submitted } = await workshop(schedules, 'file');
    const [one] = await Promise.all([startProcess(), startProcess(), startProcess()]);
    await pass(2 * HOUR + MINUTE);
    expect(submitted).toEqual(['hourly 11:00', 'other 11:30', 'hourly 12:00']);
    const slot = START + 2 * HOUR;
    expect(await lastOf(one.stored, 'hourly')).toMatchObject({
      handledAt: slot,
      last: { slot, taskId: `hourly@${slot}` },
    });
  });

  it('looks at the time of the next slot, and at least every 30 seconds', async () => {
    const { clock, startProcess, settled, submitted } = await workshop({ one: await every({ cron: '1 10 * * *' }) });
    await startProcess();
    await settled();
    clock.advance(30 * SECOND);
    await settled();
    clock.advance(30 * SECOND - 1);
    await settled();
    expect(submitted).toEqual([]);
    clock.advance(1);
    await settled();
    expect(submitted).toEqual(['one 10:01']);
  });

  it('submits a schedule that another process adds, before its slot is missed', async () => {
    const { startProcess, settled, pass, submitted } = await workshop();
    const [, other] = await Promise.all([startProcess(), startProcess()]);
    await settled();
    const schedule = await once('2026-11-16T10:00:01');
    await other.stored.put({ name: 'soon', schedule, timing: timingKey(schedule), by: 'ann', replace: false }, 10);
    await pass(MINUTE);
    expect(submitted).toEqual(['soon 10:00']);
    await pass(3 * MINUTE);
    expect(submitted).toHaveLength(1);
  });

  it('looks at once when a schedule changes in its own process', async () => {
    const { configured, startProcess, settled, submitted, clock } = await workshop();
    const { tell } = await startProcess();
    await settled();
    configured.set('new', await every({ cron: '* * * * *' }));
    tell();
    await settled();
    clock.advance(MINUTE);
    await settled();
    expect(submitted).toEqual(['new 10:01']);
  });
});

describe('slots that no process has seen', () => {
  const down = async (missed: 'skip' | 'once', forMs: number) => {
    const shop = await workshop({ hourly: await every({ missed }) });
    const { end, stored } = await shop.startProcess();
    await shop.pass(MINUTE);
    await end();
    shop.clock.advance(forMs - MINUTE);
    const again = await shop.startProcess();
    await shop.settled();
    return { ...shop, stored, again };
  };

  it('are left out with the rule skip, and the next one is submitted', async () => {
    const { submitted, again, pass } = await down('skip', 5 * HOUR + 5 * MINUTE);
    expect(submitted).toEqual([]);
    expect(await lastOf(again.stored, 'hourly')).toMatchObject({ handledAt: START + 5 * HOUR });
    await pass(HOUR);
    expect(submitted).toEqual(['hourly 16:00']);
  });

  it('are made up for by the last one with the rule once', async () => {
    const { submitted, pass } = await down('once', 5 * HOUR + 5 * MINUTE);
    expect(submitted).toEqual(['hourly 15:00']);
    await pass(HOUR);
    expect(submitted).toEqual(['hourly 15:00', 'hourly 16:00']);
  });

  it.each(['skip', 'once'] as const)('count from when they are older than a minute (%s)', async (missed) => {
    expect((await down(missed, HOUR + MINUTE)).submitted).toEqual(['hourly 11:00']);
    expect((await down(missed, HOUR + MINUTE + 1)).submitted).toEqual(missed === 'skip' ? [] : ['hourly 11:00']);
  });

  it('are not made up for if a slot is on time', async () => {
    expect((await down('once', 3 * HOUR + SECOND)).submitted).toEqual(['hourly 13:00']);
  });

  it('of a time before the schedule was first seen never count', async () => {
    const shop = await workshop({
      past: await once('2026-11-16T09:00:00', { missed: 'once' }),
      hourly: await every({ missed: 'once' }),
    });
    await shop.startProcess();
    await shop.pass(MINUTE);
    expect(shop.submitted).toEqual([]);
  });
});

describe('a submission that does not succeed', () => {
  it('is made again while the refusal is said to pass, also if the slot gets old', async () => {
    const shop = await workshop({ hourly: await every() });
    const { stored } = await shop.startProcess();
    const limited = failed(toolError('rate_limited', 'Too many calls.', { retryable: true }));
    shop.answers.push(...Array.from({ length: 20 }, () => limited));
    await shop.pass(HOUR + 3 * MINUTE, 5 * SECOND);
    expect(shop.submitted).toHaveLength(21);
    expect(new Set(shop.submitted)).toEqual(new Set(['hourly 11:00']));
    expect(await lastOf(stored, 'hourly')).toMatchObject({
      handledAt: START + HOUR,
      last: { taskId: expect.any(String) },
    });
  });

  it('ends with ten minutes', async () => {
    const shop = await workshop({ once: await once('2026-11-16T10:01:00') });
    shop.state.answer = () => failed(toolError('unavailable', 'Down.', { retryable: true }));
    await shop.startProcess();
    await shop.pass(12 * MINUTE, 10 * SECOND);
    const count = shop.submitted.length;
    expect(count).toBeGreaterThan(10);
    await shop.pass(5 * MINUTE);
    expect(shop.submitted).toHaveLength(count);
  });

  it('is stored with its reason and not made again, if the call is refused', async () => {
    const shop = await workshop({ hourly: await every() });
    const { stored } = await shop.startProcess();
    shop.answers.push(failed(toolError('unknown_tool', 'The tool "tidy" was not found.')));
    await shop.pass(HOUR + 5 * MINUTE);
    expect(shop.submitted).toEqual(['hourly 11:00']);
    const error = { code: 'unknown_tool', message: 'The tool "tidy" was not found.' };
    expect(await lastOf(stored, 'hourly')).toMatchObject({ last: { slot: START + HOUR, error } });
    expect(shop.warnings).toEqual(['The call of schedule "hourly" was refused: The tool "tidy" was not found.']);
  });

  it('waits for tools that may still be listed', async () => {
    const shop = await workshop({ hourly: await every() });
    await shop.startProcess();
    shop.state.isStarting = true;
    shop.answers.push(failed(toolError('unknown_tool', 'Not found.')));
    await shop.pass(HOUR + 5 * MINUTE, 10 * SECOND);
    expect(shop.submitted).toEqual(['hourly 11:00', 'hourly 11:00']);
  });

  it('is taken over by another process if the process dies', async () => {
    const shop = await workshop({ hourly: await every() });
    const { stored } = await shop.startProcess();
    await shop.pass(MINUTE);
    // A process that claimed the slot and is gone.
    await stored.claim('hourly', timingKey(await every()), START + HOUR);
    shop.clock.advance(HOUR - MINUTE);
    await shop.settled();
    await shop.pass(MINUTE, 5 * SECOND);
    expect(shop.submitted).toEqual(['hourly 11:00']);
  });
});

describe('a schedule that changes', () => {
  it('counts anew from the edit, and forgets slots of its former timing', async () => {
    const shop = await workshop({ one: await every({ missed: 'once' }) });
    const { tell } = await shop.startProcess();
    await shop.pass(30 * MINUTE);
    shop.configured.set('one', await every({ cron: '15,45 * * * *', missed: 'once' }));
    tell();
    await shop.pass(HOUR);
    expect(shop.submitted).toEqual(['one 10:45', 'one 11:15']);
  });

  it('goes on if two processes have different configurations for a while', async () => {
    const shop = await workshop();
    const clock = shop.clock;
    const submitted: string[] = [];
    const start = (schedule: Schedule) =>
      startScheduler({
        stored: shop.shared.schedules,
        all: async () => [{ name: 'one', schedule }],
        submit: async (_one, slot) => {
          submitted.push(new Date(slot).toISOString().slice(11, 16));
          return waiting('x');
        },
        mayBeListedLater: () => false,
        onChange: () => () => {},
        clock,
        warn: () => {},
      });
    const stops = [start(await every({ cron: '0 * * * *' })), start(await every({ cron: '20 * * * *' }))];
    onTestFinished(async () => {
      for (const stop of stops) await stop();
    });
    for (let step = 0; step < 2 * 80; step++) {
      await vi.waitFor(() => expect(clock.count()).toBe(2), WAITING);
      clock.advance(30 * SECOND);
    }
    await vi.waitFor(() => expect(clock.count()).toBe(2), WAITING);
    expect(submitted).toEqual(['10:20', '11:00', '11:20']);
  });

  it('is not submitted after its removal', async () => {
    const shop = await workshop();
    const { stored, tell } = await shop.startProcess();
    const schedule = await every({ cron: '* * * * *' });
    await stored.put({ name: 'one', schedule, timing: timingKey(schedule), by: 'ann', replace: false }, 10);
    tell();
    await shop.pass(2 * MINUTE);
    await stored.remove('one');
    tell();
    await shop.pass(3 * MINUTE);
    expect(shop.submitted).toEqual(['one 10:01', 'one 10:02']);
  });

  it('submits no slot twice if the clock is set back', async () => {
    const shop = await workshop({ minutely: await every({ cron: '* * * * *', missed: 'once' }) });
    await shop.startProcess();
    await shop.pass(3 * MINUTE);
    shop.clock.advance(-2 * MINUTE);
    await shop.pass(MINUTE);
    expect(shop.submitted).toHaveLength(3);
    await shop.pass(2 * MINUTE);
    expect(shop.submitted.at(-1)).toBe('minutely 10:04');
    expect(new Set(shop.submitted).size).toBe(shop.submitted.length);
  });

  it('does not stop others if this machine cannot use it', async () => {
    const { timeZone: _zone, ...rest } = await every();
    const shop = await workshop({ alien: { ...rest, timeZone: 'Mars/Base' }, hourly: await every() });
    await shop.startProcess();
    await shop.pass(HOUR);
    expect(shop.submitted).toEqual(['hourly 11:00']);
    expect(shop.warnings[0]).toContain(
      'The schedule "alien" cannot be used on this machine: The time zone "Mars/Base"',
    );
  });
});
