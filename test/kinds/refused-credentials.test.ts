import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ToolResult } from '../../src/index.ts';
import { idOf, OPERATOR } from '../approvals/payments.ts';
import { bodyOf } from './http/http-shop.ts';
import { type HttpServer, startHttp, startModern, startSessions, startSse } from './mcp/http-servers.ts';
import { cribWith } from './mcp/upstream.ts';

/** What a server says to a call. */
type Reply = 'pass' | 'break' | readonly [status: number, headers?: Readonly<Record<string, string>>];

/** A server behind a door that replies to calls with the given replies in turn, and repeats the last one. */
interface Door {
  readonly url: string;
  /** The bodies of all calls that came, and the credentials that came with them. */
  readonly calls: { readonly body: string; readonly token: string }[];
  replies: Reply[];
  /** Told of each call before it is answered. */
  onCall(): void;
}

async function passOn(request: IncomingMessage, response: ServerResponse, to: { url: URL; body: string }) {
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
  const ending = new AbortController();
  response.on('close', () => ending.abort());
  const answer = await fetch(to.url, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>, // none of them comes twice
    ...(request.method === 'POST' && { body: to.body }),
    signal: ending.signal,
  });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}

async function doorBefore(server: { readonly url: string }, isCall: (body: string) => boolean): Promise<Door> {
  const calls: Door['calls'] = [];
  const http: HttpServer = await startHttp(async (request, response) => {
    const body = String(await bodyOf(request));
    const path = new URL(request.url ?? '/', server.url);
    const reply = isCall(body) ? (door.replies[Math.min(calls.length, door.replies.length - 1)] ?? 'pass') : 'pass';
    if (isCall(body)) {
      calls.push({ body, token: String(request.headers.authorization) });
      door.onCall();
    }
    if (reply === 'break') request.socket.destroy();
    else if (reply !== 'pass') response.writeHead(...reply).end();
    else await passOn(request, response, { url: path, body }).catch(() => response.destroy());
  });
  const door: Door = { url: http.url, calls, replies: ['pass'], onCall() {} };
  return door;
}

/** Issues a new token each time; while it is held up, clients wait. */
async function startTokens() {
  let count = 0;
  const state = { held: undefined as Promise<void> | undefined, isAsked: () => {} };
  const server = await startHttp(async (_, response) => {
    state.isAsked();
    await state.held;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ access_token: `token-number-${++count}`, token_type: 'Bearer', expires_in: 3600 }));
  });
  return { ...server, state };
}

const KINDS = ['http', 'mcp', 'mcp of the older era', 'mcp of the older transport'] as const;
type Kind = (typeof KINDS)[number];
const SERVERS = {
  mcp: () => startModern(),
  'mcp of the older era': () => startSessions(['count']),
  'mcp of the older transport': () => startSse(),
};
/** How the call is made: with a yes of a person, or without, to a tool of these effects. */
const CALLS = {
  'that a person approved': { approval: 'always', effects: {} },
  'that may not be repeated': { approval: 'never', effects: {} },
  'that may be repeated, which a person approved': { approval: 'always', effects: { idempotent: true } },
} as const;
type Made = keyof typeof CALLS;

/** A crib with one tool behind a door that wants tokens. `call` makes the call, approved where it must be. */
async function shop(kind: Kind, made: Made) {
  vi.stubEnv('CLIENT_SECRET', 'client-secret-value');
  onTestFinished(() => void vi.unstubAllEnvs());
  const tokens = await startTokens();
  const { approval, effects } = CALLS[made];
  const clientCredentials = { clientId: 'me', clientSecret: ['$', '{secret:client}'].join(''), tokenUrl: tokens.url };
  const auth = { clientCredentials };
  const rest: Record<string, unknown> = {
    secrets: { client: { env: 'CLIENT_SECRET', hosts: ['127.0.0.1'] } },
    executors: { http: { allowPrivate: ['127.0.0.1'] } },
    extensions: { retry: { firstDelayMs: 1 } },
  };
  let door: Door;
  let deeds = 0;
  const policy = { approval };
  const sources: Record<string, unknown> = {};
  if (kind === 'http') {
    const api = await startHttp((_, response) => void response.end(String(++deeds)));
    door = await doorBefore(api, () => true);
    const run = { kind: 'http', method: 'POST', url: door.url, body: { amount: 3 }, auth };
    rest.tools = [{ name: 's_count', description: 'x', effects, policy, run }];
  } else {
    const server = await SERVERS[kind]();
    door = await doorBefore(server, (body) => /"tools\/call"/.test(body));
    const type = kind === 'mcp of the older transport' ? { type: 'sse' } : {};
    const overrides = { s_count: { effects, policy } };
    sources.s = { mcp: { url: door.url, auth, ...type }, trust: true, overrides };
  }
  const crib = await cribWith(sources, { rest });
  const chest = await crib.open(undefined, { id: 'alice' });
  await vi.waitFor(() => expect(crib.get('s_count'), crib.warnings().join()).toBeDefined(), 5000);
  const call = async (options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) => {
    if (approval === 'never') return chest.call('s_count', {}, options);
    const approvalId = idOf(await chest.call('s_count', {}, { door: 'cli', park: true }));
    await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR);
    return chest.call('s_count', {}, { approvalId, ...options });
  };
  return { door, tokens, call };
}

const codeOf = (result: ToolResult) => (result.status === 'failed' ? result.error.code : result.status);

describe.each(KINDS)('%s', (kind) => {
  describe.each(Object.keys(CALLS) as Made[])('a call %s', (made) => {
    it('that is answered with 401 is sent once more, unchanged, with another token, and runs once', async () => {
      const { door, call } = await shop(kind, made);
      door.replies = [[401, { 'www-authenticate': 'Bearer error="invalid_token"' }], 'pass'];
      const result = await call();
      expect(result).toMatchObject({ ok: true, content: [{ text: '1' }] });
      expect(door.calls).toHaveLength(2);
      expect(door.calls[1]?.body).toBe(door.calls[0]?.body);
      expect(door.calls[1]?.token).not.toBe(door.calls[0]?.token);
    });

    it('that is answered with 401 again is not sent a third time', async () => {
      const { door, call } = await shop(kind, made);
      door.replies = [[401, { 'www-authenticate': 'Bearer' }]];
      const result = await call();
      expect(result).toMatchObject({ ok: false, error: { code: 'upstream', retryable: false } });
      expect(door.calls).toHaveLength(2);
    });

    it('that ends while another token is fetched is not sent again', async () => {
      const { door, call, tokens } = await shop(kind, made);
      const held = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const ending = new AbortController();
      door.replies = [[401]];
      door.onCall = () => Object.assign(tokens.state, { held: held.promise, isAsked: asked.resolve });
      const answer = call({ signal: ending.signal });
      await asked.promise;
      ending.abort();
      expect(codeOf(await answer)).toMatch(/cancelled|unknown_outcome/);
      held.resolve();
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(door.calls).toHaveLength(1);
    });
  });

  it.each<[string, Reply]>([
    ['403', [403]],
    ['403 that wants another scope', [403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="all"' }]],
    ['400', [400]],
    ['404', [404]],
    ['407', [407]],
    ['408', [408]],
    ['409', [409]],
    ['429', [429]],
    ['500', [500]],
    ['502', [502]],
    ['503', [503]],
    ['504', [504]],
    ['a broken connection', 'break'],
  ])('a call that may not be repeated is not sent again after %s', async (_, reply) => {
    // By the protocol a server looks at no request of a session that it does not know any more.
    if (kind === 'mcp of the older era' && reply[0] === 404) return;
    for (const made of ['that a person approved', 'that may not be repeated'] as const) {
      const { door, call } = await shop(kind, made);
      door.replies = [reply, 'pass'];
      expect((await call()).ok).toBe(false);
      expect(door.calls, made).toHaveLength(1);
    }
  });
});
