import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startHttp, startModern, startSessions } from './http-servers.ts';
import { cribWith, saidOf } from './upstream.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

type Answer = (response: ServerResponse, call: { readonly id: number }) => void;

/** A server that answers calls as it is told, and counts them. */
async function answering(
  answer: Answer,
  answerOther: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
) {
  const server = await startModern();
  let calls = 0;
  const door = await startHttp(async (request, response) => {
    const body = request.method === 'POST' ? await text(request) : undefined;
    if (request.headers['mcp-method'] === 'tools/call') {
      calls++;
      answer(response, JSON.parse(body ?? ''));
    } else if (!answerOther(request, response)) await pass(request, response, { url: server.url, body });
  });
  const crib = await cribWith({ m: { mcp: { url: door.url } } }, { watch: false });
  const chest = await crib.open();
  return { call: () => chest.call('m_echo', { text: 'x' }, { retries: 0 }), calls: () => calls };
}

async function pass(
  { method = 'GET', headers: sent }: IncomingMessage,
  response: ServerResponse,
  { url, body }: { readonly url: string; readonly body: string | undefined },
): Promise<void> {
  const headers = Object.entries(sent).filter(([name]) => !['host', 'connection', 'content-length'].includes(name));
  try {
    const answer = await fetch(url, { method, headers: headers as never, body: body as never }); // their types disagree on undefined
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  } catch {
    response.destroy(); // one of the two is gone
  }
}

const json = (value: unknown, type = 'application/json'): Answer => {
  return (response) => void response.writeHead(200, { 'content-type': type }).end(JSON.stringify(value));
};
const EVENTS = { 'content-type': 'text/event-stream' };
const result = { content: [{ type: 'text', text: 'here' }], resultType: 'complete' };

describe('the answer to a call', () => {
  it.each(['first', 'after another event'])('ends its stream, which the server leaves open: %s', async (place) => {
    const closed = Promise.withResolvers<void>();
    const { call } = await answering((response, { id }) => {
      response.on('close', () => closed.resolve());
      const events = [{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'soon' } }];
      const sent = [...(place === 'first' ? [] : events), { jsonrpc: '2.0', id, result }];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    });
    expect(saidOf(await call())).toBe('here');
    await closed.promise;
  });

  it.each<[string, Answer]>([
    ['JSON', (response, { id }) => json({ jsonrpc: '2.0', id, result })(response, { id })],
    [
      'JSON of another spelling',
      (response, { id }) => json({ id, jsonrpc: '2.0', result }, 'Application/JSON ; charset=utf-8')(response, { id }),
    ],
    ['a list of one', (response, { id }) => json([{ jsonrpc: '2.0', id, result }])(response, { id })],
    [
      'events',
      (response, { id }) => {
        const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
        response.writeHead(200, EVENTS).end(`: hello\n\n${event}`);
      },
    ],
    [
      'events byte by byte, in lines of another spelling',
      (response, { id }) => {
        const text = `: ping\r\n\r\nid: 1\r\nevent: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":${id},"result":${JSON.stringify(result)}}\r\n\r\n`;
        response.writeHead(200, EVENTS);
        for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
        response.end();
      },
    ],
    [
      'an event after a notification',
      (response, { id }) => {
        const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'soon' } };
        response.writeHead(200, EVENTS).write(`data: ${JSON.stringify(note)}\n\n`);
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      },
    ],
    [
      'JSON byte by byte',
      (response, { id }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        for (const byte of Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }))) response.write(Buffer.of(byte));
        response.end();
      },
    ],
  ])('is read as %s', async (_what, answer) => {
    const { call, calls } = await answering(answer);
    expect(saidOf(await call())).toBe('here');
    expect(calls()).toBe(1);
  });

  it.each<[string, Answer, readonly string[]]>([
    ['the answer to another', json({ jsonrpc: '2.0', id: 7, result }), ['upstream']],
    ['no message', json({ result }), ['unknown_outcome']],
    [
      'a message of its own',
      (response, { id }) => json({ jsonrpc: '2.0', id, method: 'ping' })(response, { id }),
      ['upstream'],
    ],
    ['null', json(null), ['unknown_outcome']],
    [
      'text that is not JSON',
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      ['upstream'],
    ],
    ['nothing', (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(), ['upstream']],
    [
      'a page',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      ['unknown_outcome', 'upstream'],
    ],
    ['a 202 without anything', (response) => void response.writeHead(202).end(), ['upstream']],
    [
      'half of one',
      (response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
          .write('{"jsonrpc"', () => response.destroy()),
      ['unknown_outcome'],
    ],
    ['half an event', (response) => void response.writeHead(200, EVENTS).end('data: {"jsonrpc":'), ['unknown_outcome']],
    [
      'an event of another kind',
      (response, { id }) =>
        void response.writeHead(200, EVENTS).end(`event: x\ndata: {"jsonrpc":"2.0","id":${id},"result":{}}\n\n`),
      ['unknown_outcome'],
    ],
    [
      'the end of the connection during an event',
      (response) => void response.writeHead(200, EVENTS).write('data: {', () => response.destroy()),
      ['unknown_outcome'],
    ],
    ['the end of the connection', (response) => void response.destroy(), ['unknown_outcome']],
    [
      'another encoding',
      (response) =>
        void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' }).end('x'),
      ['upstream'],
    ],
    ['a 500', (response) => void response.writeHead(500).end('no'), ['upstream']],
    ['a 404', (response) => void response.writeHead(404).end(), ['unavailable']],
    ['a 401', (response) => void response.writeHead(401).end(), ['upstream']],
    [
      'a 307 to elsewhere',
      (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end(),
      ['upstream'],
    ],
  ])('that is %s fails the call, which is not sent again', async (_what, answer, codes) => {
    const { call, calls } = await answering(answer);
    expect(codes).toContain(saidOf(await call()));
    expect(calls()).toBe(1);
  });
});

describe('an event stream', () => {
  it('leaves its connection to the next call', async () => {
    const sockets = new Set<unknown>();
    const { call } = await answering((response, { id }) => {
      sockets.add(response.socket);
      response.writeHead(200, EVENTS).flushHeaders();
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
    for (let count = 0; count < 3; count++) expect(saidOf(await call())).toBe('here');
    expect(sockets.size).toBe(1);
  });

  it('that ends before the answer is resumed if the server numbered its events', async () => {
    let asked = 0;
    const start: Answer = (response, { id }) => {
      asked = id;
      response.writeHead(200, EVENTS).end('id: 7\nretry: 10\ndata:\n\n');
    };
    const resume = ({ headers }: IncomingMessage, response: ServerResponse) => {
      if (headers['last-event-id'] !== '7') return false;
      response.writeHead(200, EVENTS).end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked, result })}\n\n`);
      return true;
    };
    const { call, calls } = await answering(start, resume);
    expect(saidOf(await call())).toBe('here');
    expect(calls()).toBe(1);
  });
});

describe('a busy server', () => {
  const date = 'Sun, 15 Nov 2026 12:00:00 GMT';
  it.each<[number, Readonly<Record<string, string>>, number | undefined]>([
    [429, { 'retry-after': '7' }, 7000],
    [503, { 'retry-after': '0' }, 0],
    [503, { 'retry-after': 'Sun, 15 Nov 2026 12:01:30 GMT', date }, 90_000],
    [429, { 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT', date }, 0],
    [429, { 'retry-after': '99999999' }, 3_600_000],
    [429, { 'retry-after': 'soon' }, undefined],
    [429, { 'retry-after': '-5' }, undefined],
    [503, {}, undefined],
  ])('has a time to retry with %i and %j', async (status, headers, retryAfterMs) => {
    const { call } = await answering((response) => void response.writeHead(status, headers).end());
    const outcome = await call();
    expect(outcome).toMatchObject({ error: { code: 'unavailable', retryable: true } });
    expect('error' in outcome && outcome.error.retryAfterMs).toBe(retryAfterMs);
  });
});

describe('the trace of a call', () => {
  it('is in a header and in the message, in the newest era', async () => {
    const server = await startModern();
    const chest = await (await cribWith({ m: { mcp: { url: server.url } } })).open();
    expect(await chest.call('m_meta', {}, { traceparent: TRACE })).toMatchObject({ data: { traceparent: TRACE } });
    expect(callsOf(server.requests).map(({ headers }) => headers.traceparent)).toEqual([TRACE]);
    await chest.call('m_meta');
    expect(callsOf(server.requests).at(-1)?.headers).not.toHaveProperty('traceparent');
  });

  it('is in a header in the older era, too', async () => {
    const server = await startSessions();
    const chest = await (await cribWith({ a: { mcp: { url: server.url } } })).open();
    await chest.call('a_work', {}, { traceparent: TRACE });
    expect(server.requests.filter(({ method }) => method === 'POST').at(-1)?.headers.traceparent).toBe(TRACE);
  });
});

function callsOf(requests: readonly IncomingMessage[]): readonly IncomingMessage[] {
  return requests.filter(({ headers }) => headers['mcp-method'] === 'tools/call');
}

it('a tool that its server no longer knows does not affect the others', async () => {
  const server = await startModern();
  const chest = await (await cribWith({ m: { mcp: { url: server.url } } })).open();
  for (let time = 0; time < 10; time++)
    expect(saidOf(await chest.call('m_refuse', { code: -32601 }, { retries: 0 }))).toBe('tool_error');
  expect(saidOf(await chest.call('m_echo', { text: 'x' }))).toBe('x');
});
