import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Chest, concurrency, createCrib, type Slots, type ToolInput, type ToolResult } from '../../src/index.ts';

/** Tools that run until they are let go, and what is running now. */
function workshop() {
  const running: { readonly name: string; readonly finish: (value: unknown) => void }[] = [];
  const work = async (name: string) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const entry = { name, finish: resolve };
    running.push(entry);
    const value = await promise;
    running.splice(running.indexOf(entry), 1);
    return value;
  };
  const tool = (name: string, slots?: readonly Slots[]): ToolInput => ({
    name,
    description: '',
    ...(slots !== undefined && { policy: { concurrency: slots } }),
    run: () => work(name),
  });
  return { running, tool, work, names: () => running.map((entry) => entry.name) };
}

const settled = () => new Promise(setImmediate);
const ONE_OF_TOOL = [{ scope: 'tool', amount: 1 }] as const;

describe('concurrency: as many at once as the slots allow', () => {
  it('per tool', async () => {
    const { tool, names } = workshop();
    const chest = await (
      await createCrib({ tools: [tool('a', [{ scope: 'tool', amount: 2 }]), tool('b', ONE_OF_TOOL)] })
    ).open();
    for (const name of ['a', 'a', 'a', 'b', 'b']) chest.call(name);
    await settled();
    expect(names()).toEqual(['a', 'a', 'b']);
  });

  it('per source', async () => {
    const { tool, names } = workshop();
    const profiles = { only: { policy: { concurrency: [{ scope: 'source', amount: 1 }] } } } as const;
    const remote = {
      name: 'remote',
      start: async () => ({
        specs: () => [tool('far')] as never, // a plain tool, which the crib turns into a spec
        onChange: () => () => {},
        status: () => ({ state: 'ready' }) as const,
        close: async () => {},
      }),
    };
    const chest = await (await createCrib({ tools: [tool('a'), tool('b')], sources: [remote], profiles })).open();
    for (const name of ['a', 'b', 'far', 'far']) chest.call(name);
    await settled();
    expect(names()).toEqual(['a', 'far']);
  });

  it('global', async () => {
    const { tool, names } = workshop();
    const extensions = [concurrency({ slots: [{ scope: 'all', amount: 2 }] })];
    const crib = await createCrib({ tools: [tool('a'), tool('b')], extensions });
    const [ann, bob] = [await crib.open(undefined, { id: 'ann' }), await crib.open(undefined, { id: 'bob' })];
    for (const name of ['a', 'b']) ann.call(name);
    bob.call('a');
    await settled();
    expect(names()).toEqual(['a', 'b']);
  });

  it('per caller', async () => {
    const { tool, running } = workshop();
    const crib = await createCrib({ tools: [tool('a', [{ scope: 'caller', amount: 1 }])] });
    for (const id of ['ann', 'ann', 'bob']) (await crib.open(undefined, { id })).call('a');
    await settled();
    expect(running).toHaveLength(2);
  });

  it('the slots of tool and profile must all be free', async () => {
    const { tool, names } = workshop();
    const profiles = { only: { policy: { concurrency: [{ scope: 'profile', amount: 2 }] } } } as const;
    const chest = await (await createCrib({ tools: [tool('a', ONE_OF_TOOL), tool('b'), tool('c')], profiles })).open();
    for (const name of ['a', 'b', 'c']) chest.call(name);
    await settled();
    expect(names()).toEqual(['a', 'b']);
  });

  it('without limits no call waits', async () => {
    const { tool, running } = workshop();
    const chest = await (await createCrib({ tools: [tool('a')] })).open();
    for (let i = 0; i < 50; i++) chest.call('a');
    await settled();
    expect(running).toHaveLength(50);
  });
});

describe('concurrency: a slot is freed', () => {
  const open = async (run: ToolInput) => (await createCrib({ tools: [run] })).open();

  it('when a call ends, and the first waiting call is next', async () => {
    const log: unknown[] = [];
    const first = Promise.withResolvers<void>();
    const run = async ({ id }: { id: number }) => {
      log.push(id);
      if (id === 0) await first.promise;
    };
    const chest = await open({ name: 'a', description: '', policy: { concurrency: ONE_OF_TOOL }, run });
    const calls = [0, 1, 2].map((id) => chest.call('a', { id }));
    await settled();
    expect(log).toEqual([0]);
    first.resolve();
    await Promise.all(calls);
    expect(log).toEqual([0, 1, 2]);
  });

  it.each<[string, (attempt: number) => unknown]>([
    ['fails', () => Promise.reject(new Error('no'))],
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
    ],
    ['answers at once', () => 'yes'],
  ])('when a call %s', async (_, run) => {
    const chest = await open({ name: 'a', description: '', policy: { concurrency: ONE_OF_TOOL }, run: () => run(0) });
    const first = await chest.call('a');
    expect(await chest.call('a')).toEqual(first);
  });

  it('when a call is cancelled, even if its tool continues', async () => {
    const { tool, running } = workshop();
    const chest = await open(tool('a', ONE_OF_TOOL));
    const asker = new AbortController();
    const first = chest.call('a', {}, { signal: asker.signal });
    chest.call('a');
    await settled();
    asker.abort();
    await first;
    await settled();
    expect(running).toHaveLength(2);
  });
});

describe('concurrency: a slot is freed in time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('when a call times out', async () => {
    const { tool, running } = workshop();
    const chest = await (await createCrib({ tools: [tool('a', ONE_OF_TOOL)] })).open();
    const first = chest.call('a', {}, { timeoutMs: 10 });
    chest.call('a');
    await vi.advanceTimersByTimeAsync(10);
    expect(await first).toMatchObject({ error: { code: 'timeout' } });
    expect(running).toHaveLength(2);
  });
});

describe('concurrency: waiting', () => {
  const openBusy = async (maxWaiting: number): Promise<{ chest: Chest; release: () => void; ran: () => number }> => {
    const { work, running } = workshop();
    const run = vi.fn(() => work('a'));
    const crib = await createCrib({
      tools: [{ name: 'a', description: '', policy: { concurrency: ONE_OF_TOOL }, run }],
      extensions: [concurrency({ maxWaiting })],
    });
    const chest = await crib.open();
    chest.call('a');
    await settled();
    return { chest, release: () => running[0]?.finish('done'), ran: () => run.mock.calls.length };
  };

  it('a waiting call can be cancelled', async () => {
    const { chest, release, ran } = await openBusy(10);
    const asker = new AbortController();
    const waiting = chest.call('a', {}, { signal: asker.signal });
    asker.abort();
    expect(await waiting).toMatchObject({ error: { code: 'cancelled' } });
    release();
    await settled();
    expect(ran()).toBe(1);
  });

  it('a cancelled call leaves its place in the queue to others', async () => {
    const { chest } = await openBusy(1);
    const asker = new AbortController();
    const gone = chest.call('a', {}, { signal: asker.signal });
    asker.abort();
    await gone;
    const answers: ToolResult[] = [];
    chest.call('a').then((result) => answers.push(result));
    await settled();
    expect(answers).toEqual([]);
  });

  it('the queue is bounded and overflow is unavailable', async () => {
    const { chest, ran } = await openBusy(2);
    const waiting = [chest.call('a'), chest.call('a')];
    const answers: ToolResult[] = [];
    for (const call of waiting) call.then((result) => answers.push(result));
    expect(await chest.call('a')).toMatchObject({
      error: { code: 'unavailable', retryable: true, message: expect.stringContaining('2 calls') },
    });
    expect([answers.length, ran()]).toEqual([0, 1]);
  });

  it('one caller takes only its part of the queue', async () => {
    const { work } = workshop();
    const crib = await createCrib({
      tools: [{ name: 'a', description: '', policy: { concurrency: ONE_OF_TOOL }, run: () => work('a') }],
      extensions: [concurrency({ maxWaiting: 10, maxWaitingPerCaller: 1 })],
    });
    const [ann, bob] = [await crib.open(undefined, { id: 'ann' }), await crib.open(undefined, { id: 'bob' })];
    for (const chest of [ann, ann]) chest.call('a');
    await settled();
    expect(await ann.call('a')).toMatchObject({
      error: {
        code: 'unavailable',
        retryable: true,
        message: expect.stringContaining('calls of this caller are already waiting (at most 1)'),
      },
    });
    const answers: ToolResult[] = [];
    bob.call('a').then((result) => answers.push(result));
    await settled();
    expect(answers).toEqual([]);
  });
});
