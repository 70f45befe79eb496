import { readFileSync, rmSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { referencePage } from '../../../src/doors/rest/reference-page.ts';
import { ROUTES } from '../../../src/doors/rest/routes.ts';
import { consoleTypes, TYPES_FILE } from '../../../ui/emit-types.ts';
import { folderWith } from '../../crib/workshop.ts';
import { serve } from './served.ts';

const PAGES = ['/tools', '/tools/add', '/approvals', '/approvals/x', '/calls', '/calls/x', '/sources', '/sources/x'];

describe('the console', () => {
  it('is the same page at each of its addresses, with any query, for every caller, and has no data', async () => {
    const { ask } = await serve({ access: true });
    for (const path of [...PAGES, '/tools?q=a&state=down&state=ok', '/tools/a%2Fb', '/calls?__proto__=1']) {
      const { status, headers, text } = await ask(path);
      expect([status, headers.get('content-type')], path).toEqual([200, 'text/html; charset=utf-8']);
      expect(text.replace(/content="[^"]+"/, ''), path).toBe(
        '<!doctype html><meta name="csp-nonce" ><script src="/assets/index-B6TPcifr.js"></script>',
      );
    }
  });

  it('is where the bare address redirects to', async () => {
    for (const options of [{}, { access: true }]) {
      const { status, headers } = await (await serve(options)).ask('/');
      expect([status, headers.get('location')]).toEqual([302, '/tools']);
    }
  });

  it('cannot be framed, and runs scripts and styles of this server alone; each response has another nonce', async () => {
    const { ask } = await serve();
    const policies = await Promise.all(
      PAGES.map(async (path) => {
        const { headers, text } = await ask(path);
        const policy = headers.get('content-security-policy') ?? '';
        const [, nonce = ''] = /content="([^"]+)"/.exec(text) ?? [];
        expect(nonce.length).toBeGreaterThan(20);
        expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
        expect(policy).toMatch(/^default-src 'none'; script-src 'self';.*frame-ancestors 'none'; base-uri 'none'$/);
        expect(policy).not.toMatch(/unsafe|\*|https?:/);
        expect(headers.get('cache-control')).toBe('no-store');
        expect(headers.get('x-frame-options')).toBe('DENY');
        expect(headers.get('referrer-policy')).toBe('no-referrer');
        expect(headers.get('x-content-type-options')).toBe('nosniff');
        return policy;
      }),
    );
    expect(new Set(policies).size).toBe(PAGES.length);
  });

  it('files with a hash in their name are kept for good, others are asked for again', async () => {
    const { ask } = await serve();
    const hashed = await ask('/assets/index-B6TPcifr.js');
    expect(hashed).toMatchObject({ status: 200, text: 'export const page = 1;' });
    expect(hashed.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const icon = await ask('/assets/icon.svg');
    expect(icon.headers.get('cache-control')).toBe('no-cache');
    expect(icon.headers.get('content-security-policy')).toContain("default-src 'none'");
    const again = { headers: { 'if-none-match': icon.headers.get('etag') ?? '' } };
    expect(await ask('/assets/icon.svg', again)).toMatchObject({ status: 304, text: '' });
    expect((await ask('/assets/icon.svg', { method: 'HEAD' })).text).toBe('');
    for (const { headers } of [hashed, icon]) expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('files are compressed for a browser that asks for it', async () => {
    const { app } = await serve();
    const headers = { 'accept-encoding': 'gzip, br' };
    const response = await app.fetch(new Request('http://127.0.0.1/assets/index-B6TPcifr.js', { headers }));
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(await response.bytes()).toString()).toBe('export const page = 1;');
  });

  it('no path leads out of the folder of the files', async () => {
    const { ask } = await serve();
    for (const name of [
      '../secret.js',
      '..%2fsecret.js',
      '%2e%2e%2fsecret.js',
      '..%5csecret.js',
      '....//secret.js',
      '%2fetc%2fpasswd',
      'index-B6TPcifr.js%00.svg',
      'icon.svg/',
      '.',
      '%2e',
      'notes.exe',
      'nothing.js',
      `${'a'.repeat(5000)}.js`,
      '%ff.js',
    ])
      expect(await ask(`/assets/${name}`), name).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
  });

  it('without a build, the page says what to do', async () => {
    const { ask } = await serve({ consoleFolder: folderWith({ 'other.txt': '' }) });
    const { status, text, headers } = await ask('/tools');
    expect(status).toBe(503);
    expect(text).toContain('<code>npm run build</code>');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect((await ask('/assets/icon.svg')).status).toBe(404);
  });
});

/** Headers of a request that a script of our page sends. */
const FROM_PAGE = { 'sec-fetch-site': 'same-origin', 'x-toolcrib-console': '1' };

describe('the types of REST in the console', () => {
  it('are those of the routes: run npm run schema', async () => {
    expect(readFileSync(TYPES_FILE, 'utf8')).toBe(await consoleTypes());
  });
});

describe('/tools?token=', () => {
  it('signs a browser in, and keeps the token out of its history', async () => {
    const { ask, token } = await serve({ access: true });
    const entered = await ask(`/tools?token=${token}`);
    expect(entered.status).toBe(303);
    expect(entered.headers.get('location')).toBe('/tools');
    const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
    expect(entered.headers.get('set-cookie')).toMatch(/Path=\/; HttpOnly; SameSite=Strict/);
    expect(cookie).not.toContain(token);
    const heard = await ask('/api/tools', { headers: { ...FROM_PAGE, cookie: `a=b; ${cookie}; c=d` } });
    expect(heard.text).toContain('secret_tool');
  });

  it('the session ends with the operator token, or the API key, that it was given for', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key, info } = await crib.keys.create({ name: 'root', roles: ['admin'] }, 'test');
    const enter = async (credential: string) =>
      /^([^;]+);/.exec((await ask(`/tools?token=${credential}`)).headers.get('set-cookie') ?? '')?.[1] ?? '';
    const [ofToken, ofKey] = [await enter(token), await enter(key)];
    const look = async (cookie: string) => (await ask('/api/tools', { headers: { ...FROM_PAGE, cookie } })).status;
    expect([await look(ofToken), await look(ofKey)]).toEqual([200, 200]);
    await crib.keys.revoke(info.id, 'test');
    expect([await look(ofToken), await look(ofKey)]).toEqual([200, 401]);
    rmSync(crib.operatorTokenFile() ?? '');
    expect([await look(ofToken), await look(ofKey)]).toEqual([401, 401]);
    await crib.operatorToken();
    expect(await look(ofToken), 'another token revives nothing').toBe(401);
  });

  it('signs no browser in from a page of another origin, with any operator credential', async () => {
    const { ask, crib, token } = await serve({ access: true, config: 'server: { cors: ["https://app.example.com"] }' });
    const { key } = await crib.keys.create({ name: 'root', roles: ['admin'] }, 'test');
    const navigate = { 'sec-fetch-mode': 'navigate' };
    const foreign: Record<string, string>[] = [
      { ...navigate, 'sec-fetch-site': 'cross-site' },
      { ...navigate, 'sec-fetch-site': 'same-site' },
      { ...navigate, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' },
      { ...navigate, 'sec-fetch-site': 'something new' },
      { origin: 'https://app.example.com' },
    ];
    for (const headers of foreign)
      for (const credential of [key, token]) {
        const refused = await ask(`/tools?token=${credential}`, { headers });
        const said = [refused.status, refused.headers.get('location'), refused.headers.get('set-cookie')];
        expect(said, JSON.stringify(headers)).toEqual([303, '/tools?signin=failed', null]);
      }
    for (const site of ['none', 'same-origin']) {
      const entered = await ask(`/tools?token=${token}`, { headers: { ...navigate, 'sec-fetch-site': site } });
      expect(entered.headers.get('set-cookie'), site).toContain('toolcrib_session');
    }
  });

  it('signs no browser in with anything else', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    for (const query of ['token=x', `token=${key}`, `token=${token}x`, 'token=', `token=${token}&token=${token}`]) {
      const { status, headers } = await ask(`/tools?${query}`);
      expect([status, headers.get('location')], query).toEqual([303, '/tools?signin=failed']);
      expect(headers.get('set-cookie')).toBeNull();
    }
    for (const cookie of ['toolcrib_session=', 'toolcrib_session=x', `toolcrib_session=${token}`, '__proto__=1'])
      expect((await ask('/api/tools', { headers: { ...FROM_PAGE, cookie } })).status).toBe(401);
  });
});

describe('/openapi.json', () => {
  it('describes every available route, as in the table', async () => {
    const { ask } = await serve();
    const { json } = await ask('/openapi.json');
    expect(json.openapi).toBe('3.1.0');
    const told = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const there = ROUTES.filter(({ group }) => group !== 'later').map(({ method, path }) => `${method} ${path}`);
    expect(told.toSorted()).toEqual(there.toSorted());
    const ids = Object.values(json.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
      (methods) => Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('describes the parameters of each, and every part of a path', async () => {
    const { json } = await (await serve()).ask('/openapi.json');
    expect(json.paths['/api/tools/execute/{name}'].post).toMatchObject({
      parameters: [{ name: 'name', in: 'path', required: true }],
      requestBody: { content: { 'application/json': { schema: { type: 'object', additionalProperties: false } } } },
      responses: { 200: {}, 202: {}, 401: {}, 404: {}, 429: {} },
    });
    expect(json.paths['/api/search'].get.parameters).toContainEqual(
      expect.objectContaining({ name: 'q', in: 'query', required: false }),
    );
    expect(json.paths['/api/keys'].delete.parameters).toContainEqual(
      expect.objectContaining({ name: 'id', in: 'query', required: true }),
    );
    expect(json.paths['/api/keys'].post.security).toEqual([{ bearer: [] }]);
    expect(JSON.stringify(json)).not.toContain('"$ref":"#/components/schemas/Missing');
  });
});

describe('/docs', () => {
  it('has every available route, without scripts and outside assets', async () => {
    const { ask } = await serve({ access: true });
    const { status, text, headers } = await ask('/docs');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(text).not.toMatch(/<(script|img|link|iframe)|<[^>]*\s(src|style|on\w+)=|href="(?![#/])/i);
    for (const { method, path, group } of ROUTES) if (group !== 'later') expect(text).toContain(`${method} ${path}`);
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, href = ''] of text.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(href);
  });
});

it('/docs is made once, and each response is whole', async () => {
  let made = 0;
  const { run } = referencePage(() => {
    made++;
    return ROUTES;
  });
  const answers = [await run({} as never), await run({} as never)];
  const [first, second] = await Promise.all(answers.map((answer) => (answer as Response).text()));
  expect([made, first]).toEqual([1, second]);
  expect(first).toContain('GET /docs');
});

describe('/openapi/{profile}.json', () => {
  it('has the tools of the profile as operations that can be called as described', async () => {
    const { ask } = await serve();
    const { json } = await ask('/openapi/usual.json');
    const paths = Object.keys(json.paths);
    expect(paths).toContain('/api/tools/execute/add');
    expect(paths).not.toContain('/api/tools/execute/secret_tool');
    const operation = json.paths['/api/tools/execute/add'].post;
    expect(operation).toMatchObject({ operationId: 'add', 'x-toolcrib-danger': 'read' });
    const { properties } = operation.requestBody.content['application/json'].schema;
    expect(properties.arguments).toMatchObject({ required: ['a', 'b'] });
    const body = { arguments: { a: 1, b: 2 }, profile: properties.profile.const };
    expect((await ask('/api/tools/execute/add', { body })).json.data).toBe(3);
    expect(JSON.stringify(json.components.schemas)).not.toContain('Missing');
  });

  it('is for callers that may use the profile', async () => {
    const { ask, crib } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    expect((await ask('/openapi/usual.json', { token: key })).status).toBe(200);
    for (const file of ['other.json', 'nothing.json', 'usual', 'usual.yaml', '.json'])
      expect((await ask(`/openapi/${file}`, { token: key })).status, file).toBe(404);
    expect((await ask('/openapi/usual.json')).status).toBe(401);
  });
});
