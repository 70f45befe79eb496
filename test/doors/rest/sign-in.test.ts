import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { folderWith, write } from '../../crib/workshop.ts';
import { type Issuer, makeKey, startIssuer } from '../../identity/issuer.ts';
import { type Served, serve } from './served.ts';

const OURS = { 'x-toolcrib-console': '1', 'sec-fetch-site': 'same-origin' };

interface Provider {
  readonly issuer: Issuer;
  /** The forms that the token endpoint got. */
  readonly forms: URLSearchParams[];
  readonly authorizations: (string | undefined)[];
  /** Changes the next answer of the token endpoint. */
  answer: (claims: { nonce: string }) => Promise<object>;
  /** Signs a user in as a browser would, and returns the address that the browser is sent back to. */
  authorize(url: string, how?: { nonce?: string }): URL;
}

/** A provider that keeps to the rules of the code flow: a code counts once, with its verifier and address. */
async function startProvider(): Promise<Provider> {
  const issuer = await startIssuer();
  const codes = new Map<string, { nonce: string; challenge: string; redirect: string }>();
  issuer.discovery = {
    ...(issuer.discovery as object),
    authorization_endpoint: `${issuer.url}/authorize?tenant=1`,
    token_endpoint: `${issuer.url}/token`,
  };
  const provider: Provider = {
    issuer,
    forms: [],
    authorizations: [],
    answer: async ({ nonce }) => ({
      token_type: 'Bearer',
      access_token: 'opaque',
      id_token: await issuer.sign({ nonce, sub: 'ann', roles: ['admin'] }),
    }),
    authorize(url, { nonce } = {}) {
      const { searchParams } = new URL(url);
      const asked = Object.fromEntries(searchParams);
      const code = `code-${codes.size}`;
      const redirect = asked.redirect_uri ?? '';
      codes.set(code, { nonce: nonce ?? asked.nonce ?? '', challenge: asked.code_challenge ?? '', redirect });
      const back = new URL(redirect);
      for (const [name, value] of Object.entries({ code, state: asked.state ?? '', iss: issuer.url, hd: 'x' }))
        back.searchParams.set(name, value);
      return back;
    },
  };
  issuer.server.answer((request, response) => {
    const say = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/keys') return say(200, issuer.jwks);
    if (request.url !== '/token') return say(200, issuer.discovery);
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', async () => {
      const form = new URLSearchParams(text);
      provider.forms.push(form);
      provider.authorizations.push(request.headers.authorization);
      const known = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isRight = known?.challenge === challenge && known.redirect === form.get('redirect_uri');
      return isRight ? say(200, await provider.answer(known)) : say(400, { error: 'invalid_grant' });
    });
    return undefined;
  });
  return provider;
}

function configOf(provider: Provider, more = '', signIn = 'clientId: toolcrib'): string {
  return `
profiles: { usual: {} }
access:
  jwt: { issuer: "${provider.issuer.url}", audience: toolcrib, signIn: { ${signIn} } }
  roles: { admin: { operator: true }, dev: { profiles: [usual] } }
${more}`;
}

async function serveWith(provider: Provider, more?: string, signIn?: string): Promise<Served> {
  const folder = folderWith({ 'toolcrib.yaml': configOf(provider, more, signIn) });
  return serve({ folder, hosts: ['tools.example.com'] });
}

const cookieIn = (headers: Headers) => /^([^;]+);/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';

async function begin({ ask }: Served, to = '/tools') {
  const { status, headers } = await ask(`/api/session/issuer?to=${encodeURIComponent(to)}`);
  return { status, url: headers.get('location') ?? '', cookie: cookieIn(headers), headers };
}

async function comeBack({ ask }: Served, back: URL, cookie: string) {
  const headers = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const heard = await ask(`${back.pathname}${back.search}`, { headers });
  return { ...heard, session: cookieIn(heard.headers) };
}

describe('sign-in at the issuer', () => {
  it('leads to a session with the roles of the claims', async () => {
    const provider = await startProvider();
    const served = await serveWith(provider);
    const { json } = await served.ask('/api/session');
    expect(json.methods.map(({ kind }: { kind: string }) => kind)).toEqual(['token', 'issuer', 'jwt']);
    const { status, url, cookie, headers } = await begin(served, '/tools/add?x=1');
    expect(status).toBe(302);
    expect(headers.get('set-cookie')).toMatch(/; Path=\/api\/session; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({
      tenant: '1',
      response_type: 'code',
      client_id: 'toolcrib',
      redirect_uri: 'http://127.0.0.1/api/session/callback',
      scope: 'openid profile',
      code_challenge_method: 'S256',
    });
    const ended = await comeBack(served, provider.authorize(url), cookie);
    expect([ended.status, ended.text]).toEqual([200, expect.stringContaining('url=/tools/add?x=1')]);
    expect(ended.headers.get('set-cookie')).toMatch(/SameSite=Strict/);
    const own = { headers: { ...OURS, cookie: ended.session } };
    expect((await served.ask('/api/session', own)).json).toMatchObject({ role: 'operator', caller: { id: 'ann' } });
    expect((await served.ask('/api/sources', own)).status).toBe(200);
    expect(provider.forms[0]?.get('client_id')).toBe('toolcrib');
    expect(url).not.toContain(provider.forms[0]?.get('code_verifier'));
  });

  it('takes the access token if it is a JWT that the server accepts', async () => {
    const provider = await startProvider();
    const served = await serveWith(provider, '', 'clientId: browser-client, scopes: [groups]');
    provider.answer = async ({ nonce }) => ({
      access_token: await provider.issuer.sign({ sub: 'bob', roles: ['dev'] }),
      id_token: await provider.issuer.sign({ nonce, aud: 'browser-client', sub: 'bob' }),
    });
    const { url, cookie } = await begin(served);
    expect(new URL(url).searchParams.get('scope')).toBe('openid groups');
    const { session } = await comeBack(served, provider.authorize(url), cookie);
    const { json } = await served.ask('/api/session', { headers: { ...OURS, cookie: session } });
    expect(json).toMatchObject({ role: 'caller', caller: { id: 'bob', roles: ['dev'] }, profiles: ['usual'] });
  });

  it('is bound to the browser that began it, counts once, and expires', async () => {
    const provider = await startProvider();
    const served = await serveWith(provider);
    const { url, cookie } = await begin(served);
    const back = provider.authorize(url);
    const other = await begin(served);
    for (const wrong of ['', 'toolcrib_sign_in=x', other.cookie])
      expect((await comeBack(served, back, wrong)).status, wrong).toBe(401);
    const forged = new URL(back);
    forged.searchParams.set('state', 'x');
    expect((await comeBack(served, forged, cookie)).status).toBe(401);
    expect((await comeBack(served, back, cookie)).status).toBe(200);
    expect((await comeBack(served, back, cookie)).status, 'a second time').toBe(401);
  });

  it('is not lost if other clients begin thousands, and asks the issuer once for all of them', async () => {
    const provider = await startProvider();
    const served = await serveWith(provider);
    const { url, cookie } = await begin(served);
    for (let count = 0; count < 1200; count++) await begin(served);
    expect(provider.issuer.server.requests.filter(({ url: at }) => at?.includes('.well-known')).length).toBeLessThan(5);
    expect((await comeBack(served, provider.authorize(url), cookie)).status).toBe(200);
  });

  it('sets cookies for https alone behind a proxy that ends TLS', async () => {
    const provider = await startProvider();
    const served = await serveWith(
      provider,
      'server: { publicUrl: "HTTPS://tools.example.com", hosts: tools.example.com }',
    );
    const host = { host: 'tools.example.com' };
    const { headers } = await served.ask('/api/session/issuer', { headers: host });
    expect(headers.get('set-cookie')).toMatch(/; Secure$/);
    const back = provider.authorize(headers.get('location') ?? '');
    const ended = await served.ask(`${back.pathname}${back.search}`, {
      headers: { ...host, cookie: cookieIn(headers) },
    });
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/; Secure$/)]);
    const linked = await served.ask(`/tools?token=${served.token}`, { headers: host });
    expect(linked.headers.get('set-cookie')).toMatch(/; Secure$/);
    const plain = await served.ask(`/tools?token=${served.token}`);
    expect(plain.headers.get('set-cookie'), 'this machine without the proxy').not.toContain('Secure');
  });

  it('refuses a token of another sign-in, another client, another key, and a code of another verifier', async () => {
    const provider = await startProvider();
    const served = await serveWith(provider);
    const tryOut = async (answer: Provider['answer'], nonce?: string) => {
      provider.answer = answer;
      const { url, cookie } = await begin(served);
      const { status, session } = await comeBack(
        served,
        provider.authorize(url, nonce === undefined ? {} : { nonce }),
        cookie,
      );
      return [status, session];
    };
    const { issuer, answer: usual } = provider;
    const stranger = await makeKey('stranger');
    expect(await tryOut(usual, 'another-nonce')).toEqual([401, '']);
    expect(await tryOut(async () => ({ id_token: await issuer.sign({}) }))).toEqual([401, '']);
    expect(await tryOut(async ({ nonce }) => ({ id_token: await issuer.sign({ nonce, aud: 'other' }) }))).toEqual([
      401,
      '',
    ]);
    expect(await tryOut(async ({ nonce }) => ({ id_token: await issuer.sign({ nonce }, { key: stranger }) }))).toEqual([
      401,
      '',
    ]);
    expect(await tryOut(async ({ nonce }) => ({ id_token: await issuer.sign({ nonce, exp: 1 }) }))).toEqual([401, '']);
    expect(await tryOut(async () => ({ access_token: await issuer.sign({}) }))).toEqual([401, '']);
    const { url, cookie } = await begin(served);
    const changed = new URL(url);
    changed.searchParams.set('code_challenge', 'x');
    expect((await comeBack(served, provider.authorize(changed.href), cookie)).status).toBe(401);
    const mixed = await begin(served);
    const back = provider.authorize(mixed.url);
    back.searchParams.set('iss', 'https://other.test');
    expect((await comeBack(served, back, mixed.cookie)).status).toBe(401);
    const denied = await begin(served);
    const refusal = provider.authorize(denied.url);
    refusal.searchParams.delete('code');
    refusal.searchParams.set('error', 'access_denied');
    expect((await comeBack(served, refusal, denied.cookie)).text).toContain('The issuer denied access.');
  });

  it('sends the code to no issuer but the one that the sign-in began at', async () => {
    const [provider, other] = [await startProvider(), await startProvider()];
    const folder = folderWith({ 'toolcrib.yaml': configOf(provider) });
    const served = await serve({ folder });
    const { url, cookie } = await begin(served);
    write(folder, { 'toolcrib.yaml': configOf(other) });
    await served.crib.reload();
    const back = provider.authorize(url);
    back.searchParams.delete('iss');
    expect((await comeBack(served, back, cookie)).status).toBe(401);
    expect([...provider.forms, ...other.forms]).toEqual([]);
  });

  it('returns to pages of this server only', async () => {
    const provider = await startProvider();
    const served = await serveWith(provider);
    for (const to of [
      'https://evil.test/',
      '//evil.test',
      '/\\evil.test',
      'javascript:alert(1)',
      '/..//evil.test',
      'x',
    ]) {
      const { url, cookie } = await begin(served, to);
      expect((await comeBack(served, provider.authorize(url), cookie)).text, to).toContain('0;url=/tools"');
    }
    const { url, cookie } = await begin(served, '/tools?q="><script>');
    expect((await comeBack(served, provider.authorize(url), cookie)).text).not.toContain('<script>');
  });

  it('sends the secret of the client to its host, and the public address as redirect', async () => {
    const provider = await startProvider();
    process.env.SIGN_IN_SECRET = 'client-secret-value';
    const host = new URL(provider.issuer.url).host;
    const more = `secrets: { idp: { env: SIGN_IN_SECRET, hosts: ["${host}"] } }\nserver: { publicUrl: "https://tools.example.com" }`;
    const served = await serveWith(provider, more, 'clientId: toolcrib, secret: idp');
    const { url, cookie } = await begin(served);
    expect(new URL(url).searchParams.get('redirect_uri')).toBe('https://tools.example.com/api/session/callback');
    const back = provider.authorize(url);
    expect((await comeBack(served, back, cookie)).status).toBe(200);
    const sent = Buffer.from(provider.authorizations[0]?.replace('Basic ', '') ?? '', 'base64').toString();
    expect(sent).toBe('toolcrib:client-secret-value');
  });

  it('is not there without a configuration, and says so while the issuer is down', async () => {
    expect((await begin(await serve({ access: true }))).status).toBe(404);
    const provider = await startProvider();
    provider.issuer.discovery = { issuer: provider.issuer.url };
    expect((await begin(await serveWith(provider))).status).toBe(503);
  });
});
