import { once } from 'node:events';
import { createServer, IncomingMessage, request, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createMcpDoor } from '../../../src/doors/mcp/mcp-door.ts';
import { createNodeRequest } from '../../../src/doors/node-request.ts';
import { writeWhole } from '../../../src/doors/rest/answers.ts';
import { createRestApp } from '../../../src/doors/rest/create-rest-app.ts';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';

const CONFIG = 'defaultProfile: all\naccess: { keys: true }\nprofiles: { all: {}, other: {} }\n';

async function served() {
  const begun = Promise.withResolvers<AbortSignal>();
  const echo = {
    name: 'echo',
    description: 'Echoes',
    input: { type: 'object' },
    run: (given: unknown) => JSON.stringify(given),
  };
  const wait = {
    name: 'wait',
    description: 'Waits for the end of the call',
    run: (_input: unknown, { signal }: { readonly signal: AbortSignal }) => {
      begun.resolve(signal);
      return once(signal, 'abort').then(() => 'ended');
    },
  };
  const crib = await cribOf(folderWith({ 'toolcrib.yaml': CONFIG }), { tools: [echo, wait] });
  const mcp = createMcpDoor(crib, { version: '1.0.0' });
  const server = await startServer(crib, { mcp, port: 0, graceMs: 0 });
  onTestFinished(async () => {
    await mcp.close();
    await server.close();
  });
  const { key } = await crib.keys.create({ name: 'one', profiles: ['all'] }, 'test');
  return { server, app: createRestApp(crib, { mcp }), key, begun: begun.promise };
}

type Given = {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
};

const call = (name: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { a: 1 } } });
const USUAL = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sends a POST as it is told: `fetch` would not send these headers. */
function post(url: string, { path = '/mcp', headers = {}, body = call('echo') }: Given) {
  const given = Object.entries({ 'content-length': `${Buffer.byteLength(body)}`, ...USUAL, ...headers });
  const sent = Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== undefined));
  const asked = request(`${url}${path}`, { method: 'POST', headers: sent });
  asked.on('error', () => {});
  asked.end(body);
  return asked;
}

it('a POST to /mcp is answered and refused as by the app', async () => {
  const { server, app, key } = await served();
  const authorization = `Bearer ${key}`;
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
  const cases: readonly (readonly [status: number, given: Given])[] = [
    [200, { headers: { authorization } }],
    [200, { headers: { authorization }, path: '/mcp/all' }],
    [200, { headers: { authorization }, body: list }],
    [401, {}],
    [401, { headers: { authorization: 'Bearer tck_wrong' } }],
    [403, { headers: { authorization, host: 'evil.example' } }],
    [403, { headers: { authorization, origin: 'https://evil.example' } }],
    [403, { headers: { authorization, 'sec-fetch-site': 'cross-site' } }],
    [404, { headers: { authorization }, path: '/mcp/other' }],
    [400, { headers: { authorization }, body: '{' }],
    [406, { headers: { authorization, accept: 'text/html' } }],
    [415, { headers: { authorization, 'content-type': 'text/plain' } }],
    [413, { headers: { authorization }, body: `"${'x'.repeat(4 * 1024 * 1024)}"` }],
  ];
  for (const [status, given] of cases) {
    const [response] = await once(post(server.url, given), 'response');
    const { path = '/mcp', headers, body = call('echo') } = given;
    const url = headers?.host === undefined ? server.url : `http://${headers.host}`;
    const length = `${Buffer.byteLength(body)}`;
    const same = await app.fetch(
      new Request(`${url}${path}`, {
        method: 'POST',
        headers: { ...USUAL, 'content-length': length, ...headers } as never,
        body,
      }),
    ); // none of these is undefined
    expect([response.statusCode, await text(response)]).toEqual([status, await same.text()]);
    expect(same.status).toBe(status);
  }
});

it('a call over POST ends when its client leaves', async () => {
  const { server, key, begun } = await served();
  const asked = post(server.url, { headers: { authorization: `Bearer ${key}` }, body: call('wait') });
  const signal = await begun;
  asked.destroy();
  if (!signal.aborted) await once(signal, 'abort');
  expect(signal.aborted).toBe(true);
});

it('a POST with an invalid Host is answered before its caller is identified', async () => {
  const { server } = await served();
  for (const host of ['a:b:c', '[[', '[::1', '127.0.0.1:99999']) {
    const [response] = await once(post(server.url, { headers: { host } }), 'response');
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(await text(response))).toMatchObject({ error: { code: 'invalid_input' } });
  }
});

it('reading the body of a request whose client has left is an error', async () => {
  const incoming = Object.assign(new IncomingMessage(new Socket()), { headers: { host: 'a' } });
  const request = createNodeRequest(incoming, new ServerResponse(incoming));
  incoming.destroy();
  await once(incoming, 'close');
  await expect(request.text()).rejects.toThrow('the client closed the connection');
}, 10_000);

it('an answer in pieces is made as fast as the client reads, and no further once it has left', async () => {
  let [made, isOver] = [0, false];
  function* pieces() {
    try {
      for (; made < 100; made++) yield 'x'.repeat(1_000_000);
    } finally {
      isOver = true;
    }
  }
  const closed = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.once('close', closed.resolve);
    writeWhole(response, { status: 200, pieces: pieces() });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1' });
  asked.on('error', () => {}).end();
  const [answer] = await once(asked, 'response');
  await once(answer, 'readable'); // and nothing more is read of it
  for (let turn = 0; turn < 200; turn++) await setImmediate();
  expect(made).toBeLessThan(50); // the system holds some megabytes itself
  asked.destroy();
  await closed.promise;
  await setImmediate();
  expect(isOver).toBe(true);
});
