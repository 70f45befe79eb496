import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CribOptions, createCrib, type ToolInput } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tool that counts how often it ran. */
function counting(more: Partial<ToolInput> = {}) {
  const runs: unknown[] = [];
  const tool = {
    name: 'look',
    description: '',
    effects: { readOnly: true },
    policy: { cacheMs: 1000 },
    run: (input: unknown) => {
      runs.push(input);
      return { run: runs.length };
    },
    ...more,
  } as ToolInput;
  return { runs, tool };
}

async function cribOf(tool: ToolInput, options: CribOptions = {}) {
  return createCrib({ tools: [tool], ...options });
}

describe('cache', () => {
  it('a call with a cached answer does not run the tool', async () => {
    const { runs, tool } = counting();
    const chest = await (await cribOf(tool)).open();
    const first = await chest.call('look', { a: 1, b: 2 });
    expect(await chest.call('look', { b: 2, a: 1 })).toEqual(first);
    expect(runs).toHaveLength(1);
  });

  it('until its time is over', async () => {
    const { runs, tool } = counting();
    const chest = await (await cribOf(tool)).open();
    await chest.call('look');
    await vi.advanceTimersByTimeAsync(999);
    await chest.call('look');
    expect(runs).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await chest.call('look');
    expect(runs).toHaveLength(2);
  });

  it.each([
    ['other arguments', { input: { a: 2 } }],
    ['another caller', { caller: { id: 'bob' } }],
    ['other roles', { caller: { id: 'ann', roles: ['dev'] } }],
    ['another profile with other settings', { profile: 'other' }],
    ['another conversation', { options: { conversation: 'c2' } }],
    ['another time zone', { options: { timeZone: 'Asia/Tokyo' } }],
  ] as const)('%s get their own answer', async (_what, other) => {
    const { runs, tool } = counting();
    const crib = await cribOf(tool, { profiles: { only: {}, other: { settings: { place: 'elsewhere' } } } });
    const usual = { input: { a: 1 }, caller: { id: 'ann' }, profile: 'only', options: {} };
    for (const { input, caller, profile, options } of [usual, { ...usual, ...other }, usual])
      await (await crib.open(profile, caller)).call('look', input, options);
    expect(runs).toHaveLength(2);
  });

  it('a changed tool runs again', async () => {
    const { runs, tool } = counting();
    const crib = await cribOf(tool);
    const chest = await crib.open();
    await chest.call('look');
    crib.unregister('look');
    crib.register({ ...tool, description: 'another one' } as ToolInput);
    await chest.call('look');
    expect(runs).toHaveLength(2);
  });

  it('failures are not cached', async () => {
    let runs = 0;
    const { tool } = counting({
      run: () => {
        runs++;
        throw new Error('no');
      },
    } as Partial<ToolInput>);
    const chest = await (await cribOf(tool)).open();
    await chest.call('look');
    await chest.call('look');
    expect(runs).toBe(2);
  });

  it('a tool without readOnly always runs, whatever the profile says', async () => {
    const { runs, tool } = counting({ effects: {}, policy: {} });
    const chest = await (await cribOf(tool, { profiles: { only: { policy: { cacheMs: 1000 } } } })).open();
    await chest.call('look');
    await chest.call('look');
    expect(runs).toHaveLength(2);
  });

  it('a caller cannot change the cached answer for the next one', async () => {
    const { tool } = counting();
    const chest = await (await cribOf(tool)).open();
    const first = await chest.call('look');
    if (first.ok) Object.assign(first.data as object, { run: 'changed' });
    const second = await chest.call('look');
    if (second.ok) Object.assign(second.data as object, { run: 'changed again' });
    expect(await chest.call('look')).toMatchObject({ data: { run: 1 } });
  });

  it('access is checked before: a caller without access gets no cached answer', async () => {
    const { tool } = counting({ policy: { cacheMs: 1000, access: { roles: ['dev'] } } });
    const crib = await cribOf(tool);
    await (await crib.open(undefined, { id: 'ann', roles: ['dev'] })).call('look');
    expect(await (await crib.open(undefined, { id: 'ann' })).call('look')).toMatchObject({
      error: { code: 'unknown_tool' },
    });
  });

  it('removes the oldest answers when there are many', async () => {
    const { runs, tool } = counting();
    const chest = await (await cribOf(tool)).open();
    for (let index = 0; index <= 5000; index++) await chest.call('look', { index });
    await chest.call('look', { index: 5000 });
    expect(runs).toHaveLength(5001);
    await chest.call('look', { index: 0 });
    expect(runs).toHaveLength(5002);
  });
});
