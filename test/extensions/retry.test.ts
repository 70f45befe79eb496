import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CallOptions,
  createCrib,
  done,
  type Effects,
  type Extension,
  failed,
  type ProfileInput,
  retry,
  type ToolErrorCode,
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

type PolicyInput = NonNullable<ProfileInput['policy']>;

interface Trial {
  readonly answers: (attempt: number) => unknown;
  readonly effects?: Effects;
  readonly policy?: PolicyInput;
  readonly profile?: PolicyInput;
  readonly call?: CallOptions;
  readonly options?: Parameters<typeof retry>[0];
}

/** The moments at which the tool was tried, and what came of it. */
async function attempts({
  answers,
  effects = { idempotent: true },
  policy,
  profile = {},
  call = {},
  options = {},
}: Trial) {
  const at: number[] = [];
  const begun = performance.now();
  const run = async () => {
    at.push(performance.now() - begun);
    return answers(at.length);
  };
  const tool = { name: 'tool', description: '', effects, policy, run } as ToolInput; // absent fields are undefined
  const crib = await createCrib({
    tools: [tool],
    profiles: { only: { policy: profile } },
    extensions: [retry({ random: () => 1, ...options })],
  });
  const settled: ToolResult[] = [];
  (await crib.open()).call('tool', {}, call).then((result) => settled.push(result));
  await vi.advanceTimersByTimeAsync(1_000_000);
  return { at, result: settled[0] };
}

const failing =
  (code: ToolErrorCode, details: Parameters<typeof toolError>[2] = { retryable: true }) =>
  () =>
    failed(toolError(code, 'not now', details));

describe('retries: at most n + 1 attempts', () => {
  it.each([[0], [1], [3]])('n = %i', async (retries) => {
    const { at, result } = await attempts({ answers: failing('upstream'), policy: { retries } });
    expect(at).toHaveLength(retries + 1);
    expect(result).toMatchObject({ ok: false, error: { code: 'upstream', message: 'not now' } });
  });

  it('two retries by default', async () => {
    expect((await attempts({ answers: failing('upstream') })).at).toHaveLength(3);
  });

  it.each<[string, Partial<Trial>, number]>([
    ['call before tool', { call: { retries: 1 }, policy: { retries: 4 }, profile: { retries: 5 } }, 2],
    ['a call that wants none', { call: { retries: 0 }, policy: { retries: 4 } }, 1],
    ['tool before profile', { policy: { retries: 3 }, profile: { retries: 5 } }, 4],
    ['profile before default', { profile: { retries: 5 } }, 6],
    ['default', { options: { retries: 1 } }, 2],
  ])('the nearest setting wins: %s', async (_, trial, expected) => {
    expect((await attempts({ answers: failing('upstream'), ...trial })).at).toHaveLength(expected);
  });

  it('none after a success', async () => {
    const { at, result } = await attempts({
      answers: (attempt) => (attempt < 2 ? failing('upstream')() : done('at last')),
    });
    expect(at).toHaveLength(2);
    expect(result).toMatchObject({ ok: true, content: [{ text: 'at last' }] });
  });
});

describe('retries: only retryable failures of idempotent or never-started calls', () => {
  it.each<[string, ToolErrorCode, Effects, number]>([
    ['an idempotent tool', 'upstream', { idempotent: true }, 3],
    ['a read-only tool', 'upstream', { readOnly: true }, 3],
    ['a tool of unknown effects', 'upstream', {}, 1],
    ['a destructive tool', 'upstream', { destructive: true, idempotent: false }, 1],
    ['a tool that answers unavailable', 'unavailable', {}, 1],
    ['a tool that answers rate_limited', 'rate_limited', {}, 1],
    ['an unknown outcome of a tool that may not be repeated', 'unknown_outcome', {}, 1],
  ])('%s', async (_, code, effects, expected) => {
    const approved = { policy: { approval: 'never' } } as const;
    expect((await attempts({ answers: failing(code), effects, ...approved })).at).toHaveLength(expected);
  });

  const coded = (code: string) => Object.assign(new Error(code), { code });
  it.each<[string, unknown, Effects, number, boolean]>([
    ['marked retryable', Object.assign(new Error('later'), { retryable: true }), { idempotent: true }, 3, true],
    ['marked retryable, of a tool of unknown effects', { retryable: true, message: 'later' }, {}, 1, true],
    ['marked as not retryable', Object.assign(coded('EPIPE'), { retryable: false }), { idempotent: true }, 1, false],
    ['a lost connection', coded('ECONNRESET'), { idempotent: true }, 3, true],
    ['a broken pipe', coded('EPIPE'), { readOnly: true }, 3, true],
    ['a connection that takes too long', coded('ETIMEDOUT'), { readOnly: true }, 3, true],
    [
      'what fetch throws',
      new TypeError('fetch failed', { cause: coded('UND_ERR_SOCKET') }),
      { readOnly: true },
      3,
      true,
    ],
    ['a lost connection of a tool of unknown effects', coded('ECONNRESET'), {}, 1, false],
    ['any other error', coded('ENOENT'), { idempotent: true }, 1, false],
    ['nothing', undefined, { idempotent: true }, 1, false],
  ])('a throw: %s', async (_, thrown, effects, expected, retryable) => {
    const answers = () => Promise.reject(thrown);
    const { at, result } = await attempts({ answers, effects, policy: { approval: 'never' } });
    expect(at).toHaveLength(expected);
    expect(result).toMatchObject({ error: { code: 'tool_error', retryable } });
  });

  it.each<ToolErrorCode>(['unavailable', 'rate_limited', 'conflict', 'upstream'])(
    'a call that never started: a gate behind answered %s',
    async (code) => {
      let refusals = 0;
      const busy: Extension = {
        name: 'busy',
        priority: 170,
        unsafeOrder: true,
        wrap: (call, next) => (++refusals < 3 ? failing(code)() : next(call)),
      };
      const run = vi.fn(() => 'at last');
      const tool = { name: 'tool', description: '', policy: { approval: 'never' }, run } as ToolInput; // as above
      const crib = await createCrib({ tools: [tool], extensions: [retry({ firstDelayMs: 0 }), busy] });
      const called = (await crib.open()).call('tool');
      await vi.advanceTimersByTimeAsync(1000);
      expect(await called).toMatchObject({ ok: true });
      expect(run).toHaveBeenCalledOnce();
    },
  );

  it('a failure that is not retryable is final', async () => {
    expect((await attempts({ answers: failing('upstream', { retryable: false }) })).at).toHaveLength(1);
  });

  it('an error that is thrown is final', async () => {
    const throwing = () => {
      throw new Error('no');
    };
    expect((await attempts({ answers: throwing })).at).toHaveLength(1);
  });

  it('an answer that breaks its output schema is final', async () => {
    const run = vi.fn(() => 5);
    const tool: ToolInput = {
      name: 'tool',
      description: '',
      effects: { idempotent: true },
      output: { type: 'string' },
      run,
    };
    expect(await (await (await createCrib({ tools: [tool] })).open()).call('tool')).toMatchObject({
      error: { code: 'invalid_output' },
    });
    expect(run).toHaveBeenCalledOnce();
  });
});

describe('retries: exponential with jitter', () => {
  it('each pause may be twice as long as the one before', async () => {
    const { at } = await attempts({
      answers: failing('upstream'),
      policy: { retries: 3 },
      options: { firstDelayMs: 100 },
    });
    expect(at).toEqual([0, 100, 300, 700]);
  });

  it('jitter shortens a pause down to nothing', async () => {
    const draws = [0, 0.5, 0.25];
    const random = () => draws.shift() ?? 1;
    const { at } = await attempts({
      answers: failing('upstream'),
      policy: { retries: 3 },
      options: { firstDelayMs: 100, random },
    });
    expect(at).toEqual([0, 0, 100, 200]);
  });

  it('no pause is longer than half a minute', async () => {
    const policy = { retries: 3, timeoutMs: 500_000 };
    const { at } = await attempts({ answers: failing('upstream'), policy, options: { firstDelayMs: 20_000 } });
    expect(at).toEqual([0, 20_000, 50_000, 80_000]);
  });
});

describe('retries: honouring Retry-After', () => {
  it('the next attempt is not made earlier', async () => {
    const answers = failing('upstream', { retryable: true, retryAfterMs: 1500 });
    expect((await attempts({ answers, policy: { retries: 1 } })).at).toEqual([0, 1500]);
  });

  it.each<[string, ToolErrorCode, number, readonly number[]]>([
    ['two seconds', 'upstream', 2000, [0, 2000]],
    ['more than two seconds', 'upstream', 2001, [0]],
    ['less, several times', 'upstream', 900, [0, 900, 1800]],
    ['a limit of the server', 'rate_limited', 25_000, [0]],
    ['a server that is down', 'unavailable', 1200, [0, 1200]],
    ['a server that is down for longer', 'unavailable', 1300, [0]],
  ])('no call sleeps longer than two seconds for it, but returns it: %s', async (_, code, retryAfterMs, at) => {
    const answers = failing(code, { retryable: true, retryAfterMs });
    const tried = await attempts({ answers, policy: { retries: 5, timeoutMs: 600_000 } });
    expect(tried.at).toEqual(at);
    expect(tried.result).toMatchObject({ error: { code, retryAfterMs } });
  });

  it('a shorter one does not shorten the pause', async () => {
    const answers = failing('upstream', { retryable: true, retryAfterMs: 1 });
    expect((await attempts({ answers, policy: { retries: 1 } })).at).toEqual([0, 100]);
  });

  it('one beyond the timeout is not awaited: the failure is the answer, with the hint', async () => {
    const answers = failing('upstream', { retryable: true, retryAfterMs: 90_000 });
    const { at, result } = await attempts({ answers, policy: { timeoutMs: 60_000 } });
    expect(at).toEqual([0]);
    expect(result).toMatchObject({ error: { code: 'upstream', retryAfterMs: 90_000 } });
  });
});

describe('retries: while an upstream is down', () => {
  it.each([
    ['that fails at once', 0, [0, 100, 300, 700]],
    ['that is given up after 1.5 s', 1500, [0]],
  ])('a call of one %s is not retried after 1.25 s', async (_, takesMs, at) => {
    const answers = async () => {
      if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
      return failing('unavailable')();
    };
    expect((await attempts({ answers, policy: { retries: 20 } })).at).toEqual(at);
  });

  it('the time that a call took before its server was lost does not count', async () => {
    const answers = async (attempt: number) => {
      if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, 10_000));
      return attempt === 1 ? failing('upstream')() : attempt === 2 ? failing('unavailable')() : done('here');
    };
    expect((await attempts({ answers })).result).toMatchObject({ ok: true });
  });
});

describe('retries: within the timeout', () => {
  it('a pause beyond the timeout of the call is not begun: the failure is the answer at once', async () => {
    const { at, result } = await attempts({
      answers: failing('upstream'),
      policy: { retries: 50, timeoutMs: 1500 },
      options: { firstDelayMs: 300 },
    });
    expect(at).toEqual([0, 300, 900]);
    expect(result).toMatchObject({ error: { code: 'upstream' } });
  });

  it('a call that is cancelled during a pause is not retried', async () => {
    const run = vi.fn(failing('unavailable'));
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', effects: { idempotent: true }, run }],
      extensions: [retry({ random: () => 1 })],
    });
    const asker = new AbortController();
    const result = (await crib.open()).call('tool', {}, { signal: asker.signal });
    await vi.advanceTimersByTimeAsync(50);
    asker.abort();
    expect(await result).toMatchObject({ error: { code: 'cancelled' } });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(run).toHaveBeenCalledOnce();
  });
});
