// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Crib } from '../../../src/index.ts';
import { type HttpServer, startHttp, startModern, startSessions, startSse } from './http-servers.ts';
import { cribWith, saidOf, stateOf, untilChanged } from './upstream.ts';

const namesOf = (crib: Crib) => crib.catalog.specs.map(({ name }) => name);

function environment(variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables);
  onTestFinished(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
}

/** A server behind a door: a refused client gets this answer. */
async function guarded(server: HttpServer, isLetIn: (request: IncomingMessage) => boolean, challenge = 'Bearer') {
  return startHttp(async (request, response) => {
    if (!isLetIn(request)) return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    await forward(request, response, server.url);
  });
}

async function forward(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  try {
    await pass(request, response, url);
  } catch {
    response.destroy(); // one of the two is gone
  }
}

async function pass(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const headers = Object.entries(request.headers).filter(
    ([name]) => !['host', 'connection', 'content-length'].includes(name),
  );
  const body = request.method === 'POST' ? await text(request) : undefined;
  const answer = await fetch(url, { method: request.method ?? 'GET', headers: headers as never, body: body as never });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}

describe('a server over HTTP', () => {
  it('of the older transport is detected, or configured', async () => {
    const server = await startSse();
    const crib = await cribWith({ a: { mcp: { url: server.url } }, b: { mcp: { type: 'sse', url: server.url } } });
    const chest = await crib.open();
    expect(saidOf(await chest.call('a_work'))).toBe('work done');
    expect([await chest.call('b_count'), await chest.call('b_count')].map(saidOf)).toEqual(['1', '2']);
    await server.stop();
    expect(['unavailable', 'unknown_outcome']).toContain(saidOf(await chest.call('a_work')));
  });

  it('whose session has ended gets a new one', async () => {
    const server = await startSessions();
    const crib = await cribWith({ a: { mcp: { url: server.url } } }, { watch: false });
    const chest = await crib.open();
    expect([await chest.call('a_count'), await chest.call('a_count')].map(saidOf)).toEqual(['1', '2']);
    server.sessions.clear();
    expect(saidOf(await chest.call('a_count'))).toBe('1');
  });

  it('that is gone is not ready even without calls, and is ready when it is back', async () => {
    const server = await startModern();
    const crib = await cribWith({ m: { mcp: { url: server.url } } });
    await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(2)); // it is listened to
    expect(stateOf(crib, 'm')?.state).toBe('ready');
    await server.stop();
    const state = { state: 'down', reason: expect.stringContaining('ECONNREFUSED') };
    await vi.waitFor(() => expect(stateOf(crib, 'm')).toMatchObject(state), { timeout: 20_000 });
    await server.start();
    await vi.waitFor(() => expect(stateOf(crib, 'm')).toMatchObject({ state: 'ready' }), { timeout: 20_000 });
    expect(stateOf(crib, 'm')?.reason).toBeUndefined();
  });

  it('gets the end of its session', async () => {
    const server = await startSessions();
    const crib = await cribWith({ a: { mcp: { url: server.url } } });
    await crib.close();
    expect(server.requests.at(-1)?.method).toBe('DELETE');
  });

  it('of the newest era announces its tools to listening clients', async () => {
    const server = await startModern();
    const crib = await cribWith({ m: { mcp: { url: server.url } } });
    const chest = await crib.open();
    await chest.call('m_grow');
    const grown = untilChanged(crib, () => namesOf(crib).some((name) => name.startsWith('m_grown')));
    const announce = (): void => {
      server.changed();
      if (!namesOf(crib).some((name) => name.startsWith('m_grown'))) setImmediate(announce); // until it listens
    };
    announce();
    await grown;
  });

  it('that is lost during a call leaves its outcome unknown', async () => {
    const server = await startSessions();
    const crib = await cribWith({ a: { mcp: { url: server.url } } }, { watch: false });
    const chest = await crib.open();
    expect(saidOf(await chest.call('a_crash'))).toBe('unknown_outcome');
    expect(saidOf(await chest.call('a_work', {}, { retries: 0 }))).toBe('unavailable');
    await server.start();
    server.sessions.clear();
    expect(saidOf(await chest.call('a_work', {}, { retries: 5 }))).toBe('work done');
  });

  it('that is busy gets the call again later, and keeps other calls', async () => {
    const server = await startModern();
    let isBusy = false;
    const door = await startHttp((request, response) => {
      if (isBusy) response.writeHead(503).end();
      else void forward(request, response, server.url);
    });
    const crib = await cribWith({ m: { mcp: { url: door.url } } }, { watch: false });
    const chest = await crib.open();
    isBusy = true;
    expect(await chest.call('m_echo', { text: 'x' }, { retries: 0 })).toMatchObject({
      error: { code: 'unavailable', message: 'The server of "m_echo" is busy; try again later.', retryable: true },
    });
    isBusy = false;
    expect(saidOf(await chest.call('m_echo', { text: 'x' }))).toBe('x');
  });
});

describe('credentials', () => {
  it('in headers are sent to the host of the server, looked up for each request', async () => {
    const server = await startModern();
    environment({ UPSTREAM_KEY: 'first-secret-value' });
    const rest = { secrets: { key: { env: 'UPSTREAM_KEY', hosts: [server.host] } } };
    const headers = { 'X-Key': 'key ${secret:key}', 'User-Agent': 'mine' };
    const crib = await cribWith({ m: { mcp: { url: server.url, headers } } }, { rest });
    expect(server.requests[0]?.headers).toMatchObject({ 'x-key': 'key first-secret-value', 'user-agent': 'mine' });
    environment({ UPSTREAM_KEY: 'second-secret-value' });
    await (await crib.open()).call('m_echo', { text: 'x' });
    expect(server.requests.at(-1)?.headers['x-key']).toBe('key second-secret-value');
  });

  it('bound to another host are never sent', async () => {
    const server = await startModern();
    environment({ UPSTREAM_KEY: 'a-secret-value' });
    const rest = { secrets: { key: { env: 'UPSTREAM_KEY', hosts: ['example.com'] } } };
    const crib = await cribWith({ m: { mcp: { url: server.url, auth: { bearer: '${secret:key}' } } } }, { rest });
    expect(stateOf(crib, 'm')).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^The secret "key" may not be sent to .*: it is bound to example\.com\.$/),
    });
    expect(server.requests).toHaveLength(0);
  });

  it('a bearer token is sent, and a wrong one is reported as a wrong credential', async () => {
    const server = await startModern();
    const door = await guarded(server, ({ headers }) => headers.authorization === 'Bearer right-secret-value');
    environment({ RIGHT: 'right-secret-value', WRONG: 'wrong-secret-value' });
    const rest = { secrets: { r: { env: 'RIGHT', hosts: [door.host] }, w: { env: 'WRONG', hosts: [door.host] } } };
    const sources = {
      right: { mcp: { url: door.url, auth: { bearer: '${secret:r}' } } },
      wrong: { mcp: { url: door.url, auth: { bearer: '${secret:w}' } } },
    };
    const crib = await cribWith(sources, { rest });
    expect(stateOf(crib, 'right')).toMatchObject({ state: 'ready' });
    expect(stateOf(crib, 'wrong')).toMatchObject({ state: 'failed', reason: expect.stringContaining('401') });
  });

  /** Gives out tokens that are good for a while. */
  async function startTokens(seconds: number | undefined = 3600) {
    let count = 0;
    const asked: string[] = [];
    const server = await startHttp(async (request, response) => {
      asked.push(`${request.headers.authorization} ${await text(request)}`);
      const isKnown =
        request.headers.authorization === `Basic ${Buffer.from('me:client-secret-value').toString('base64')}`;
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      const token = { access_token: `token-number-${++count}`, token_type: 'Bearer', expires_in: seconds };
      response.end(JSON.stringify(isKnown ? token : { error: 'invalid_client' }));
    });
    return {
      ...server,
      asked,
      isGood: ({ headers }: IncomingMessage) => headers.authorization === `Bearer token-number-${count}`,
    };
  }

  const clientCredentials = (more: object = {}) => ({
    clientCredentials: { clientId: 'me', clientSecret: '${secret:client}', ...more },
  });
  const secretsFor = (host: string) => ({ secrets: { client: { env: 'CLIENT_SECRET', hosts: [host] } } });

  it('client credentials are exchanged for a token, which is cached until it expires', async () => {
    environment({ CLIENT_SECRET: 'client-secret-value' });
    const [server, tokens] = [await startModern(), await startTokens()];
    const door = await guarded(server, tokens.isGood);
    const auth = clientCredentials({ tokenUrl: tokens.url, scope: 'tools' });
    const crib = await cribWith({ m: { mcp: { url: door.url, auth } } }, { rest: secretsFor(tokens.host) });
    expect(saidOf(await (await crib.open()).call('m_echo', { text: 'x' }))).toBe('x');
    expect(tokens.asked).toEqual([expect.stringContaining('grant_type=client_credentials&scope=tools')]);
    const shown = JSON.stringify([crib.sources(), crib.warnings(), crib.catalog.specs]);
    for (const hidden of ['client-secret-value', 'token-number']) expect(shown).not.toContain(hidden);
  });

  it('an expired or refused token is replaced', async () => {
    environment({ CLIENT_SECRET: 'client-secret-value' });
    const [server, tokens] = [await startModern(), await startTokens(1)];
    let refusals = 0;
    const door = await guarded(server, (request) => tokens.isGood(request) && ++refusals !== 3);
    const auth = clientCredentials({ tokenUrl: tokens.url });
    const crib = await cribWith({ m: { mcp: { url: door.url, auth } } }, { rest: secretsFor(tokens.host) });
    const chest = await crib.open();
    for (let turn = 0; turn < 3; turn++) expect(saidOf(await chest.call('m_echo', { text: 'x' }))).toBe('x');
    expect(tokens.asked.length).toBeGreaterThan(3);
  });

  it('the token endpoint is discovered, and the secret is sent only to a host it is bound to', async () => {
    environment({ CLIENT_SECRET: 'client-secret-value' });
    const [server, tokens] = [await startModern(), await startTokens()];
    const door = await startHttp(async (request, response) => {
      const json = (value: object) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
        return json({ resource: door.url, authorization_servers: [`http://${door.host}`] });
      if (request.url?.startsWith('/.well-known/'))
        return json({
          issuer: `http://${door.host}`,
          authorization_endpoint: `http://${door.host}/authorize`,
          token_endpoint: `http://${door.host}/token`,
          response_types_supported: ['code'],
        });
      if (request.url === '/token') return forward(request, response, tokens.url);
      if (!tokens.isGood(request)) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      await forward(request, response, server.url);
    });
    const sources = { m: { mcp: { url: door.url, auth: clientCredentials() } } };
    const bound = await cribWith(sources, { rest: secretsFor(door.host) });
    expect(stateOf(bound, 'm')).toMatchObject({ state: 'ready' });
    expect(tokens.asked.at(-1)).toContain(`resource=${encodeURIComponent(door.url)}`);
    const count = tokens.asked.length;
    const unbound = await cribWith(sources, { rest: secretsFor('example.com') });
    expect(stateOf(unbound, 'm')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('may not be sent to'),
    });
    expect(tokens.asked).toHaveLength(count);
  });

  it('a server that issues no token is named', async () => {
    environment({ CLIENT_SECRET: 'another-secret-value' });
    const [server, tokens] = [await startModern(), await startTokens()];
    const auth = clientCredentials({ tokenUrl: tokens.url });
    const crib = await cribWith({ m: { mcp: { url: server.url, auth } } }, { rest: secretsFor(tokens.host) });
    expect(stateOf(crib, 'm')).toMatchObject({
      state: 'failed',
      reason: `${tokens.host} did not issue a token: invalid_client`,
    });
  });
});
