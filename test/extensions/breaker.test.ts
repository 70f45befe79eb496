import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  breaker,
  type Chest,
  createCrib,
  type Executor,
  failed,
  type Source,
  type ToolInput,
  type ToolResult,
  toolError,
} from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server whose answer the test decides, and how often it was reached. */
function server(kind = 'remote') {
  const state = { reached: 0, answer: down('nobody answers') as ToolResult | Promise<ToolResult> };
  const executor: Executor = {
    kind,
    runSchema: {},
    execute: async () => {
      state.reached++;
      return state.answer;
    },
  };
  const tool = (name: string): ToolInput => ({ name, description: '', run: { kind } }) as ToolInput; // run as data
  return { state, executor, tool };
}

const down = (message: string, code: 'unavailable' | 'upstream' | 'timeout' = 'upstream'): ToolResult => ({
  ok: false,
  status: 'failed',
  error: { code, message, retryable: false },
});
const up: ToolResult = { ok: true, status: 'done', content: [{ type: 'text', text: 'here' }] };

async function call(chest: Chest, name: string, times: number): Promise<ToolResult | undefined> {
  let last: ToolResult | undefined;
  for (let time = 0; time < times; time++) last = await chest.call(name);
  return last;
}

async function openWith({ executor, tool }: ReturnType<typeof server>, options?: { openMs: number }): Promise<Chest> {
  const source: Source = {
    name: 'mast',
    start: async () => ({
      specs: () => ['far', 'near'].map(tool) as never, // plain tools, which the crib turns into specs
      onChange: () => () => {},
      status: () => ({ state: 'ready' }),
      close: async () => {},
    }),
  };
  const extensions = options === undefined ? [] : [breaker(options)];
  return (await createCrib({ sources: [source], executors: [executor], extensions })).open();
}

describe('circuit breaker per source: a dead server fails fast, is probed, comes back by itself', () => {
  it('a dead server fails fast: after five failures in a row no call reaches it', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    const refused = await chest.call('far');
    expect(remote.state.reached).toBe(5);
    expect(refused).toMatchObject({
      error: {
        code: 'unavailable',
        retryable: true,
        retryAfterMs: 1000,
        message:
          '"far" of "mast" is not called because it failed 5 times in a row (nobody answers). Try again in 1000 ms.',
      },
    });
  });

  it('tools of one source fail together', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    await chest.call('near');
    expect(remote.state.reached).toBe(5);
  });

  it('tools with different servers do not', async () => {
    const remote = server('http');
    const chest = await openWith(remote);
    await call(chest, 'far', 6);
    expect(remote.state.reached).toBe(5);
    await chest.call('near');
    expect(remote.state.reached).toBe(6);
  });

  it('is probed by one call, however many come at the same time', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    await vi.advanceTimersByTimeAsync(1000);
    const { promise, resolve } = Promise.withResolvers<ToolResult>();
    remote.state.answer = promise;
    const probe = chest.call('far');
    const others = await Promise.all([chest.call('far'), chest.call('near')]);
    expect(remote.state.reached).toBe(6);
    expect(others).toMatchObject([{ error: { code: 'unavailable' } }, { error: { code: 'unavailable' } }]);
    resolve(up);
    expect(await probe).toMatchObject({ ok: true });
  });

  it('recovers automatically', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    await vi.advanceTimersByTimeAsync(1000);
    remote.state.answer = up;
    expect(await call(chest, 'near', 3)).toMatchObject({ ok: true });
    expect(remote.state.reached).toBe(8);
  });

  it('a probe that fails makes the pause twice as long, up to two seconds', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    const pauses = [];
    for (let probe = 0; probe < 4; probe++) {
      const refused = await chest.call('far');
      const pauseMs = refused.status === 'failed' ? (refused.error.retryAfterMs ?? 0) : 0;
      pauses.push(pauseMs / 1000);
      await vi.advanceTimersByTimeAsync(pauseMs);
      await chest.call('far');
    }
    expect(pauses).toEqual([1, 2, 2, 2]);
  });

  it.each([
    ['sooner than it would be', 300, 300],
    ['in half a minute: the bound holds', 30_000, 2000],
    ['at once: not every call probes', 0, 100],
  ])('is probed when the failure names a time to retry: %s', async (_, retryAfterMs, pauseMs) => {
    const remote = server();
    const chest = await openWith(remote);
    remote.state.answer = failed(toolError('unavailable', 'not now', { retryAfterMs }));
    await call(chest, 'far', 5);
    expect(await chest.call('far')).toMatchObject({ error: { retryAfterMs: pauseMs } });
    await vi.advanceTimersByTimeAsync(pauseMs);
    await chest.call('far');
    expect(remote.state.reached).toBe(6);
  });

  it('a probe is tried once, so that it never sleeps', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    await vi.advanceTimersByTimeAsync(1000);
    remote.state.answer = failed(toolError('unavailable', 'not now', { retryable: true }));
    await chest.call('far');
    expect(remote.state.reached).toBe(6);
  });

  it('a probe that takes longer than two seconds blocks no other probe', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    await vi.advanceTimersByTimeAsync(1000);
    remote.state.answer = new Promise(() => {});
    void chest.call('far');
    await vi.advanceTimersByTimeAsync(1999);
    remote.state.answer = up;
    expect(await chest.call('near')).toMatchObject({ error: { code: 'unavailable', retryAfterMs: 1 } });
    await vi.advanceTimersByTimeAsync(1);
    expect(await call(chest, 'near', 2)).toMatchObject({ ok: true });
    expect(remote.state.reached).toBe(8);
  });

  it('a call from before that fails late does not delay the next probe', async () => {
    const remote = server();
    const chest = await openWith(remote);
    const late = Promise.withResolvers<ToolResult>();
    remote.state.answer = late.promise;
    const first = chest.call('far');
    remote.state.answer = down('nobody answers');
    await call(chest, 'far', 5);
    await vi.advanceTimersByTimeAsync(900);
    late.resolve(down('nobody answered', 'timeout'));
    await first;
    await vi.advanceTimersByTimeAsync(100);
    remote.state.answer = up;
    expect(await chest.call('far')).toMatchObject({ ok: true });
  });

  it('a longer pause in the configuration is kept', async () => {
    const remote = server();
    const chest = await openWith(remote, { openMs: 10_000 });
    await call(chest, 'far', 5);
    expect(await chest.call('far')).toMatchObject({ error: { retryAfterMs: 10_000 } });
  });

  it('a cancelled probe does not count: the next call probes', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 5);
    await vi.advanceTimersByTimeAsync(1000);
    remote.state.answer = new Promise(() => {});
    const stop = new AbortController();
    const probe = chest.call('far', {}, { signal: stop.signal });
    stop.abort();
    expect(await probe).toMatchObject({ error: { code: 'cancelled' } });
    await vi.advanceTimersByTimeAsync(0);
    remote.state.answer = up;
    expect(await chest.call('far')).toMatchObject({ ok: true });
  });

  it('a tool that ran and failed shows that its server works', async () => {
    const remote = server();
    const chest = await openWith(remote);
    await call(chest, 'far', 4);
    remote.state.answer = {
      ok: false,
      status: 'failed',
      error: { code: 'tool_error', message: 'no', retryable: false },
    };
    await chest.call('far');
    remote.state.answer = down('again');
    await call(chest, 'far', 4);
    expect(await chest.call('far')).toMatchObject({ error: { code: 'upstream' } });
    expect(remote.state.reached).toBe(10);
  });

  it('tools in code count separately', async () => {
    const { state, executor, tool } = server();
    const chest = await (await createCrib({ tools: [tool('far'), tool('near')], executors: [executor] })).open();
    await call(chest, 'far', 6);
    await chest.call('near');
    expect(state.reached).toBe(6);
  });

  it('a function of this process always gets its calls', async () => {
    let runs = 0;
    const crib = await createCrib({
      tools: [
        {
          name: 'sad',
          description: '',
          run: () => {
            runs++;
            return down('not now', 'unavailable');
          },
        },
      ],
    });
    await call(await crib.open(), 'sad', 9);
    expect(runs).toBe(9);
  });
});
