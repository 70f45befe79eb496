import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { type Chest, type Crib, createCrib, type ToolResult } from '../../../src/index.ts';
import { startServer, type TestServer } from '../../sources/http-server.ts';

/** What a server that echoes was asked. */
export interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers with what it was asked, as JSON. */
export const echo: RequestListener = async (request, response) => {
  const body = await bodyOf(request);
  const { method, url, headers } = request;
  giveJson(response, { method, url, headers, body: body.toString('latin1') });
};

/** Everything that a request carries. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Answers with JSON. */
export function giveJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** A crib with one tool that calls a server, and that server. */
export interface Shop {
  readonly server: TestServer;
  readonly crib: Crib;
  readonly chest: Chest;
  call(input?: unknown): Promise<ToolResult>;
}

/** What a shop is set up with. */
export interface ShopOptions {
  /** How the tool runs; `url` may be a path of the server. */
  readonly run?: Readonly<Record<string, unknown>>;
  /** What else the spec of the tool says. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The rest of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly server?: TestServer;
}

/** Arguments that may be anything. */
const ANYTHING = {
  type: 'object',
  properties: Object.fromEntries(['id', 'q', 'tags', 'filter', 'file', 'name', 'n'].map((name) => [name, {}])),
};

/** Opens a shop whose server answers so; everything is closed after the test. */
export async function openShop(answer: RequestListener, options: ShopOptions = {}): Promise<Shop> {
  const server = options.server ?? (await startServer(answer));
  server.answer(answer);
  const { url = '/', ...run } = options.run ?? {};
  const whole = String(url).startsWith('/') && run.baseUrl === undefined ? `http://${server.host}${url}` : url;
  const tool = {
    name: 'ask',
    description: 'Asks',
    input: ANYTHING,
    ...options.spec,
    run: { kind: 'http', ...run, url: whole },
  };
  const crib = await createCrib({
    store: { url: 'memory:' },
    config: { executors: { http: { allowPrivate: [server.host] } }, ...options.config, tools: [tool] },
  });
  onTestFinished(() => crib.close());
  const chest = await crib.open();
  return { server, crib, chest, call: (input = {}) => chest.call('ask', input) };
}

/** What the server was asked by a run with these arguments. */
export async function askedWith(run: Readonly<Record<string, unknown>>, input: unknown = {}): Promise<Echo> {
  const { call } = await openShop(echo, { run });
  const result = await call(input);
  if (!result.ok) throw new Error(`It was not asked: ${JSON.stringify(result)}`);
  return result.data as unknown as Echo; // what the server above answers
}

/** Why a run cannot be let in; empty if it was. */
export async function refusalOf(
  run: Readonly<Record<string, unknown>>,
  spec: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const tool = { name: 'ask', description: 'Asks', input: ANYTHING, ...spec, run: { kind: 'http', ...run } };
  const secrets = { host: { env: 'HTTP_TEST_HOST', hosts: ['example.com'] } };
  const crib = await createCrib({ store: { url: 'memory:' }, config: { secrets, tools: [tool] } });
  onTestFinished(() => crib.close());
  return crib.get('ask') === undefined ? crib.warnings().join('\n') : '';
}
