// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ToolResult } from '../../../src/index.ts';
import { httpExecutor } from '../../../src/kinds/http/http-executor.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { testCall } from '../../../src/testing/index.ts';
import { manualClock } from '../../crib/manual-clock.ts';
import { startServer, type TestServer } from '../../sources/http-server.ts';
import { bodyOf, type Echo, echo, giveJson, openShop, type Shop } from './http-shop.ts';

const KEY = 'hunter2/hunter2 ?';
beforeEach(() => void Object.assign(process.env, { HTTP_AUTH_KEY: KEY }));
afterEach(() => void delete process.env.HTTP_AUTH_KEY);

const once = { policy: { retries: 0 } };
const codeOf = (result: ToolResult) => (result.status === 'failed' ? result.error.code : result.status);

/** A shop whose tool may use the secret `key` at its own server. */
async function shopWith(
  run: Readonly<Record<string, unknown>>,
  server?: TestServer,
  hosts?: readonly string[],
): Promise<Shop> {
  const own = server ?? (await startServer());
  const config = {
    executors: { http: { allowPrivate: ['127.0.0.1', 'localhost'] } },
    secrets: { key: { env: 'HTTP_AUTH_KEY', hosts: hosts ?? [own.host] } },
  };
  return openShop(echo, { server: own, run, config, spec: once });
}

async function askedBy(run: Readonly<Record<string, unknown>>): Promise<Echo> {
  const result = await (await shopWith(run)).call();
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.data as unknown as Echo; // what the server answers
}

describe('credentials', () => {
  it('bearer, basic and keys, each in its place', async () => {
    const { headers } = await askedBy({ auth: { bearer: '${secret:key}' } });
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    const basic = await askedBy({ auth: { basic: { username: 'ann', password: '${secret:key}' } } });
    expect(Buffer.from(basic.headers.authorization?.slice(6) ?? '', 'base64').toString()).toBe(`ann:${KEY}`);
    const key = (place: string) => ({ auth: { apiKey: { in: place, name: 'X-Key', value: '${secret:key}' } } });
    expect((await askedBy(key('header'))).headers['x-key']).toBe(KEY);
    expect((await askedBy({ url: '/?a=1', ...key('query') })).url).toBe(`/?a=1&X-Key=${encodeURIComponent(KEY)}`);
    expect((await askedBy({ cookies: { a: 1 }, ...key('cookie') })).headers.cookie).toBe(
      `a=1; X-Key=${encodeURIComponent(KEY)}`,
    );
  });

  it('several at once', async () => {
    const auth = [{ bearer: 'plain' }, { apiKey: { in: 'header', name: 'X-App', value: '${secret:key}' } }];
    expect((await askedBy({ auth })).headers).toMatchObject({ authorization: 'Bearer plain', 'x-app': KEY });
  });

  it('secrets may be anywhere in a text, and an escape is not a secret', async () => {
    const run = {
      method: 'POST',
      url: '/hook/${secret:key}',
      query: { k: '${secret:key}' },
      headers: { 'X-Key': 'k=${secret:key}', 'X-Plain': '$${secret:key}' },
      body: { key: '${secret:key}' },
    };
    const asked = await askedBy(run);
    expect(asked.url).toBe('/hook/hunter2/hunter2%20%3F?k=hunter2%2Fhunter2%20%3F');
    expect(asked.headers).toMatchObject({ 'x-key': `k=${KEY}`, 'x-plain': '${secret:key}' });
    expect(JSON.parse(asked.body)).toEqual({ key: KEY });
  });

  it('a value of a caller is never read as a secret', async () => {
    const { call } = await shopWith({ url: '/{id}', method: 'POST', body: { q: '{q}' } });
    const result = await call({ id: '${secret:key}', q: '${secret:key}' });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

describe('secrets go only to their own hosts', () => {
  it('a secret that is bound to another host is not sent, and the failure reveals nothing', async () => {
    for (const run of [
      { auth: { bearer: '${secret:key}' } },
      { headers: { A: '${secret:key}' } },
      { method: 'POST', body: '${secret:key}' },
    ]) {
      const server = await startServer();
      const { call } = await shopWith(run, server, ['elsewhere.example']);
      const result = await call();
      expect(codeOf(result)).toBe('unavailable');
      expect(JSON.stringify(result)).not.toMatch(/hunter2|elsewhere|secret:/);
      expect(server.requests).toEqual([]);
    }
  });

  it('a missing secret fails only the call', async () => {
    delete process.env.HTTP_AUTH_KEY;
    const { call } = await shopWith({ auth: { bearer: '${secret:key}' } });
    const result = await call();
    expect(codeOf(result)).toBe('unavailable');
    expect(JSON.stringify(result)).not.toContain('HTTP_AUTH_KEY');
  });

  it('credentials are dropped on a redirect to another host, and kept on one to the same', async () => {
    const other = await startServer(echo);
    const run = {
      headers: { 'X-Key': '${secret:key}', 'X-Custom': 'mine', 'Accept-Language': 'de' },
      cookies: { session: '${secret:key}' },
      auth: { bearer: '${secret:key}' },
    };
    const { call, server } = await shopWith(run);
    server.answer((request, response) =>
      request.url === '/' ? void response.writeHead(307, { location: other.url }).end() : echo(request, response),
    );
    const away = await call();
    expect(away).toMatchObject({ data: { headers: { 'accept-language': 'de' } } });
    expect(JSON.stringify(away)).not.toMatch(/hunter2|mine/);
    server.answer((request, response) =>
      request.url === '/' ? void response.writeHead(307, { location: '/there' }).end() : echo(request, response),
    );
    expect(await call()).toMatchObject({
      data: { url: '/there', headers: { authorization: `Bearer ${KEY}`, 'x-key': KEY } },
    });
  });

  it('a body with a secret does not follow a redirect to another host, and one without does', async () => {
    const other = await startServer(echo);
    for (const [body, code] of [
      [{ key: '${secret:key}' }, 'denied'],
      [{ key: 'open' }, 'done'],
    ] as const) {
      const { call, server } = await shopWith({ method: 'POST', body });
      server.answer((_, response) => void response.writeHead(307, { location: other.url }).end());
      expect(codeOf(await call())).toBe(code);
    }
    expect(other.requests).toHaveLength(1);
  });

  it('failures contain no secrets, also if they are cut in two', async () => {
    const { call, server } = await shopWith({ headers: { 'X-Key': '${secret:key}' } });
    for (const padding of [0, 485, 495, 19_990]) {
      server.answer((request, response) => {
        response
          .writeHead(400, { 'content-type': 'text/plain' })
          .end(`${'x'.repeat(padding)}${request.headers['x-key']} is wrong`);
      });
      const result = await call();
      expect(codeOf(result)).toBe('tool_error');
      expect(JSON.stringify(result)).not.toMatch(/hunter2/);
    }
  });
});

describe('OAuth 2 client credentials', () => {
  /** A server that gives out tokens `token-1`, `token-2`, ... and one that takes the newest. */
  async function startTokens(expiresIn: number) {
    const forms: string[] = [];
    const given = { count: 0, accepts: (token: string) => token === `Bearer token-number-${given.count}` };
    const tokens = await startServer(async (request, response) => {
      forms.push(`${request.headers.authorization} ${await bodyOf(request)}`);
      given.count += 1;
      giveJson(response, { access_token: `token-number-${given.count}`, token_type: 'bearer', expires_in: expiresIn });
    });
    const api = await startServer((request, response) =>
      given.accepts(request.headers.authorization ?? '')
        ? giveJson(response, request.headers.authorization)
        : void response.writeHead(401).end(`${request.headers.authorization} is over`),
    );
    const clock = manualClock(0);
    const env = { SECRET: 'client-secret-value' };
    const executor = httpExecutor({
      clock,
      secrets: createSecrets({ s: { env: 'SECRET', hosts: [tokens.host, api.host] } }, { env, folder: '.' }),
      allowPrivate: () => [tokens.host, api.host],
    });
    onTestFinished(() => executor.close?.());
    const credentials = {
      tokenUrl: `http://${tokens.host}/token`,
      clientId: 'me',
      clientSecret: '${secret:s}',
      scope: 'read write',
    };
    const run = { kind: 'http', url: `http://${api.host}/`, auth: { clientCredentials: credentials } };
    return { api, tokens, forms, given, clock, executor, call: async () => executor.execute(testCall({ run }), run) };
  }

  it('a token is fetched once for concurrent calls, cached, and renewed shortly before it expires', async () => {
    const { call, forms, clock } = await startTokens(3600);
    const results = await Promise.all([call(), call(), call()]);
    expect(results.map(codeOf)).toEqual(['done', 'done', 'done']);
    const basic = Buffer.from('me:client-secret-value').toString('base64');
    expect(forms).toEqual([`Basic ${basic} grant_type=client_credentials&scope=read+write`]);
    clock.advance(3_500_000);
    expect(codeOf(await call())).toBe('done');
    expect(forms).toHaveLength(1);
    clock.advance(80_000);
    expect(codeOf(await call())).toBe('done');
    expect(forms).toHaveLength(2);
  });

  it('a refused token is fetched again once, and the failure does not contain it', async () => {
    const { call, given, forms } = await startTokens(3600);
    await call();
    given.accepts = (token) => token === 'Bearer token-number-2';
    expect(await call()).toMatchObject({ data: 'Bearer token-number-2' });
    expect(forms).toHaveLength(2);
    given.accepts = () => false;
    const result = await call();
    expect(codeOf(result)).toBe('upstream');
    expect(JSON.stringify(result)).not.toContain('token-number');
    expect(forms).toHaveLength(3);
  });

  it('a server that issues no token is a failure that contains neither secret nor address', async () => {
    const { call, tokens } = await startTokens(3600);
    for (const body of ['{"error":"invalid_client"}', '{"access_token":5}', 'no json']) {
      tokens.answer((_, response) => void response.writeHead(401).end(body));
      const result = await call();
      expect(codeOf(result)).toBe('upstream');
      expect(JSON.stringify(result)).not.toMatch(/client-secret|127\.0\.0\.1/);
    }
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect %i of the token address is not followed, wherever it leads',
    async (status) => {
      const { call, tokens, api } = await startTokens(3600);
      for (const host of [tokens.host, api.host]) {
        tokens.answer((_, response) => void response.writeHead(status, { location: `http://${host}/elsewhere` }).end());
        expect(codeOf(await call())).not.toBe('done');
      }
      expect(tokens.requests.map(({ url }) => url)).toEqual(['/token', '/token']);
      expect(api.requests).toEqual([]);
    },
  );

  it('a cancelled call does not wait for a token, and closing ends the fetch', async () => {
    const { tokens, api, executor } = await startTokens(3600);
    tokens.answer(() => {});
    const asked = tokens.nextRequest();
    const credentials = { tokenUrl: `http://${tokens.host}/token`, clientId: 'me', clientSecret: 'x' };
    const run = { kind: 'http', url: `http://${api.host}/`, auth: { clientCredentials: credentials } };
    const call = testCall({ run });
    const result = executor.execute(call, run);
    const request = await asked;
    call.abort();
    expect(codeOf(await result)).toBe('cancelled');
    const closed = new Promise((resolve) => request.socket.once('close', resolve));
    await executor.close?.();
    await closed;
    expect(api.requests).toEqual([]);
  });
});
