import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import timers from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { createState, createWorkbench } from '../../kinds/mcp/servers/workbench.ts';

/** A request that came. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The server that stands for everything outside: lists, APIs, chats, endpoints. */
export interface Upstream {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Sets the keys that the issuer publishes at /keys. */
  publish(keys: unknown): void;
  /** Resolves when so many requests for the path have come. */
  came(path: string, count?: number): Promise<readonly Asked[]>;
}

const mcp = createMcpHandler(() => createWorkbench(createState()), { legacy: 'stateless' });

/** A server of MCP that keeps no state. */
const serveMcp = getRequestListener((request) => mcp.fetch(request), { overrideGlobalObjects: false });

type Answer = (asked: Asked, response: ServerResponse) => unknown;

/** The answers by path prefix. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  '/specs': async ({ path }) => {
    if (path.includes('slow')) await timers.setTimeout(60);
    return { tools: SPECS };
  },
  '/api.json': async ({ path }) => {
    if (path.includes('slow')) await timers.setTimeout(60);
    return api('/');
  },
  '/slower': () => timers.setTimeout(600, {}),
  '/granted': () => ({ tools: [GRANTED] }),
  '/v': ({ body }) => {
    const { input } = JSON.parse(body) as { input: readonly string[] };
    return { data: input.map((text, index) => ({ index, embedding: [text.length, 1, 2] })) };
  },
  '/model': answerAsModel,
  '/token': () => ({ access_token: 'a-token', token_type: 'bearer', expires_in: 3600 }),
  '/pets': ({ headers: { host: _host, ...headers }, path }) => ({ path, headers }),
};

/** A model: at /model/2/echo it first calls the tool echo twice. It answers with the results of its tools. */
async function answerAsModel({ path, body }: Asked, response: ServerResponse): Promise<unknown> {
  const { messages } = JSON.parse(body) as { messages: readonly { role: string; content: string }[] };
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content.slice(0, 100));
  const [, calls = '0', name = ''] = /^\/model\/(\d+)\/(\w+)/.exec(path) ?? [];
  if (path.includes('slow')) await timers.setTimeout(600);
  if (path.includes('busy-once') && !seenBusy.delete(response.req.socket.localPort)) {
    seenBusy.add(response.req.socket.localPort);
    response.writeHead(503, { 'retry-after': '0' }).end();
    return undefined;
  }
  const count = results.length > 0 ? 0 : Number(calls);
  const tool_calls = [...Array(count).keys()].map((id) => ({ id: `c${id}`, function: { name, arguments: '{}' } }));
  const text = `Done: ${results.join(' ')}`;
  const message = count > 0 ? { content: null, tool_calls } : { content: text };
  const details = { prompt_tokens_details: { cached_tokens: 1 } };
  const openai = {
    choices: [{ message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 2, completion_tokens: 1, ...details },
  };
  return { ...openai, content: [{ type: 'text', text }], stop_reason: 'end_turn' };
}
const seenBusy = new Set<number | undefined>();

/** A tool that names a secret. */
export const GRANTED = {
  name: 'granted',
  description: 'Names a secret',
  run: { kind: 'http', method: 'GET', url: 'https://a.test', headers: { 'x-key': '$' + '{secret:key}' } },
};

/** The specs of remote lists. */
export const SPECS = [
  { name: 'echo', description: 'Says it again', tags: ['talk'], run: { kind: 'task', task: 'echo' } },
  { name: 'other', description: 'Does something else', run: { kind: 'task', task: 'counted' } },
  { name: 'where', description: 'Where it runs', run: { kind: 'shell', command: ['true'], sandbox: {} } },
];

/** The description of an API. */
export function api(server: string): object {
  const operation = (operationId: string) => ({
    operationId,
    tags: ['talk'],
    responses: { 200: { description: 'Done.' } },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    servers: [{ url: server }],
    paths: { '/pets': { get: operation('echo') }, '/pets/other': { get: operation('other') } },
  };
}

/** Starts one; it is closed after the test. */
export async function startUpstream(): Promise<Upstream> {
  const asked: Asked[] = [];
  let published: unknown;
  const here = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const isMcp = url.startsWith('/mcp');
    const one = { method, path: url, headers, body: isMcp ? '' : (await buffer(request)).toString() };
    asked.push(one);
    server.emit('asked');
    if (isMcp && url.includes('slow')) await timers.setTimeout(60);
    if (url.startsWith('/mcp/secured') && headers.authorization === undefined)
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    if (isMcp) return serveMcp(request, response);
    const known: Readonly<Record<string, unknown>> = {
      '/keys': published,
      '/.well-known/openid-configuration': {
        issuer: here(),
        jwks_uri: `${here()}/keys`,
        authorization_endpoint: `${here()}/authorize`,
        token_endpoint: `${here()}/token`,
      },
    };
    if (Object.hasOwn(known, url))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(known[url]));
    const answer = Object.entries(ANSWERS).find(([path]) => url.startsWith(path))?.[1];
    const body = (await answer?.(one, response)) ?? {};
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
    if (!response.writableEnded) response.end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const at = (path: string) => asked.filter((one) => one.path.startsWith(path));
  return {
    url: here(),
    asked,
    publish(keys) {
      published = keys;
    },
    async came(path, count = 1) {
      while (at(path).length < count) await once(server, 'asked');
      return at(path);
    },
  };
}
