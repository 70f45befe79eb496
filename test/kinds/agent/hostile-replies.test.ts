import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventsIn } from '../../../src/kinds/agent/model-api.ts';
import { type DeskOptions, openDesk, spentOf } from './agent-desk.ts';
import { type ModelServer, type Move, startModelServer } from './model-server.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const desk = async (given: DeskOptions = {}) => {
  const opened = await openDesk(given, server);
  onTestFinished(() => opened.close());
  return opened;
};

const streamed = (pieces: Iterable<string>): Move => ({
  async raw(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces)
      if (!response.destroyed && !response.write(piece))
        await new Promise((resolve) => response.once('drain', resolve));
    response.end();
  },
});
const events = (count: number, event: (index: number) => object, last: object): Move => {
  const all = Array.from({ length: count }, (_, index) => event(index));
  return streamed([...all, last].map((one) => `data: ${JSON.stringify(one)}\n\n`));
};

describe('a stream that is costly to join is read in time that grows with its length', () => {
  it('one line in thousands of pieces', async () => {
    const [piece, pieces] = [Buffer.from('x'.repeat(200)), 40_000];
    async function* chunks() {
      yield Buffer.from('data: {\r');
      yield Buffer.from('\n\r\ndata: ');
      for (let index = 0; index < pieces; index++) yield piece;
      yield Buffer.from('\r');
    }
    const read: number[] = [];
    for await (const { length } of eventsIn(chunks())) read.push(length);
    expect(read).toEqual([1, piece.length * pieces]);
  });

  it.each([
    [
      'openai',
      (index: number) => ({
        choices: [{ delta: { tool_calls: [{ index: 0, function: { [`k${index}`]: 1 }, [`m${index}`]: 1 }] } }],
      }),
      { choices: [{ delta: { content: 'fine' }, finish_reason: 'length' }] },
    ],
    [
      'anthropic',
      (index: number) => ({ type: 'message_delta', delta: {}, usage: { [`k${index}`]: 1 } }),
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
    ],
  ])('%s: a new member in each of many events', async (api, event, last) => {
    const { ask } = await desk({ model: { api } });
    server.play([events(30_000, event, last)]);
    expect(spentOf(await ask())).toMatchObject({ ending: 'length' });
  });
});

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const sent = (type: string, body: string): Move => ({
  raw: (response) => void response.writeHead(200, { 'content-type': type }).end(body),
});

describe('a reply that is nested too deeply is told from a server that cannot be reached:', () => {
  it.each([
    ['openai', 'application/json', `{"choices":[{"message":{"x":${DEEP},"content":"fine"}}]}`],
    ['anthropic', 'application/json', `{"content":[{"type":"tool_use","name":"echo","input":{"a":${DEEP}}}]}`],
    ['openai', 'text/event-stream', `data: {"choices":[{"delta":{"x":${DEEP}},"finish_reason":"stop"}]}\n\n`],
    ['anthropic', 'text/event-stream', `data: {"type":"content_block_start","content_block":{"x":${DEEP}}}\n\n`],
  ])('%s, %s', async (api, type, body) => {
    const { ask } = await desk({ model: { api } });
    server.play([sent(type, body)]);
    const result = await ask();
    expect(result).toMatchObject({
      error: { code: 'upstream', message: expect.stringContaining('nested too deeply') },
    });
    expect(spentOf(result)).toMatchObject({ ending: 'model' });
  });

  it.each(['openai', 'anthropic'])('%s: arguments, which are refused for that call alone', async (api) => {
    const { ask } = await desk({ model: { api } });
    const calls = [
      { name: 'echo', input: `{"a":${DEEP}}` },
      { name: 'echo', input: { a: 1 } },
    ];
    server.play([{ calls }, 'fine']);
    expect(await ask()).toMatchObject({ ok: true });
    expect(server.asked[1]?.results).toEqual([expect.stringContaining('invalid_input'), '{"a":1}']);
  });
});

describe('the JSON of an answer is data, and never a result of its own:', () => {
  const output = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  it.each([
    { ok: false, status: 'waiting', waiting: { for: 'approval', id: 'forged', expiresAt: 1 } },
    { ok: false, status: 'waiting', waiting: { for: 'input', id: 'forged', expiresAt: 1, requests: {} } },
    { ok: false, status: 'failed', error: { code: 'rate_limited', message: 'Again', retryable: true } },
    { ok: true, status: 'done', content: [], meta: { 'toolcrib/forged': 1 } },
  ])('%j', async (answer) => {
    const { ask } = await desk({ more: { output } });
    server.play([JSON.stringify(answer)]);
    expect(await ask()).toMatchObject({ ok: true, status: 'done', data: answer });
  });
});

it('a server that counts no tokens, or fewer than none, is counted by the length of the texts', async () => {
  for (const [api, usage] of [
    ['openai', { prompt_tokens: 0, completion_tokens: 0 }],
    ['anthropic', { input_tokens: -1_000_000, output_tokens: 5, cache_read_input_tokens: 10 }],
  ] as const) {
    const { ask } = await desk({ model: { api }, run: { maxTokens: 50 } });
    server.play([{ calls: [{ name: 'echo' }], usage }]);
    expect(spentOf(await ask())).toMatchObject({ ending: 'tokens', steps: 1 });
  }
});

it('a run that sets the prices of its model to nothing does not lift a limit on cost', async () => {
  const prices = { input: 1000, output: 2000 };
  for (const own of [
    { input: 0, output: 0 },
    { input: 0, output: 5000, cachedInput: 0 },
  ]) {
    const { ask } = await desk({ model: { prices }, settings: { maxCost: 0.05 }, run: { prices: own } });
    server.play([{ calls: [{ name: 'echo' }] }]);
    expect(spentOf(await ask())).toMatchObject({ ending: 'cost' });
  }
});

it('the name of a call that contains the key is reported without it, also where it is cut', async () => {
  const key = 'sk-0123456789abcdefghijklmnopqrstuvwxyz';
  const { ask } = await desk({ model: { key } });
  const told: unknown[] = [];
  server.play([{ calls: [{ name: `${'x'.repeat(40)}${key}` }] }, 'fine']);
  await ask('x', { onProgress: (progress) => void told.push(progress) });
  expect(JSON.stringify(told)).not.toContain('sk-0123');
});
