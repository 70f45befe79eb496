import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attachStdio } from '../../../src/doors/mcp/attach-stdio.ts';
import { serveStdio } from '../../../src/doors/mcp/serve-stdio.ts';
import { openStdio } from '../../../src/doors/mcp/stdio-transport.ts';
import type { ToolCall, ToolInput } from '../../../src/index.ts';
import { expectSameBothWays } from './both-ways.ts';
import { modernRequest, post, type RawMessage, request } from './clients.ts';
import { type Gateway, startGateway } from './gateway.ts';

const WAYS = [
  ['older', { body: request('tools/call', { name: 'hang', arguments: {} }), headers: {} }],
  ['newest', modernRequest('tools/call', { name: 'hang', arguments: {} })],
] as const;

/** A tool that goes on until it is told to end, or is ended. */
function hanging() {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const tool: ToolInput = {
    name: 'hang',
    description: 'Waits',
    run: (_: unknown, call: ToolCall) => {
      begun.resolve();
      call.signal.addEventListener('abort', () => ended.resolve());
      return answer.promise;
    },
  };
  return { tool, begun: begun.promise, ended: ended.promise, answer: answer.resolve };
}

it('a plain call and any other get the same answer as from the protocol package alone', async () => {
  await expectSameBothWays(600);
});

/** Sends text over stdio to a crib in this process, or to one that is attached, and reads the first answer. */
async function overStdio({ crib, url }: Gateway, text: string, isAttached: boolean): Promise<RawMessage> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const streams = { stdin, stdout, warn: () => {} };
  const connection = isAttached
    ? await attachStdio({ ...streams, url: url() })
    : await serveStdio(crib, { ...streams, caller: { id: 'local' }, version: '1.2.3' });
  onTestFinished(() => connection.close());
  stdin.write(`${text.slice(0, 30)}`);
  stdin.write(`${text.slice(30)}\n`);
  const [line] = await once(createInterface(stdout), 'line');
  return JSON.parse(line);
}

describe.each(WAYS)('an integer that a number would round, of the %s revision', (which, { headers }) => {
  const echo = { name: 'hang', description: 'Echoes', run: (given: unknown) => JSON.stringify(given) } as ToolInput; // its name is in the headers
  const withDigits = (params: object) => {
    const { body } =
      which === 'older' ? { body: request('tools/call', params) } : modernRequest('tools/call', { ...params });
    return JSON.stringify(body).replace('"DIGITS"', '9007199254740993');
  };
  const refusal = {
    id: 1,
    result: {
      isError: true,
      content: [{ text: expect.stringMatching(/\/account is the integer 9007199254740993.*as text/s) }],
    },
  };

  it.each([
    ['plain', {}],
    ['with progress', { _meta: { progressToken: 1 } }],
  ])('is refused with its path over HTTP, %s', async (_, more) => {
    const gateway = await startGateway({ tools: [echo] });
    const body = withDigits({ name: 'hang', arguments: { account: 'DIGITS' }, ...more });
    const { messages } = await post(gateway.url(), body, headers);
    expect(messages.at(-1)).toMatchObject(refusal);
    const elsewhere = withDigits({ name: 'hang', arguments: {}, other: 'DIGITS' });
    const error = { code: -32_600, message: expect.stringContaining('/params/other is the integer 9007199254740993') };
    expect(await post(gateway.url(), elsewhere, headers)).toMatchObject({ status: 400, messages: [{ error }] });
  });

  it.each([false, true])('is refused with its path over stdio, attached: %s', async (isAttached) => {
    const gateway = await startGateway({ tools: [echo] });
    const text = withDigits({ name: 'hang', arguments: { account: 'DIGITS' } });
    expect(await overStdio(gateway, text, isAttached)).toMatchObject(refusal);
    const elsewhere = withDigits({ name: 'hang', arguments: {}, other: 'DIGITS' });
    expect(await overStdio(gateway, elsewhere, isAttached)).toMatchObject({ id: 1, error: { code: -32_600 } });
  });
});

describe.each(WAYS)('a plain call of the %s revision', (which, sent) => {
  it('is answered as JSON in one piece', async () => {
    const { url } = await startGateway({ tools: [{ name: 'hang', description: 'Does not', run: () => 'done' }] });
    const { status, headers, messages } = await post(url(), sent.body, sent.headers);
    expect({ status, messages }).toMatchObject({
      status: 200,
      messages: [{ id: 1, result: { content: [{ text: 'done' }] } }],
    });
    expect(headers.get('content-type')).toBe('application/json');
    expect(Number(headers.get('content-length'))).toBeGreaterThan(0);
  });

  it('has a large result in pieces, as the tool returned it', async () => {
    const text = `"\\\u0000 \ud83d\ude00x`.repeat(300_000); // some piece ends within a character
    const content = [
      { type: 'text', text },
      { type: 'text', text: 'short' },
      { type: 'image', data: 'AAAA'.repeat(300_000), mimeType: 'image/png' },
      { type: 'text', text: 'y'.repeat(1_000_001) },
    ];
    const run = () => ({ ok: true, status: 'done', content, data: { a: 1 } });
    const { url } = await startGateway({ tools: [{ name: 'hang', description: 'Does not', run } as ToolInput] });
    const { status, headers, messages } = await post(url(), sent.body, sent.headers);
    const [message] = messages as { id: unknown; result: { content: unknown } }[];
    expect({ status, id: message?.id, length: headers.get('content-length') }).toEqual({
      status: 200,
      id: 1,
      length: null,
    });
    expect(headers.get('content-type')).toBe('application/json');
    expect(message?.result).toMatchObject({ structuredContent: { a: 1 } });
    expect(isDeepStrictEqual(message?.result.content, content)).toBe(true); // a difference would be printed for minutes
  });

  it('whose client disconnects before the answer affects no other call', async () => {
    const { tool, begun, ended, answer } = hanging();
    const { url, warnings, crib } = await startGateway({ tools: [tool] });
    const controller = new AbortController();
    const gone = fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...sent.headers },
      body: JSON.stringify(sent.body),
      signal: controller.signal,
    }).catch(() => 'gone');
    await begun;
    controller.abort();
    await ended;
    answer('too late');
    expect(await gone).toBe('gone');
    await crib.idle(5000);
    expect(await post(url(), sent.body, sent.headers)).toMatchObject({ status: 200 });
    expect(warnings).toEqual([]);
  });

  it('is ended when the door closes', async () => {
    const { tool, begun, ended } = hanging();
    const { url, close, warnings } = await startGateway({ tools: [tool] });
    const call = post(url(), sent.body, sent.headers);
    await begun;
    await close();
    await ended;
    // On a busy machine the answer to an older client may have begun as a stream.
    expect(which === 'newest' ? [499] : [499, 200]).toContain((await call).status);
    expect(warnings).toEqual([]);
  });

  it('has its conversation in a header, unless the body names it', async () => {
    const [outer, inner] = [
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`,
    ];
    const tool = {
      name: 'hang',
      description: 'Does not',
      run: (_: unknown, call: ToolCall) => call.traceparent?.slice(3, 35),
    };
    const { url } = await startGateway({ tools: [tool] });
    const ask = async (meta: object) => {
      const { params } = sent.body as { params: { _meta?: object } }; // as it was made
      const body = { ...sent.body, params: { ...params, _meta: { ...params._meta, ...meta } } };
      return (await post(url(), body, { ...sent.headers, traceparent: outer })).messages;
    };
    expect(await ask({})).toMatchObject([{ result: { content: [{ text: outer.slice(3, 35) }] } }]);
    expect(await ask({ traceparent: inner })).toMatchObject([{ result: { content: [{ text: inner.slice(3, 35) }] } }]);
  });
});

it('an older client gets heartbeats during a long call, and the answer as an event', async () => {
  const { tool, begun, answer } = hanging();
  const { url } = await startGateway({ tools: [tool] });
  const [, { body }] = WAYS[0];
  const asked = fetch(url(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  });
  await begun;
  const response = await asked; // its headers come before the answer
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  answer('at last');
  expect(await response.text()).toContain('"text":"at last"');
});

it('a client on stdio that does not read its answers is not read from until it does', async () => {
  const stdin = new PassThrough();
  let read = () => {};
  const stdout = new Writable({
    write(_chunk, _encoding, done) {
      read = done;
    },
  });
  const transport = await openStdio(stdin, stdout);
  onTestFinished(() => transport.close());
  const heard: unknown[] = [];
  transport.onmessage = (message) => void heard.push('id' in message && message.id);
  await transport.start();
  const send = async (id: number) => {
    stdin.write(`${JSON.stringify({ ...request('ping', {}), id })}\n`);
    await setImmediate();
  };
  stdout.write('x'.repeat(50_000_001));
  await send(1);
  await send(2);
  expect([heard, stdin.isPaused()]).toEqual([[1], true]);
  read();
  await setImmediate();
  expect([heard, stdin.isPaused()]).toEqual([[1, 2], false]);
});
