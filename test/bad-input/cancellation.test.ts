import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createCrib, defineExtension, type ToolCall, type ToolResult } from '../../src/index.ts';

const turn = () => new Promise(setImmediate);

describe('a signal that is already aborted', () => {
  it('ends the call before anything runs', async () => {
    const run = vi.fn();
    const approve = vi.fn(() => true);
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', policy: { approval: 'always' }, run }] });
    const chest = await crib.open(undefined, { approve });
    const result = await chest.call('tool', {}, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect([run.mock.calls.length, approve.mock.calls.length]).toEqual([0, 0]);
  });

  it('gives a cancelled call, for any abort reason', async () => {
    const chest = await (await createCrib({ tools: [{ name: 'tool', description: '', run: () => 1 }] })).open();
    for (const reason of [undefined, null, 'text', new Error('x'), Symbol('x'), Object.create(null)]) {
      expect(await chest.call('tool', {}, { signal: AbortSignal.abort(reason) })).toMatchObject({
        error: { code: 'cancelled' },
      });
    }
  });
});

describe('a signal that outlives its calls', () => {
  it.each<[string, (input: unknown, call: ToolCall) => unknown]>([
    ['answer at once', (_, call) => call.signal.aborted],
    ['take their time', async (_, call) => call.signal.aborted],
    [
      'fail',
      (_, call) => {
        throw new Error(String(call.signal.aborted));
      },
    ],
    ['call others', async (_, call) => (await call.tools.call('inner', {})).ok],
  ])('leaves no listener of tools that %s', async (_, run) => {
    const inner = { name: 'inner', description: '', run: (_input: unknown, call: ToolCall) => call.signal.aborted };
    const chest = await (await createCrib({ tools: [{ name: 'tool', description: '', run }, inner] })).open();
    const { signal } = new AbortController();
    for (let i = 0; i < 5; i++) await chest.call('tool', {}, { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('1,000 concurrent calls with random cancellation', () => {
  it('every call gets exactly one answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(5)), async (dice) => {
        const draw = () => dice.next().value ?? 0;
        const ended = vi.fn();
        const run = async (_: unknown, call: ToolCall) => {
          for (let turns = draw(); turns > 0 && !call.signal.aborted; turns--) await turn();
          if (draw() === 0) throw new Error('unlucky');
          return 'lucky';
        };
        const crib = await createCrib({
          tools: [
            { name: 'work', description: '', policy: { concurrency: [{ scope: 'tool', amount: 50 }] }, run },
            { name: 'ask', description: '', policy: { approval: 'always' }, run },
          ],
          extensions: [defineExtension({ name: 'count', onEnd: ended })],
        });
        const approve = async () => {
          await turn();
          return draw() > 0;
        };
        const chest = await crib.open(undefined, { approve });
        const answers: ToolResult[][] = Array.from({ length: 1000 }, () => []);
        const askers = answers.map((list) => {
          const asker = new AbortController();
          const name = (['work', 'ask', 'nobody'] as const)[draw() % 3] ?? 'work';
          chest.call(name, {}, { signal: asker.signal }).then((result) => list.push(result));
          return asker;
        });
        for (const asker of askers) {
          if (draw() === 0) asker.abort();
          if (draw() === 1) await turn();
        }
        await crib.close();
        await turn();
        expect(answers.filter((list) => list.length !== 1)).toEqual([]);
        expect(ended).toHaveBeenCalledTimes(1000);
      }),
      { numRuns: 3 },
    );
  });

  it('and all slots are free afterwards', async () => {
    const crib = await createCrib({
      tools: [
        {
          name: 'work',
          description: '',
          policy: { concurrency: [{ scope: 'tool', amount: 3 }] },
          run: async () => void (await turn()),
        },
      ],
    });
    const chest = await crib.open();
    const calls = Array.from({ length: 100 }, (_, index) => {
      const asker = new AbortController();
      if (index % 3 === 0) queueMicrotask(() => asker.abort());
      if (index % 7 === 0) setImmediate(() => asker.abort());
      return chest.call('work', {}, { signal: asker.signal });
    });
    await Promise.all(calls);
    const together = await Promise.all(Array.from({ length: 3 }, () => chest.call('work')));
    expect(together.every((result) => result.ok)).toBe(true);
  });
});
