import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../../src/doors/rest/routes.ts';
import { serve } from './served.ts';

describe('/tools', () => {
  it('lists the tools that the viewer may see, as text and nothing else', async () => {
    const { ask, crib, token } = await serve();
    crib.register({
      name: 'odd',
      description: `<script>alert(1)</script> "'&\u202e <img src=x onerror=alert(1)>`,
      run: () => 1,
    });
    const page = await ask('/tools');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &quot;&#39;&amp;  &lt;img');
    expect(page.text).not.toMatch(/<script|<img|onerror=alert\(1\)>|\u202e/);
    expect(page.text).not.toContain('secret_tool');
    expect((await ask('/tools', { token })).text).toContain('secret_tool');
  });

  it('is where the bare address redirects to', async () => {
    for (const options of [{}, { access: true }]) {
      const { status, headers } = await (await serve(options)).ask('/');
      expect([status, headers.get('location')]).toEqual([302, '/tools']);
    }
  });

  it('cannot be framed, runs no scripts and loads nothing', async () => {
    const { headers } = await (await serve()).ask('/tools');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('signs a browser in with the operator link, and keeps the token out of its history', async () => {
    const { ask, token } = await serve({ access: true });
    expect(await ask('/tools')).toMatchObject({ status: 401 });
    const entered = await ask(`/tools?token=${token}`);
    expect(entered.status).toBe(303);
    expect(entered.headers.get('location')).toBe('/tools');
    const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
    expect(entered.headers.get('set-cookie')).toMatch(/Path=\/; HttpOnly; SameSite=Strict/);
    expect(cookie).not.toContain(token);
    expect((await ask('/tools', { headers: { cookie: `a=b; ${cookie}; c=d` } })).text).toContain('secret_tool');
  });

  it('the cookie of a page ends with the operator token, or the API key, that it was given for', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key, info } = await crib.keys.create({ name: 'root', roles: ['admin'] }, 'test');
    const enter = async (credential: string) =>
      /^([^;]+);/.exec((await ask(`/tools?token=${credential}`)).headers.get('set-cookie') ?? '')?.[1] ?? '';
    const [ofToken, ofKey] = [await enter(token), await enter(key)];
    const look = async (cookie: string) => (await ask('/tools', { headers: { cookie } })).status;
    expect([await look(ofToken), await look(ofKey)]).toEqual([200, 200]);
    await crib.keys.revoke(info.id, 'test');
    expect([await look(ofToken), await look(ofKey)]).toEqual([200, 401]);
    rmSync(crib.operatorTokenFile() ?? '');
    expect([await look(ofToken), await look(ofKey)]).toEqual([401, 401]);
    await crib.operatorToken();
    expect(await look(ofToken), 'another token revives nothing').toBe(401);
  });

  it('signs no browser in with anything else', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    for (const given of ['x', key, `${token}x`]) expect((await ask(`/tools?token=${given}`)).status).toBe(401);
    for (const cookie of ['toolcrib_session=', 'toolcrib_session=x', `toolcrib_session=${token}`, '__proto__=1'])
      expect((await ask('/tools', { headers: { cookie } })).status).toBe(401);
    const [, cookie = ''] =
      /^([^;]+);/.exec((await ask(`/tools?token=${token}`)).headers.get('set-cookie') ?? '') ?? [];
    expect((await ask('/api/tools', { headers: { cookie } })).status, 'a page is all that it opens').toBe(401);
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
      expect.objectContaining({ name: 'q', in: 'query', required: true }),
    );
    expect(json.paths['/api/keys'].post.security).toEqual([{ bearer: [] }]);
    expect(JSON.stringify(json)).not.toContain('"$ref":"#/components/schemas/Missing');
  });
});
