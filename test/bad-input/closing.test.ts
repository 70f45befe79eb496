import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCrib, defineBundle, type Source, type ToolInput } from '../../src/index.ts';

const tool = (run: () => unknown = () => 'ran'): ToolInput => ({ name: 'tool', description: '', run });
const source = (close: () => Promise<void>): Source => ({
  name: 'remote',
  start: async () => ({ specs: () => [], onChange: () => () => {}, status: () => ({ state: 'ready' }), close }),
});
const turn = () => new Promise(setImmediate);

describe('a crib that is closed', () => {
  it('answers every call with unavailable, and no tool runs', async () => {
    const run = vi.fn();
    const crib = await createCrib({ tools: [tool(run)] });
    const chest = await crib.open();
    await crib.close();
    expect(await chest.call('tool')).toMatchObject({
      ok: false,
      error: { code: 'unavailable', message: 'The crib is closed.' },
    });
    expect(await chest.callAll([{ id: '1', name: 'tool', input: {} }])).toMatchObject([
      { id: '1', result: { error: { code: 'unavailable' } } },
    ]);
    expect(run).not.toHaveBeenCalled();
  });

  it('answers calls of chests that are opened later the same way', async () => {
    const crib = await createCrib({ tools: [tool()] });
    await crib.close();
    const opened = await crib.open().then(
      (chest) => chest.call('tool'),
      (error: unknown) => ({ ok: false, error }),
    );
    expect(opened).toMatchObject({ ok: false });
  });

  it('does not reveal which names it knew', async () => {
    const crib = await createCrib({ tools: [tool()] });
    const chest = await crib.open();
    await crib.close();
    expect(await chest.call('nobody')).toMatchObject({ error: { code: 'unavailable' } });
  });

  it('can be closed again, and closes no part twice', async () => {
    const close = vi.fn(async () => {});
    const dispose = vi.fn();
    const bundle = defineBundle({ name: 'home', tools: [tool()], setup: () => ({ dispose }) });
    const crib = await createCrib({ bundles: [bundle], sources: [source(close)] });
    await (await crib.open()).call('tool');
    await crib.close();
    await crib.close();
    expect([close.mock.calls.length, dispose.mock.calls.length]).toEqual([1, 1]);
  });
});

describe('a crib that is closed while calls run', () => {
  it('waits for the calls', async () => {
    const answer = Promise.withResolvers<string>();
    const crib = await createCrib({ tools: [tool(() => answer.promise)] });
    const result = (await crib.open()).call('tool');
    let isClosed = false;
    const closing = crib.close().then(() => {
      isClosed = true;
    });
    await turn();
    expect(isClosed).toBe(false);
    answer.resolve('finished');
    await closing;
    expect(await result).toMatchObject({ ok: true, content: [{ text: 'finished' }] });
  });

  it('accepts no new calls meanwhile', async () => {
    const answer = Promise.withResolvers<string>();
    const crib = await createCrib({ tools: [tool(() => answer.promise)] });
    const chest = await crib.open();
    const first = chest.call('tool');
    const closing = crib.close();
    expect(await chest.call('tool')).toMatchObject({ error: { code: 'unavailable' } });
    answer.resolve('finished');
    await closing;
    expect(await first).toMatchObject({ ok: true });
  });

  it('closes the parts that calls use after the calls', async () => {
    const answer = Promise.withResolvers<string>();
    const close = vi.fn(async () => {});
    const crib = await createCrib({ tools: [tool(() => answer.promise)], sources: [source(close)] });
    (await crib.open()).call('tool');
    const closing = crib.close();
    await turn();
    expect(close).not.toHaveBeenCalled();
    answer.resolve('finished');
    await closing;
    expect(close).toHaveBeenCalledOnce();
  });

  it('and closed a second time: both closings resolve once it is closed', async () => {
    const answer = Promise.withResolvers<string>();
    const crib = await createCrib({ tools: [tool(() => answer.promise)] });
    (await crib.open()).call('tool');
    const first = crib.close();
    let isClosed = false;
    const second = crib.close().then(() => {
      isClosed = true;
    });
    await turn();
    expect(isClosed).toBe(false);
    answer.resolve('finished');
    await Promise.all([first, second]);
  });
});

describe('a crib whose parts cannot be closed', () => {
  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('stuck'))],
    [
      'throws',
      () => {
        throw new Error('stuck');
      },
    ],
    ['rejects with nothing', () => Promise.reject()],
    ['rejects with what cannot be printed', () => Promise.reject(Object.create(null))],
  ])('a source that %s does not keep the others open', async (_, close) => {
    const other = vi.fn(async () => {});
    const crib = await createCrib({ sources: [source(close), { ...source(other), name: 'other' }] });
    await crib.close();
    expect(other).toHaveBeenCalledOnce();
    expect(crib.warnings()).toContainEqual(expect.stringContaining('remote'));
  });

  it('a bundle that fails to close does not keep the sources open', async () => {
    const close = vi.fn(async () => {});
    const dispose = () => {
      throw Object.create(null);
    };
    const bundle = defineBundle({ name: 'home', tools: [tool()], setup: () => ({ dispose }) });
    const crib = await createCrib({ bundles: [bundle], sources: [source(close)] });
    await (await crib.open()).call('tool');
    await crib.close();
    expect(close).toHaveBeenCalledOnce();
  });
});

describe('a crib that is closed while a call never ends', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits at most ten seconds', async () => {
    const crib = await createCrib({ tools: [tool(() => new Promise(() => {}))] });
    (await crib.open()).call('tool', {}, { timeoutMs: 1_000_000 });
    let isClosed = false;
    crib.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isClosed).toBe(true);
  });

  it('ends a call that still waits for approval: its tool never runs', async () => {
    const run = vi.fn();
    const answer = Promise.withResolvers<boolean>();
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', policy: { approval: 'always' }, run }] });
    const result = (await crib.open(undefined, { approve: () => answer.promise })).call('tool');
    const closing = crib.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await closing;
    answer.resolve(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(run).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(await result).toMatchObject({ ok: false });
  });
});
