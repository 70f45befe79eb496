import { describe, expect, it } from 'vitest';
import type { LiveSource, Source } from '../../src/core/source.ts';
import { startRunner, statusOf } from '../../src/crib/sources/source-runner.ts';
import { manualClock } from './manual-clock.ts';

const LIVE: LiveSource = {
  specs: () => [],
  onChange: () => () => {},
  status: () => ({ state: 'ready' }),
  close: async () => {},
};

/** True if a promise has resolved. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

/** A source that starts when it is let, in a time that stands still. */
function starting(source: Partial<Source> = {}) {
  const clock = manualClock();
  const live = Promise.withResolvers<LiveSource>();
  const context = { clock, services: {}, signal: new AbortController().signal, warn: () => {} };
  const runner = startRunner(
    { name: 'slow', start: () => live.promise, ...source },
    { context, clock, onChange: () => {}, onListed: () => {} },
  );
  return { clock, runner, finish: () => live.resolve(LIVE) };
}

describe('a source that is slow to start', () => {
  it('delays the others by at most eleven seconds, is starting meanwhile, and has failed after a minute', async () => {
    const { clock, runner } = starting();
    clock.advance(10_999);
    expect(await isResolved(runner.started)).toBe(false);
    clock.advance(1);
    expect(await isResolved(runner.started)).toBe(true);
    expect(statusOf(runner)).toEqual({ state: 'starting' });
    clock.advance(48_999);
    expect(await isResolved(runner.listed)).toBe(false);
    expect(statusOf(runner)).toEqual({ state: 'starting' });
    clock.advance(1);
    expect(await isResolved(runner.listed)).toBe(true);
    expect(statusOf(runner)).toEqual({ state: 'failed', reason: 'it did not start within 60000 ms' });
  });

  it('is used when it starts after all', async () => {
    const { clock, runner, finish } = starting();
    clock.advance(11_000);
    await runner.started;
    finish();
    await runner.listed;
    expect(statusOf(runner)).toEqual({ state: 'ready' });
    expect(clock.count()).toBe(0);
  });

  it('fails at its own timeout if that is shorter, and the others do not wait longer', async () => {
    const { clock, runner } = starting({ startTimeoutMs: 20 });
    clock.advance(20);
    expect(await isResolved(runner.started)).toBe(true);
    expect(statusOf(runner)).toEqual({ state: 'failed', reason: 'it did not start within 20 ms' });
  });
});

it('an edit waits for the list of a source as long as a start does', async () => {
  const listed = Promise.withResolvers<void>();
  const { clock, runner } = starting({ start: async () => ({ ...LIVE, listed: listed.promise }) });
  await runner.started;
  clock.advance(10_999);
  expect(await isResolved(runner.listedSoon)).toBe(false);
  clock.advance(1);
  expect(await isResolved(runner.listedSoon)).toBe(true);
  expect(await isResolved(runner.listed)).toBe(false);
  listed.resolve();
  await runner.listed;
});
