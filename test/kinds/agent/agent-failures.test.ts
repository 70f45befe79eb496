import { equal, match } from 'node:assert/strict';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { agentExecutor } from '../../../src/kinds/agent/agent-executor.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { executorContract, testCall } from '../../../src/testing/index.ts';
import { spentOf, useDesks } from './agent-desk.ts';

const { server: modelServer, desk } = useDesks();
const READ = { calls: [{ name: 'read_book', input: { title: 'Emma' } }] };
const error = (type: string, message = 'no') => ({ error: { type, message } });

describe('an error of the model server', () => {
  it.each([
    [
      '401',
      { status: 401, body: error('invalid_request_error', 'bad key') },
      'upstream',
      false,
      'API key of the model',
    ],
    ['403', { status: 403, body: error('permission_error') }, 'upstream', false, 'API key of the model'],
    ['404', { status: 404, body: error('not_found_error', 'no such model') }, 'upstream', false, 'no such model'],
    ['400', { status: 400, body: error('invalid_request_error') }, 'upstream', false, 'its settings'],
    ['a long conversation', { status: 400, body: error('context_length_exceeded') }, 'too_large', false, 'longer than'],
    ['413', { status: 413, body: error('request_too_large') }, 'too_large', false, 'longer than'],
    ['429', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', true, '429'],
    ['a quota', { status: 429, body: { error: { code: 'insufficient_quota' } } }, 'upstream', false, 'quota'],
    ['500', { status: 500, body: 'boom' }, 'upstream', true, 'boom'],
    ['503', { status: 503, headers: { 'retry-after': '3' } }, 'upstream', true, '503'],
    ['529', { status: 529, body: error('overloaded_error') }, 'upstream', true, '529'],
  ] as const)('%s', async (_what, move, code, retryable, words) => {
    const { ask } = await desk();
    modelServer().play([move]);
    const result = await ask();
    expect(result).toMatchObject({ error: { code, retryable, message: expect.stringContaining(words) } });
    expect(spentOf(result)).toMatchObject({ ending: 'model' });
    if ('headers' in move)
      expect(result).toMatchObject({ error: { retryAfterMs: Number(move.headers['retry-after']) * 1000 } });
  });

  it.each(['openai', 'anthropic'])('in the middle of a stream of %s', async (api) => {
    const { ask } = await desk({ model: { api } });
    const event = `event: error\ndata: ${JSON.stringify({ type: 'error', ...error('overloaded_error', 'Overloaded') })}\n\n`;
    modelServer().play([
      { raw: (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event) },
    ]);
    expect(await ask()).toMatchObject({
      error: { code: 'upstream', retryable: true, message: expect.stringContaining('Overloaded') },
    });
  });

  it('a server that is not there, hangs up or is silent', async () => {
    const gone = await desk({ model: { baseUrl: 'http://127.0.0.1:1/v1' } });
    expect(await gone.ask()).toMatchObject({ error: { code: 'unavailable', retryable: true } });
    const { ask } = await desk();
    modelServer().play([{ raw: (response) => void response.destroy() }]);
    expect(await ask()).toMatchObject({
      error: { code: 'upstream', message: expect.stringContaining('closed the connection') },
    });
    const silent = await desk({ settings: { requestTimeoutMs: 30 } });
    modelServer().play([{ raw: () => {} }]);
    expect(await silent.ask()).toMatchObject({
      error: { code: 'timeout', message: expect.stringContaining('requestTimeoutMs') },
    });
    await modelServer().idle();
  });

  it('passes, and the request is sent again, without making calls twice', async () => {
    const { ask } = await desk({ settings: { retries: 2 } });
    const busy = { status: 429, headers: { 'retry-after': '0' } };
    modelServer().play([busy, READ, busy, busy, 'Done.']);
    const result = await ask();
    expect(result).toMatchObject({ ok: true });
    expect(spentOf(result)).toMatchObject({ steps: 2, calls: 1 });
    expect(modelServer().asked).toHaveLength(5);
  });

  it('after calls of tools warns against repeating the agent', async () => {
    const { ask } = await desk();
    modelServer().play([{ calls: [{ name: 'echo' }] }, { status: 503 }]);
    expect(await ask()).toMatchObject({
      error: { retryable: false, message: expect.stringContaining('It had made 1 calls of tools before') },
    });
    const safe = await desk({ more: { effects: { readOnly: true }, policy: { retries: 0 } } });
    modelServer().play([{ calls: [{ name: 'echo' }] }, { status: 503 }]);
    expect(await safe.ask()).toMatchObject({ error: { retryable: true } });
  });

  it('waits as long as the server says, by the clock of the crib', async () => {
    const delays: number[] = [];
    const clock = {
      now: systemClock.now,
      setTimer(delayMs: number, task: () => void) {
        if (delayMs > 60_000) return () => {};
        delays.push(delayMs);
        queueMicrotask(task);
        return () => {};
      },
    };
    const executor = agentExecutor({ ...ports(), clock, options: () => ({ models: local(), retries: 3 }) });
    const busy = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } });
    const run = { kind: 'agent', model: 'local' };
    modelServer().play([busy(20), { status: 503 }, { status: 503 }, 'Done.']);
    expect(await executor.execute(testCall({ run }), run)).toMatchObject({ ok: true });
    expect(delays).toEqual([20_000, 1000, 2000]);
    modelServer().play([busy(31), 'Done.']);
    expect(await executor.execute(testCall({ run }), run)).toMatchObject({
      error: { code: 'rate_limited', retryAfterMs: 31_000 },
    });
    await executor.close?.();
  });
});

const local = () => ({ local: { baseUrl: modelServer().url } });
const ports = () => ({
  clock: systemClock,
  secrets: createSecrets({}, { env: {}, folder: '/' }),
  isOwn: () => false,
  allowPrivate: () => [],
  agents: {},
  options: () => ({ models: local(), retries: 0 }),
});

describe('the agent executor', () => {
  beforeAll(() =>
    modelServer().play(({ body }) => {
      const asked: string = body.messages.at(-1).content;
      if (asked === 'hang') return { raw: () => {} };
      if (asked === 'flood') return { raw: flood };
      return asked === 'fail' ? { status: 500, body: 'broken' } : `Answer to ${asked}`;
    }),
  );
  const run = { kind: 'agent', model: 'local' };
  const contract = executorContract({
    create: () => agentExecutor(ports()),
    works: [
      { run, input: { q: 'one' }, expect: ({ content }) => match(JSON.stringify(content), /Answer to one/) },
      {
        run: { ...run, prompt: 'Q {q}' },
        input: { q: 'two' },
        spec: withQuestion(),
        expect: ({ content }) => equal(content.length, 1),
      },
    ],
    fails: [{ run, input: { q: 'fail' }, expect: (result) => match(JSON.stringify(result), /upstream.*broken/) }],
    hangs: {
      run,
      input: { q: 'hang' },
      begun: () => modelServer().came(modelServer().asked.length + 1),
      isGone: () =>
        modelServer()
          .idle()
          .then(() => true),
    },
    floods: { run, input: { q: 'flood' } },
    badRuns: [
      { what: 'no model', run: { kind: 'agent' } },
      { what: 'an empty model', run: { kind: 'agent', model: '' } },
    ],
    unspeakable: ['127.0.0.1'],
  });
  for (const { name, run: check } of contract) test(name, check);
});

/** A spec with the argument that the prompt names. */
function withQuestion() {
  return { input: { type: 'object', properties: { q: { type: 'string' } } } };
}

function flood(response: import('node:http').ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const write = (): void => {
    while (!response.destroyed && response.write('x'.repeat(100_000)));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}
