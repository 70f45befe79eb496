import { describe, expect, it } from 'vitest';
import { createRestApp } from '../../../src/doors/rest/create-rest-app.ts';
import { type Ask, askThrough, serve } from './served.ts';

/** What a browser sends with a request of a script of our own page. */
const OURS = { 'x-toolcrib-console': '1', 'sec-fetch-site': 'same-origin' };
const cookieIn = (headers: Headers) => /^([^;]+);/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';

async function signIn(ask: Ask, credential: string) {
  const heard = await ask('/api/session', { body: { credential }, headers: OURS });
  return { ...heard, cookie: cookieIn(heard.headers) };
}

describe('a session', () => {
  it('begins with a credential, opens /api, and ends when the browser signs out', async () => {
    const { ask, token } = await serve({ access: true });
    const { status, json, headers, cookie } = await signIn(ask, token);
    expect(status).toBe(200);
    expect(json).toMatchObject({ signedIn: true, role: 'operator', caller: { id: 'operator' } });
    expect(json.pages).toEqual(['tools', 'approvals', 'calls', 'sources']);
    expect(Date.parse(json.endsAt)).toBeGreaterThan(Date.now());
    expect(headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(token);
    const own = { ...OURS, cookie: `a=b; ${cookie}; c=d` };
    expect((await ask('/api/sources', { headers: own })).status).toBe(200);
    const left = await ask('/api/session', { method: 'DELETE', headers: own });
    expect([left.status, left.json.signedIn, left.headers.get('set-cookie')]).toEqual([
      200,
      false,
      expect.stringContaining('Max-Age=0'),
    ]);
    expect(await ask('/api/sources', { headers: own })).toMatchObject({
      status: 401,
      json: { error: { code: 'unauthenticated', message: 'The session has ended. Sign in again.' } },
    });
  });

  it('opens /api only with proof that a script of our own page asks', async () => {
    const { ask, token } = await serve();
    const { cookie } = await signIn(ask, token);
    const status = async (headers: Record<string, string>) =>
      (await ask('/api/sources', { headers: { cookie, ...headers } })).status;
    expect(await status(OURS)).toBe(200);
    expect(await status({ 'x-toolcrib-console': '1', origin: 'http://127.0.0.1' })).toBe(200);
    expect(await status({})).toBe(401);
    expect(await status({ 'x-toolcrib-console': '1' })).toBe(401);
    expect(await status({ 'sec-fetch-site': 'same-origin' })).toBe(401);
    expect(await status({ ...OURS, 'sec-fetch-site': 'none' })).toBe(401);
    expect(await status({ ...OURS, 'x-toolcrib-console': 'yes' })).toBe(401);
    for (const origin of ['http://127.0.0.1:1', 'https://example.com', 'null', 'file://'])
      expect(await status({ ...OURS, origin }), origin).toBe(403);
  });

  it('never opens /mcp, and nothing else outside /api', async () => {
    const { crib, token } = await serve({ access: true });
    const seen: unknown[] = [];
    const mcp = {
      fetch: async (_: Request, identity: { readonly ok: boolean }) => {
        seen.push(identity.ok);
        return { status: 200, text: '{}' };
      },
    };
    const ask = askThrough(createRestApp(crib, { mcp }).fetch);
    const { cookie } = await signIn(ask, token);
    await ask('/mcp', { body: {}, headers: { ...OURS, cookie } });
    await ask('/mcp/usual', { body: {}, headers: { ...OURS, cookie } });
    expect(seen).toEqual([false, false]);
    for (const path of ['/openapi.json', '/metrics'])
      expect((await ask(path, { headers: { ...OURS, cookie } })).status).toBe(401);
  });

  it('can only begin and end from our own page, and only with a credential', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const body = { credential: token };
    for (const headers of [{}, { 'x-toolcrib-console': '1' }, { origin: 'http://127.0.0.1' }]) {
      expect((await ask('/api/session', { body, headers })).status).toBe(403);
      expect((await ask('/api/session', { method: 'DELETE', headers })).status).toBe(403);
    }
    for (const credential of [`${token}x`, 'tck_x', ' ', 'Bearer ', 'a.b.c'])
      expect((await signIn(ask, credential)).status, credential).toBe(401);
    expect((await ask('/api/session', { body: { credential: 5 }, headers: OURS })).status).toBe(400);
    expect((await ask('/api/session', { body: {}, headers: OURS })).status).toBe(400);
    expect((await signIn((await serve()).ask, ' ')).status, 'the local caller has nothing to sign in with').toBe(401);
    expect(crib).toBeDefined();
  });

  it('ends with its key', async () => {
    const { ask, crib } = await serve({ access: true });
    const { key, info } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const { json, cookie } = await signIn(ask, key);
    expect(json).toMatchObject({ role: 'caller', caller: { id: 'key:ci', roles: ['dev'] }, profiles: ['usual'] });
    expect(json.pages).toEqual(['tools', 'approvals', 'calls']);
    const look = () => ask('/api/tools', { headers: { ...OURS, cookie } });
    expect((await look()).status).toBe(200);
    expect((await ask('/api/sources', { headers: { ...OURS, cookie } })).status).toBe(403);
    await crib.keys.revoke(info.id, 'test');
    expect((await look()).status).toBe(401);
    const after = await ask('/api/session', { headers: { ...OURS, cookie } });
    expect([after.json.signedIn, after.json.role, after.headers.get('set-cookie')]).toEqual([
      false,
      'none',
      expect.stringContaining('Max-Age=0'),
    ]);
  });

  it('does not turn into the local caller when it ends', async () => {
    const { ask, token } = await serve();
    const { cookie } = await signIn(ask, token);
    await ask('/api/session', { method: 'DELETE', headers: { ...OURS, cookie } });
    const call = await ask('/api/tools/execute/add', {
      body: { arguments: { a: 1, b: 2 } },
      headers: { ...OURS, cookie },
    });
    expect(call.status).toBe(401);
    expect((await ask('/api/session')).json).toMatchObject({
      signedIn: false,
      role: 'caller',
      caller: { id: 'local' },
    });
  });

  it('of a caller that opens no profile shows approvals alone', async () => {
    const { ask, crib } = await serve({ access: true, config: '' });
    const { key } = await crib.keys.create({ name: 'lead', roles: ['lead'] }, 'test');
    const { json, cookie } = await signIn(ask, key);
    expect(json).toMatchObject({ role: 'approver', profiles: [], pages: ['approvals'] });
    const headers = { ...OURS, cookie };
    expect((await ask('/api/approvals', { headers })).status).toBe(200);
    expect((await ask('/api/tools', { headers })).status).toBe(404);
  });

  it('is bounded in time and number, each credential by itself', async () => {
    let at = 1_000_000;
    const sessions = { now: () => at, longestMs: 1000, mostEach: 2, most: 3 };
    const { ask, crib, token } = await serve({ access: true, sessions });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const status = async (cookie: string) => (await ask('/api/tools', { headers: { ...OURS, cookie } })).status;
    const first = await signIn(ask, token);
    const keys = [await signIn(ask, key), await signIn(ask, key), await signIn(ask, key)];
    expect(await Promise.all([first, ...keys].map(({ cookie }) => status(cookie)))).toEqual([200, 401, 200, 200]);
    const second = await signIn(ask, token);
    expect([await status(first.cookie), await status(second.cookie)], 'the oldest of all').toEqual([401, 200]);
    expect(second.json.endsAt).toBe(new Date(at + 1000).toISOString());
    at += 1000;
    expect(await status(second.cookie)).toBe(401);
  });

  it('of one caller ends no session of others, however many credentials the caller has', async () => {
    const { ask, crib, token } = await serve({ access: true, sessions: { mostEach: 2, most: 4 } });
    const operator = await signIn(ask, token);
    const keys = await Promise.all(
      Array.from({ length: 6 }, () => crib.keys.create({ name: 'ci', caller: 'ci', roles: ['dev'] }, 'test')),
    );
    for (const { key } of keys) expect((await signIn(ask, key)).status).toBe(200);
    expect((await ask('/api/sources', { headers: { ...OURS, cookie: operator.cookie } })).status).toBe(200);
  });

  it('does not count beside another one: a neighbouring server may have added its cookie', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const [own, added] = [(await signIn(ask, token)).cookie, (await signIn(ask, key)).cookie];
    for (const cookie of [`${own}; ${added}`, `${added}; ${own}`])
      expect(await ask('/api/tools', { headers: { ...OURS, cookie } })).toMatchObject({
        status: 401,
        json: { error: { message: expect.stringContaining('several sessions') } },
      });
    expect((await ask('/api/tools', { headers: { ...OURS, cookie: `${own}; ${own}` } })).status).toBe(200);
  });

  it('begins with the operator link as well', async () => {
    const { ask, token } = await serve({ access: true });
    const entered = await ask(`/tools?token=${token}`);
    expect(entered.status).toBe(303);
    const headers = { ...OURS, cookie: cookieIn(entered.headers) };
    expect((await ask('/api/session', { headers })).json.role).toBe('operator');
  });

  it('has a cookie of its own for each port, and a secure one behind https', async () => {
    const { app, token } = await serve();
    const at = (host: string) => (path: string, origin: string) =>
      app.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method: 'POST',
          headers: { 'x-toolcrib-console': '1', origin, host, 'content-type': 'application/json' },
          body: JSON.stringify({ credential: token }),
        }),
      );
    const plain = await at('127.0.0.1:2742')('/api/session', 'http://127.0.0.1:2742');
    expect(plain.headers.get('set-cookie')).toMatch(/^toolcrib_session_2742=/);
    expect(plain.headers.get('set-cookie')).not.toContain('Secure');
    const secure = await at('127.0.0.1:2742')('/api/session', 'https://127.0.0.1:2742');
    expect(secure.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('tells which ways of signing in there are', async () => {
    const kinds = ({ methods }: { methods: { kind: string }[] }) => methods.map(({ kind }) => kind);
    expect(kinds((await (await serve()).ask('/api/session')).json)).toEqual(['token']);
    const { json } = await (await serve({ access: true })).ask('/api/session');
    expect([json.role, kinds(json)]).toEqual(['none', ['token', 'key']]);
  });
});
