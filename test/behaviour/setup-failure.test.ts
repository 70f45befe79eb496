import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { bundleOf, endOf, heldSetup, namesOf, oneTurn, reasonOf, stateIn, toolOf } from './small-crib.ts';

/** A setup that throws until it is mended. */
function brittleSetup() {
  let isBroken = true;
  const setup = vi.fn(() => {
    if (isBroken) throw new Error('no network');
    return { state: 'mended' };
  });
  return {
    setup,
    mend() {
      isBroken = false;
    },
  };
}

async function openBrittle() {
  const brittle = brittleSetup();
  const bundles = [bundleOf('broken', { setup: brittle.setup }), bundleOf('sound', { setup: () => ({ state: 1 }) })];
  const chest = await (await createCrib({ bundles, profiles: { p: { active: [] } } })).open();
  return { ...brittle, chest };
}

describe('a setup that throws', () => {
  it('activate rejects with the reason.', async () => {
    const { chest } = await openBrittle();
    const outcome = await chest.activate('broken');
    expect(outcome).toMatchObject({ ok: false, applied: [] });
    expect(reasonOf(outcome, 'broken')).toBe('its setup failed: no network');
    expect(chest.active()).toEqual([]);
  });

  it('Calls answer unavailable, saying which bundle and why.', async () => {
    const { chest } = await openBrittle();
    const result = await chest.call('broken_tool');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'unavailable' } });
    expect(result.status === 'failed' && result.error.message).toContain(
      'bundle "broken": its setup failed: no network',
    );
  });

  it('Others are unaffected.', async () => {
    const { chest } = await openBrittle();
    expect((await chest.activate(['broken', 'sound'])).applied).toEqual(['sound']);
    expect(stateIn(await chest.call('sound_tool'))).toBe(1);
  });

  it('It is not retried on every read or call.', async () => {
    const { chest, setup } = await openBrittle();
    for (let i = 0; i < 5; i++) {
      expect(endOf(await chest.call('broken_tool'))).toBe('unavailable');
      chest.list();
      chest.instructions();
      await chest.search('broken');
    }
    expect(setup).toHaveBeenCalledOnce();
  });

  it('It is tried again by the next activate.', async () => {
    const { chest, setup, mend } = await openBrittle();
    await chest.call('broken_tool');
    expect(reasonOf(await chest.activate('broken'), 'broken')).toContain('no network');
    mend();
    expect((await chest.activate('broken')).ok).toBe(true);
    expect(stateIn(await chest.call('broken_tool'))).toBe('mended');
    expect(setup).toHaveBeenCalledTimes(3);
  });

  it('All callers that wait for the same failing setup get the error, and it runs once.', async () => {
    const held = heldSetup();
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: held.setup })] });
    const chest = await crib.open();
    const activations = Array.from({ length: 5 }, () => chest.activate('a'));
    const calls = Array.from({ length: 5 }, () => chest.call('a_tool'));
    await held.started;
    held.fail('refused');
    for (const outcome of await Promise.all(activations)) expect(reasonOf(outcome, 'a')).toContain('refused');
    expect((await Promise.all(calls)).map(endOf)).toEqual(Array(5).fill('unavailable'));
    expect(held.runs()).toBe(1);
  });

  it('A ready that throws fails the bundle, and the result of its setup is disposed of.', async () => {
    const dispose = vi.fn();
    const ready = () => {
      throw new Error('not reachable');
    };
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup: () => ({ dispose }), ready })] })).open();
    expect(reasonOf(await chest.activate('a'), 'a')).toContain('not reachable');
    expect(endOf(await chest.call('a_tool'))).toBe('unavailable');
    expect(dispose).toHaveBeenCalledOnce();
  });

  it('A setup that throws another value than an error is still explained.', async () => {
    const setup = () => Promise.reject('plain words');
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup })] })).open();
    expect(reasonOf(await chest.activate('a'), 'a')).toContain('plain words');
  });

  it('A call that is cancelled while its bundle is set up ends at once, never runs, and the setup continues.', async () => {
    const held = heldSetup();
    const run = vi.fn();
    const bundles = [{ name: 'a', tools: [toolOf('t', { run })], setup: held.setup }];
    const chest = await (await createCrib({ bundles })).open();
    const cancelling = new AbortController();
    const result = chest.call('t', {}, { signal: cancelling.signal });
    await held.started;
    cancelling.abort();
    expect(endOf(await result)).toBe('cancelled');
    held.finish();
    expect(endOf(await chest.call('t'))).toBe('done');
    expect([run.mock.calls.length, held.runs()]).toEqual([1, 1]);
  });
});

describe('time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('It is tried again after a pause.', async () => {
    const { chest, setup, mend } = await openBrittle();
    await chest.call('broken_tool');
    mend();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(endOf(await chest.call('broken_tool'))).toBe('unavailable');
    expect(setup).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(stateIn(await chest.call('broken_tool'))).toBe('mended');
    expect(setup).toHaveBeenCalledTimes(2);
  });

  it('Each failure begins a new pause.', async () => {
    const { chest, setup } = await openBrittle();
    for (const afterMs of [0, 31_000, 10_000, 10_000, 31_000]) {
      await vi.advanceTimersByTimeAsync(afterMs);
      await chest.call('broken_tool');
    }
    expect(setup).toHaveBeenCalledTimes(3);
  });

  it('A setup that never settles fails when its time is up, for activations and calls alike.', async () => {
    const held = heldSetup();
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup: held.setup })] })).open();
    const activation = chest.activate('a');
    const result = chest.call('a_tool');
    const { signal } = await held.started;
    expect(signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reasonOf(await activation, 'a')).toContain('did not finish within 60000 ms');
    expect(endOf(await result)).toBe('unavailable');
    expect(signal.aborted).toBe(true);
  });

  it('What a setup makes when its time is up is disposed of at once and never used.', async () => {
    const held = heldSetup('late');
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup: held.setup })] })).open();
    const activation = chest.activate('a');
    await held.started;
    await vi.advanceTimersByTimeAsync(60_000);
    await activation;
    held.finish();
    await oneTurn();
    expect(held.disposals()).toBe(1);
    expect(endOf(await chest.call('a_tool'))).toBe('unavailable');
  });

  it('A setup that never settles delays no other bundle.', async () => {
    const bundles = [bundleOf('stuck', { setup: () => new Promise<void>(() => {}) }), bundleOf('sound')];
    const chest = await (await createCrib({ bundles })).open();
    const stuck = chest.activate('stuck');
    expect((await chest.activate('sound')).ok).toBe(true);
    expect(endOf(await chest.call('sound_tool'))).toBe('done');
    expect(namesOf(chest.list())).toEqual(['stuck_tool', 'sound_tool']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await stuck).ok).toBe(false);
  });

  it('The timer of a setup that has finished does not fire later.', async () => {
    const setup = vi.fn(() => ({ state: 'ready' }));
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup })] })).open();
    await chest.activate('a');
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(stateIn(await chest.call('a_tool'))).toBe('ready');
  });
});
