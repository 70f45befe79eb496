import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCrib, done, type Executor, type Extension, type SetupContext, type ToolCall } from '../../src/index.ts';
import { bundleOf, changingSource, endOf, heldSetup, oneTurn, toolOf } from './small-crib.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('disposing', () => {
  it('Closing disposes of a bundle before its requirements.', async () => {
    const order: string[] = [];
    const noted = (name: string, requires: string[]) =>
      bundleOf(name, { requires, setup: () => ({ dispose: () => void order.push(name) }) });
    const crib = await createCrib({
      bundles: [noted('top', ['middle']), noted('middle', ['base']), noted('base', [])],
    });
    const chest = await crib.open();
    await chest.activate('base');
    await chest.activate('top');
    await crib.close();
    expect(order).toEqual(['top', 'middle', 'base']);
  });

  it('Each is disposed of after the one before it has been, once, however often the crib is closed.', async () => {
    const order: string[] = [];
    const slow = (name: string, requires: string[]) => ({
      ...bundleOf(name, { requires }),
      setup: () => ({
        async dispose() {
          order.push(`${name} begins`);
          await oneTurn();
          order.push(`${name} ends`);
        },
      }),
    });
    const crib = await createCrib({ bundles: [slow('b', ['a']), slow('a', [])] });
    await (await crib.open()).activate('b');
    await crib.close();
    await crib.close();
    expect(order).toEqual(['b begins', 'b ends', 'a begins', 'a ends']);
  });

  it('What was never set up is not disposed of.', async () => {
    const setup = vi.fn();
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })] });
    await crib.open();
    await crib.close();
    expect(setup).not.toHaveBeenCalled();
  });

  it('A dispose that throws keeps no other from being disposed of.', async () => {
    const dispose = vi.fn();
    const bad = bundleOf('bad', {
      requires: 'good',
      setup: () => ({
        dispose() {
          throw new Error('stuck');
        },
      }),
    });
    const crib = await createCrib({ bundles: [bad, bundleOf('good', { setup: () => ({ dispose }) })] });
    await (await crib.open()).activate('bad');
    await crib.close();
    expect(dispose).toHaveBeenCalledOnce();
    expect(crib.warnings()).toEqual([expect.stringContaining('Disposing of bundle "bad" failed')]);
  });

  it('A setup that runs when the crib closes gets an abort signal, and its result is disposed of exactly once.', async () => {
    const held = heldSetup();
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: held.setup })] });
    const activation = (await crib.open()).activate('a');
    const { signal } = await held.started;
    const closing = crib.close();
    await oneTurn();
    expect(signal.aborted).toBe(true);
    held.finish();
    await Promise.all([activation, closing]);
    expect(held.disposals()).toBe(1);
  });

  it.each(['setup', 'ready'] as const)(
    'The result of every setup is disposed of, even if the bundle was defined again during its %s.',
    async (stage) => {
      const held = heldSetup();
      const counts = { made: 0, disposed: 0 };
      const make = () => {
        counts.made++;
        return { state: counts.made, dispose: () => void counts.disposed++ };
      };
      const wait = async (context: SetupContext) => void (await held.setup(context));
      const slow = {
        setup: async (context: SetupContext) => {
          if (stage === 'setup') await wait(context);
          return make();
        },
        ready: (context: SetupContext) => (stage === 'ready' ? wait(context) : undefined),
      };
      const crib = await createCrib({ bundles: [bundleOf('a', slow)] });
      const chest = await crib.open();
      const first = chest.activate('a');
      await held.started;
      crib.bundles.clear();
      crib.bundles.define({ name: 'a', include: ['a_tool'], setup: make });
      await chest.activate('a');
      held.finish();
      await first;
      expect(endOf(await chest.call('a_tool'))).toBe('done');
      await crib.close();
      expect(counts).toEqual({ made: 2, disposed: 2 });
    },
  );
});

describe('which part closes what', () => {
  it('Only the crib closes sources, extensions and executors, each once.', async () => {
    const remote = changingSource('remote', [toolOf('t')]);
    const [closeExtension, closeExecutor] = [vi.fn(async () => {}), vi.fn(async () => {})];
    const extension: Extension = { name: 'mine', priority: 'normal', onEnd() {}, close: closeExtension };
    const executor: Executor = { kind: 'echo', runSchema: {}, execute: () => done('ok'), close: closeExecutor };
    const crib = await createCrib({ sources: [remote.source], extensions: [extension], executors: [executor] });
    await (await crib.open()).call('t');
    expect(remote.closings()).toBe(0);
    await crib.close();
    await crib.close();
    expect([remote.closings(), closeExtension.mock.calls.length, closeExecutor.mock.calls.length]).toEqual([1, 1, 1]);
  });

  it('Chests have nothing to close.', async () => {
    const chest = await (await createCrib()).open();
    expect([Reflect.get(chest, 'close'), Reflect.get(chest, Symbol.dispose)]).toEqual([undefined, undefined]);
  });

  it('Closing waits for calls in flight before it disposes of anything.', async () => {
    const gate = Promise.withResolvers<string>();
    const dispose = vi.fn();
    const tool = toolOf('slow', { run: () => gate.promise });
    const crib = await createCrib({ bundles: [{ name: 'a', tools: [tool], setup: () => ({ dispose }) }] });
    const chest = await crib.open();
    await chest.activate('a');
    const result = chest.call('slow');
    const closing = crib.close();
    await oneTurn();
    expect(dispose).not.toHaveBeenCalled();
    gate.resolve('finished');
    expect(await result).toMatchObject({ ok: true, content: [{ text: 'finished' }] });
    await closing;
    expect(dispose).toHaveBeenCalledOnce();
  });

  it('A running call may finish: the calls that it makes still run while the crib closes.', async () => {
    const gate = Promise.withResolvers<void>();
    const outer = toolOf('outer', {
      async run(_, call) {
        await gate.promise;
        return call.tools.call('inner', {});
      },
    });
    const crib = await createCrib({ tools: [outer, toolOf('inner')] });
    const result = (await crib.open()).call('outer');
    const closing = crib.close();
    gate.resolve();
    expect(endOf(await result)).toBe('done');
    await closing;
  });

  it('A call that never ends does not keep the crib open forever.', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
    const dispose = vi.fn();
    const tool = toolOf('stuck', { run: () => new Promise(() => {}) });
    const crib = await createCrib({ bundles: [{ name: 'a', tools: [tool], setup: () => ({ dispose }) }] });
    const chest = await crib.open();
    await chest.activate('a');
    const result = chest.call('stuck', {}, { timeoutMs: 3_600_000 });
    const closing = crib.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await closing;
    expect(dispose).toHaveBeenCalledOnce();
    expect(endOf(await result)).toBe('unknown_outcome'); // it had begun
  });

  it.each<[string, object, string]>([
    ['of unknown effects', {}, 'unknown_outcome'],
    ['that destroys', { effects: { destructive: true }, policy: { approval: 'never' } }, 'unknown_outcome'],
    ['that only reads', { effects: { readOnly: true } }, 'cancelled'],
    ['that may be repeated', { effects: { idempotent: true } }, 'cancelled'],
  ])('A running call of a tool %s says at the end whether it may be repeated.', async (_, more, code) => {
    const run = vi.fn(() => new Promise(() => {}));
    const crib = await createCrib({ tools: [toolOf('stuck', { ...more, run })] });
    const chest = await crib.open();
    const keyed = { idempotencyKey: 'pay' };
    const result = chest.call('stuck', {}, keyed);
    await vi.waitUntil(() => run.mock.calls.length === 1);
    crib.endCalls();
    expect(endOf(await result)).toBe(code);
    await expect.poll(async () => endOf(await chest.call('stuck', {}, keyed))).toBe(code); // one key, one run
    expect(run).toHaveBeenCalledOnce();
  });

  it('A nested call reports its own progress.', async () => {
    const inner = vi.fn();
    const crib = await createCrib({
      tools: [
        toolOf('outer', { run: async (_: unknown, call: ToolCall) => inner(await call.tools.call('inner', {})) }),
        toolOf('inner', { effects: { readOnly: true }, run: () => new Promise(() => {}) }),
      ],
    });
    const result = (await crib.open()).call('outer');
    await oneTurn();
    crib.endCalls();
    expect(endOf(await result)).toBe('unknown_outcome');
    await vi.waitUntil(() => inner.mock.calls.length === 1);
    expect(inner.mock.calls[0]?.[0]).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('A call that is made after all calls were ended runs.', async () => {
    const crib = await createCrib({ tools: [toolOf('t')] });
    const chest = await crib.open();
    crib.endCalls();
    expect(endOf(await chest.call('t'))).toBe('done');
  });

  it('After closing, calls answer unavailable and nothing runs.', async () => {
    const run = vi.fn();
    const crib = await createCrib({ tools: [toolOf('t', { run })] });
    const chest = await crib.open();
    await crib.close();
    expect(endOf(await chest.call('t'))).toBe('unavailable');
    expect(run).not.toHaveBeenCalled();
  });

  it('After closing, nothing is set up any more: activate is refused.', async () => {
    const setup = vi.fn((_: SetupContext) => undefined);
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })] });
    const chest = await crib.open();
    await crib.close();
    expect((await chest.activate('a')).ok).toBe(false);
    expect(setup).not.toHaveBeenCalled();
  });
});
