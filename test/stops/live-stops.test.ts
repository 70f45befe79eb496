import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readStopTarget, type StoredStop, targetsOf } from '../../src/core/ports/stored-stops.ts';
import { ToolcribError } from '../../src/core/tool-error.ts';
import { createLiveStops } from '../../src/stops/live-stops.ts';
import { openStore } from '../../src/store/open-store.ts';
import { manualClock } from '../crib/manual-clock.ts';

/** Live stops over a real store, how often they read it, and how to let it fail. */
async function openStops({ isStored = true } = {}) {
  const store = await openStore({ url: 'memory:', env: {} });
  onTestFinished(() => store.close());
  const clock = manualClock();
  const warnings: string[] = [];
  let [reads, broken]: [number, Error | undefined] = [0, undefined];
  const stored = {
    list: async () => {
      reads++;
      if (broken !== undefined) throw broken;
      return store.stops.list();
    },
  };
  const live = createLiveStops({
    stored,
    isStored: () => isStored,
    running: () => [],
    cancel: () => {},
    warn: (text) => void warnings.push(text),
    clock,
  });
  onTestFinished(() => live.close());
  const isStopped = () => live.covering({ tool: 'add', source: 'code', caller: 'ann', profile: 'p' }).length > 0;
  const breakWith = (cause: Error | undefined) => {
    broken = cause;
  };
  return { stops: store.stops, live, clock, warnings, reads: () => reads, isStopped, breakWith };
}

const gone = new ToolcribError('store_unavailable', 'gone');

describe('stops in force', () => {
  it('are read at the first call, and every 500 ms from then on', async () => {
    const { stops, live, clock, reads, isStopped } = await openStops();
    expect([live.isOpen, reads(), clock.count()]).toEqual([false, 0, 0]);
    expect(await live.known()).toBeUndefined();
    expect([live.isOpen, reads()]).toEqual([true, 1]);
    await stops.add({ target: 'tool:add', by: 'ann' });
    expect(isStopped()).toBe(false);
    clock.advance(500);
    await vi.waitFor(() => expect(isStopped()).toBe(true));
    await stops.remove('tool:add');
    await vi.waitFor(() => expect(clock.count()).toBe(1));
    clock.advance(500);
    await vi.waitFor(() => expect(live.isOpen).toBe(true));
    expect(reads()).toBe(3);
  });

  it('stay in force while the store cannot be read', async () => {
    const { stops, live, clock, warnings, reads, isStopped, breakWith } = await openStops();
    await stops.add({ target: 'all', by: 'ann' });
    await live.known();
    breakWith(gone);
    for (const read of [2, 3]) {
      await vi.waitFor(() => expect(clock.count()).toBe(1));
      clock.advance(500);
      await vi.waitFor(() => expect(reads()).toBe(read));
    }
    expect([isStopped(), live.isOpen]).toEqual([true, false]);
    await expect(live.look()).rejects.toBe(gone);
    expect(warnings).toEqual([]);
  });

  it('that were never read refuse every call until the store can be read', async () => {
    const { live, isStopped, breakWith } = await openStops();
    breakWith(gone);
    expect(await live.known()).toMatchObject({ code: 'unavailable', retryable: true });
    expect([live.isOpen, live.isKnown, isStopped()]).toEqual([false, false, false]);
    breakWith(undefined);
    expect(await live.known()).toBeUndefined();
    expect(live.isOpen).toBe(true);
  });

  it('open no store where none exists, until one is written', async () => {
    const { stops, live, reads, isStopped } = await openStops({ isStored: false });
    expect(await live.known()).toBeUndefined();
    expect([live.isOpen, reads()]).toEqual([true, 0]);
    live.enforce((await stops.add({ target: 'caller:ann', by: 'olga' })).stop);
    expect(isStopped()).toBe(true);
    await live.look();
    expect([reads(), isStopped()]).toEqual([1, true]);
  });

  it('warn of a failure that is not the end of the store', async () => {
    const { live, clock, warnings, breakWith } = await openStops();
    await live.known();
    breakWith(new Error('a bug'));
    clock.advance(500);
    await vi.waitFor(() => expect(warnings).toEqual(['Reading the emergency stops failed: a bug']));
  });

  it('cover a call exactly if a target names all calls, or its tool, source, profile or caller', () => {
    const word = fc.constantFrom('a', 'b', 'all', 'tool:a');
    const call = fc.record({
      tool: fc.option(word, { nil: undefined }),
      source: fc.option(word, { nil: undefined }),
      caller: fc.option(word, { nil: undefined }),
      profile: word,
    });
    const target = fc.oneof(
      fc.constant({ kind: 'all', name: '' } as const),
      fc.record({ kind: fc.constantFrom('tool', 'source', 'caller', 'profile'), name: word }),
    );
    fc.assert(
      fc.property(call, fc.array(target, { maxLength: 4 }), (called, targets) => {
        const live = createLiveStops({
          stored: undefined,
          isStored: () => false,
          running: () => [],
          cancel: () => {},
          warn: () => {},
        });
        for (const { kind, name } of targets)
          live.enforce({ target: kind === 'all' ? kind : `${kind}:${name}`, by: 'ann', at: 1 } as StoredStop);
        const isMeant = targets.some(({ kind, name }) => kind === 'all' || called[kind] === name);
        expect(live.covering(called).length > 0).toBe(isMeant);
        for (const stop of live.covering(called)) expect(targetsOf(called)).toContain(stop.target);
      }),
    );
  });
});

describe('a target', () => {
  it.each([
    ['all', { kind: 'all', name: '' }],
    ['tool:add', { kind: 'tool', name: 'add' }],
    ['source:gh:2', { kind: 'source', name: 'gh:2' }],
    ['caller:all', { kind: 'caller', name: 'all' }],
    ['caller:https://id.example.com/ann b', { kind: 'caller', name: 'https://id.example.com/ann b' }],
    ['profile:assistant', { kind: 'profile', name: 'assistant' }],
  ])('%s is read', (target, read) => {
    expect(readStopTarget(target)).toEqual({ target, ...read });
  });

  it.each([
    [undefined, 'nothing cannot be stopped: use tool:NAME'],
    [{}, 'an object cannot be stopped'],
    ['', '"" cannot be stopped'],
    ['add', '"add" cannot be stopped: use tool:NAME, source:NAME, caller:ID, profile:NAME or all.'],
    ['al', 'Did you mean "all"?'],
    ['tol:add', 'Did you mean "tool"?'],
    ['bundle:files', '"bundle:files" cannot be stopped: use tool:NAME'],
    ['tool:', 'The name after "tool:" must be a text of 1 to 200 characters'],
    ['caller:a\nb', 'without control characters, got "a\\nb"'],
    ['caller:\ud800', 'without control characters'],
    [`profile:${'x'.repeat(201)}`, 'must be a text of 1 to 200 characters'],
    ['tool:pay_*', '"pay_*" is not the name of a tool. A stop names one tool; to stop several'],
  ])('%j is refused with what to write', (target, message) => {
    expect(readStopTarget(target)).toEqual({ mistake: expect.stringContaining(message) });
  });
});
