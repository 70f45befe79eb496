import { describe, expect, it } from 'vitest';
import { createCrib, defineTool } from '../../src/index.ts';
import { idOf, inBackground, openBackground } from './background.ts';

describe('chest.submit', () => {
  it('stores a call, which the crib makes later, and its result', async () => {
    const { crib, chest } = await openBackground();
    const submitted = await chest.submit('add', { a: 2, b: 3 });
    expect(submitted).toMatchObject({ ok: false, status: 'waiting', waiting: { for: 'task' } });
    const id = idOf(submitted);
    expect(await crib.tasks.wait(id)).toMatchObject({ ok: true, data: 5 });
    expect(await crib.tasks.get(id)).toMatchObject({
      id,
      tool: 'add',
      state: 'done',
      outcome: 'done',
      caller: { id: 'ann' },
      arguments: { a: 2, b: 3 },
      result: { ok: true, data: 5 },
    });
  });

  it.each([
    ['an unknown tool', 'ad', {}, 'unknown_tool'],
    ['wrong arguments', 'add', { a: 'two' }, 'invalid_input'],
    ['arguments that are not an object', 'add', [1], 'invalid_input'],
  ])('refuses %s at once', async (_, name, input, code) => {
    const { crib, chest } = await openBackground();
    expect(await chest.submit(name, input)).toMatchObject({ status: 'failed', error: { code } });
    expect(await crib.tasks.list()).toEqual([]);
  });

  it.each([
    ['context', { context: { session: {} } }],
    ['signal', { signal: new AbortController().signal }],
    ['onProgress', { onProgress: () => {} }],
    ['answers', { answers: { approval: true } }],
    ['approvalId', { approvalId: 'abc' }],
    ['delayMs below 0', { delayMs: -1 }],
    ['delayMs of ten years', { delayMs: 3.2e11 }],
    ['delayMs that is a text', { delayMs: '5' }],
    ['delayMs and at', { delayMs: 1, at: 1 }],
    ['at that is not a number', { at: Number.NaN }],
    ['priority above 100', { priority: 101 }],
    ['priority with a fraction', { priority: 0.5 }],
    ['expiresMs of 0', { expiresMs: 0 }],
    ['an unknown webhook', { notify: 'nowhere' }],
    ['an unknown option', { delay: 5 }],
    ['an empty id', { id: '' }],
    ['options that are a text', 'soon'],
  ])('refuses %s', async (_, options) => {
    const { crib, chest } = await openBackground();
    const submitted = await chest.submit('add', { a: 1, b: 1 }, options as never);
    expect(submitted).toMatchObject({ status: 'failed', error: { code: 'invalid_input' } });
    expect(await crib.tasks.list()).toEqual([]);
  });

  it('says why objects of this process cannot be stored', async () => {
    const { crib, chest } = await openBackground();
    const refused = await chest.submit('add', { a: 1, b: 1 }, { context: {} } as never);
    expect(refused).toMatchObject({
      error: { message: expect.stringMatching(/"context".*runs later.*another process/) },
    });
    const asked = await crib.open(undefined, { id: 'ann', approve: () => true });
    expect(await asked.submit('add', { a: 1, b: 1 })).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining('approve callback') },
    });
  });

  it('refuses options that throw when they are read', async () => {
    const { chest } = await openBackground();
    const hostile = new Proxy(
      {},
      {
        has: () => {
          throw new Error('no');
        },
        ownKeys: () => {
          throw new Error('no');
        },
      },
    );
    expect(await chest.submit('add', { a: 1, b: 1 }, hostile)).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('needs a store', async () => {
    const crib = await createCrib({
      tools: [defineTool({ name: 'hi', description: 'Say hi', input: {}, run: () => 'hi' })],
    });
    const chest = await crib.open();
    expect(await chest.submit('hi')).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('store') },
    });
    await crib.close();
  });

  it('refuses an id that a task has', async () => {
    const { chest } = await openBackground();
    expect(await chest.submit('add', { a: 1, b: 1 }, { id: 'mine' })).toMatchObject({ status: 'waiting' });
    expect(await chest.submit('add', { a: 1, b: 1 }, { id: 'mine' })).toMatchObject({ error: { code: 'conflict' } });
  });

  it('stores as many calls of a caller as the configuration allows', async () => {
    const { chest, gate, begun } = await openBackground({ config: { tasks: { maxPerCaller: 3 } } });
    for (let count = 0; count < 3; count++) idOf(await chest.submit('slow', {}, { delayMs: 60_000 }));
    const fourth = await chest.submit('slow');
    expect(fourth).toMatchObject({ error: { code: 'rate_limited', message: expect.stringContaining('maxPerCaller') } });
    gate.resolve();
    begun.resolve();
  });

  it('charges the rate limit when the call runs, not when it is submitted', async () => {
    const { crib, chest } = await openBackground({
      config: { extensions: { rateLimit: { rates: [{ amount: 1, perMs: 600_000, scope: 'caller' }] } } },
    });
    expect(await inBackground({ crib, chest }, 'add', { a: 1, b: 1 })).toMatchObject({ data: 2 });
    expect(await chest.submit('add', { a: 1, b: 1 })).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('records the submission and the run in the audit log', async () => {
    const { crib, chest } = await openBackground();
    const id = idOf(await chest.submit('add', { a: 1, b: 1 }));
    await crib.tasks.wait(id);
    const calls = await crib.calls.list({ tool: 'add' });
    expect(calls.filter((call) => call.callId === id).map(({ outcome, door }) => [outcome, door])).toEqual(
      expect.arrayContaining([
        ['waiting', 'library'],
        ['done', 'task'],
      ]),
    );
  });
});
