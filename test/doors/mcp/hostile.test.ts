import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createMcpDoor } from '../../../src/doors/mcp/mcp-door.ts';
import { type ToolCall, type ToolError, type ToolInput, toolError } from '../../../src/index.ts';
import { modernRequest, post, request } from './clients.ts';
import { fuzzGateway } from './fuzz.ts';
import { startGateway } from './gateway.ts';

const ECHO: ToolInput = {
  name: 'echo',
  description: 'Says how much it got',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  run: ({ text = '' }: { text?: string }) => `${text.length}`,
};

const callEcho = (text: string) => request('tools/call', { name: 'echo', arguments: { text } });

describe('invalid requests', () => {
  it.each([
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['almost JSON', 'application/jsonx'],
    ['XML', 'text/xml; application/json'],
    ['nothing', ''],
  ])('a body that claims to be %s is refused', async (_what, type) => {
    const { url } = await startGateway({ tools: [ECHO] });
    const response = await fetch(url(), {
      method: 'POST',
      headers: { 'content-type': type, accept: 'application/json, text/event-stream' },
      body: Buffer.from(JSON.stringify(callEcho('x'))),
    });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
  });

  it.each(['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])('%s is not allowed at this address', async (method) => {
    const { url } = await startGateway({ tools: [ECHO] });
    const response = await fetch(url(), { method, headers: { accept: 'text/event-stream' } });
    expect(response.status).toBe(405);
  });

  it('an older client that accepts only one type of answer gets an error', async () => {
    const { url } = await startGateway({ tools: [ECHO] });
    expect(await post(url(), callEcho('x'), { accept: 'application/json' })).toMatchObject({ status: 406 });
  });

  it.each([
    ['nothing', ''],
    ['half of it', '{"jsonrpc":"2.0","id":1,'],
    ['a word', 'hello'],
    ['two', '{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe]).toString('latin1')],
  ])('%s is not JSON-RPC', async (_what, body) => {
    const { url } = await startGateway({ tools: [ECHO] });
    const answer = await post(url(), body);
    expect(answer.status).toBe(400);
    expect([-32700, -32600]).toContain(answer.messages[0]?.error?.code);
  });

  it('a body that is nested too deeply is refused or answered, and has no further effect', async () => {
    const { url } = await startGateway({ tools: [ECHO] });
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":${deep}}}}`;
    const { status } = await post(url(), body);
    expect([200, 400, 500]).toContain(status);
    expect((await post(url(), callEcho('ok'))).messages).toMatchObject([{ result: { content: [{ text: '2' }] } }]);
  });
});

describe('batches', () => {
  it('of older clients are answered message by message', async () => {
    const { url } = await startGateway({ tools: [ECHO] });
    const { messages } = await post(url(), [callEcho('abc'), request('tools/list', {}, 2), request('nope', {}, 3)]);
    expect(messages.toSorted((a, b) => Number(a.id) - Number(b.id))).toMatchObject([
      { id: 1, result: { content: [{ text: '3' }] } },
      { id: 2, result: { tools: [{ name: 'echo' }] } },
      { id: 3, error: { code: -32601 } },
    ]);
  });

  it('that are empty, too long, malformed or of the newest revision are refused', async () => {
    const { url } = await startGateway({ tools: [ECHO] });
    const modern = modernRequest('tools/list');
    for (const body of [
      [],
      Array.from({ length: 101 }, (_, id) => request('ping', {}, id)),
      [callEcho('x'), 7],
      [modern.body],
      [callEcho('x'), modern.body],
      [[callEcho('x')]],
    ])
      expect((await post(url(), body)).status).toBe(400);
  });

  it('with one id for all messages are answered, and so is the next request', async () => {
    const { url } = await startGateway({ tools: [ECHO] });
    const { messages } = await post(url(), [callEcho('a'), callEcho('bb'), callEcho('ccc')]);
    expect(messages.length).toBeGreaterThan(0);
    expect((await post(url(), callEcho('ok'))).status).toBe(200);
  });
});

describe('size', () => {
  it.each([
    ['older', (text: string) => ({ body: callEcho(text), headers: {} })],
    ['newest', (text: string) => modernRequest('tools/call', { name: 'echo', arguments: { text } })],
  ])('1 MB of arguments works and 5 MB are refused, in the %s revision', async (_which, make) => {
    const { url } = await startGateway({ tools: [ECHO] });
    const large = make('x'.repeat(1_000_000));
    expect((await post(url(), large.body, large.headers)).messages.at(-1)).toMatchObject({
      result: { content: [{ text: '1000000' }] },
    });
    const huge = make('x'.repeat(5_000_000));
    expect(await post(url(), huge.body, huge.headers)).toMatchObject({
      status: 413,
      messages: [{ error: { code: -32000 } }],
    });
    const streamed = await fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...huge.headers },
      body: new Blob([JSON.stringify(huge.body)]).stream(),
      duplex: 'half',
    } as RequestInit); // `duplex` is not in the type
    expect(streamed.status).toBe(413);
  });
});

describe('connections', () => {
  const raw = (url: string, text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname, () => socket.end(text)); // half of it is closed at once
      let seen = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        seen += chunk;
      });
      socket.on('close', () => resolve(seen)).on('error', reject);
    });

  it('a client that closes its half after the request gets its answer', async () => {
    const { url } = await startGateway({ tools: [ECHO] });
    const body = JSON.stringify(callEcho('abc'));
    const answer = await raw(
      url(),
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    expect(answer).toContain('200 OK');
    expect(answer).toContain('"text":"3"');
  });

  it('a client that closes it in the middle of the body affects no other client', async () => {
    const { url, warnings } = await startGateway({ tools: [ECHO] });
    await raw(
      url(),
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"jsonrpc"',
    );
    expect((await post(url(), callEcho('ok'))).status).toBe(200);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['older', { body: request('tools/call', { name: 'hang' }), headers: {} }],
    ['newest', modernRequest('tools/call', { name: 'hang', arguments: {} })],
  ])('a call whose client of the %s revision is gone is ended', async (_which, sent) => {
    let begin = () => {};
    let end = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const hang: ToolInput = {
      name: 'hang',
      description: 'Waits',
      run: (_: unknown, call: ToolCall) => {
        begin();
        return new Promise(() => call.signal.addEventListener('abort', () => end()));
      },
    };
    const { url } = await startGateway({ tools: [hang] });
    const controller = new AbortController();
    const gone = fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...sent.headers },
      body: JSON.stringify(sent.body),
      signal: controller.signal,
    })
      .then((response) => response.text())
      .catch((error: unknown) => error);
    await begun;
    controller.abort();
    await ended;
    await gone;
  });

  it('a client cannot end the calls of another client by guessing ids', async () => {
    let isAborted = false;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let finish = () => {};
    const slow: ToolInput = {
      name: 'slow',
      description: 'Waits',
      run: (_: unknown, call: ToolCall) => {
        call.signal.addEventListener('abort', () => {
          isAborted = true;
        });
        begin();
        return new Promise((resolve) => {
          finish = () => resolve('done');
        });
      },
    };
    const { url } = await startGateway({ tools: [slow] });
    const call = post(url(), request('tools/call', { name: 'slow' }, 7), { 'mcp-session-id': 'mine' });
    await begun;
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    for (const session of [{}, { 'mcp-session-id': 'theirs' }, { 'mcp-session-id': '' }])
      expect(await post(url(), cancel, session as Record<string, string>)).toMatchObject({ status: 202 });
    expect(isAborted).toBe(false);
    finish();
    expect((await call).messages).toMatchObject([{ result: { content: [{ text: 'done' }] } }]);
  });
});

describe('the door itself', () => {
  const ping = () => new Request('http://x/mcp', { method: 'POST', headers: { 'content-type': 'application/json' } });

  it('explains a refused credential as a protocol error', async () => {
    const { crib } = await startGateway({ tools: [ECHO] });
    const door = createMcpDoor(crib, { version: '1' });
    const refuse = async (error: ToolError): Promise<Response> => {
      const answer = await door.fetch(ping(), { ok: false, error });
      return answer instanceof Response ? answer : expect.fail('It was not refused.');
    };
    const unknown = await refuse(toolError('unauthenticated', 'Who are you?'));
    expect(unknown.status).toBe(401);
    expect(unknown.headers.get('www-authenticate')).toContain('Bearer');
    expect(await unknown.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32000, message: 'Who are you?' },
    });
    const unsure = await refuse(toolError('unavailable', 'Later.'));
    expect(unsure.status).toBe(503);
    expect(unsure.headers.get('retry-after')).toBe('5');
  });

  it('answers no request once it is closed, used before or not', async () => {
    const { crib } = await startGateway({ tools: [ECHO] });
    const identity = await crib.identify();
    for (const uses of [0, 1]) {
      const door = createMcpDoor(crib, { version: '1' });
      for (let time = 0; time < uses; time++) expect((await door.fetch(ping(), identity)).status).toBe(400);
      await door.close();
      await door.close();
      expect((await door.fetch(ping(), identity)).status).toBe(503);
    }
  });
});

it('any input gets a valid answer, and the next request is answered', async () => {
  await fuzzGateway(300);
});
