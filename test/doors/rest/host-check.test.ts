import { describe, expect, it } from 'vitest';
import { serve } from './served.ts';

describe('the names of the server', () => {
  it.each([
    ['localhost'],
    ['localhost:2742'],
    ['LOCALHOST:1'],
    ['127.0.0.1'],
    ['127.0.0.1:2742'],
    ['127.9.9.9'],
    ['[::1]:2742'],
    ['tools.example.com'],
    ['tools.example.com.:443'],
  ])('%s is accepted', async (host) => {
    const { ask } = await serve({ hosts: ['tools.example.com'] });
    expect((await ask('/healthz', { headers: { host } })).status).toBe(200);
  });

  it.each([
    ['evil.example'],
    ['evil.example:2742'],
    ['localhost.evil.example'],
    ['127.0.0.1.evil.example'],
    ['127.0.0.1@evil.example'],
    ['tools.example.com.evil.example'],
    ['192.168.1.7'],
    ['0x7f000001.evil.example'],
    ['[::2]'],
    [''],
    ['a b'],
    ['localhost/x'],
    ['localhost#x'],
    ['[::1'],
  ])('"%s" is refused, on any route (DNS rebinding)', async (host) => {
    const { ask, token } = await serve({ hosts: ['tools.example.com'] });
    for (const path of ['/healthz', '/api/tools', '/tools', '/openapi.json', '/nothing', '/mcp']) {
      const heard = await ask(path, { token, headers: { host } });
      expect(heard, path).toMatchObject({ status: 403, json: { ok: false, error: { code: 'denied' } } });
    }
  });

  it('an address of this machine is accepted if the server listens on all of them', async () => {
    const { ask, token } = await serve({ host: '0.0.0.0' });
    expect((await ask('/api/tools', { token, headers: { host: '192.168.1.7:2742' } })).status).toBe(200);
    expect((await ask('/api/tools', { token, headers: { host: 'evil.example' } })).status).toBe(403);
  });

  it('the name in an absolute address counts like the header', async () => {
    const { app } = await serve();
    const request = new Request('http://evil.example/healthz', { headers: { host: 'localhost' } });
    expect((await app.fetch(request)).status).toBe(403);
  });
});

it('an accepted name makes no other name valid, however many come', async () => {
  const { app } = await serve({ hosts: ['tools.example.com'] });
  const statusOf = async (url: string, host?: string) =>
    (await app.fetch(new Request(`http://${url}/healthz`, { headers: host === undefined ? {} : { host } }))).status;
  for (let time = 0; time < 2; time++) {
    for (let last = 1; last < 40; last++) expect(await statusOf(`127.0.0.${last}`, 'localhost')).toBe(200);
    expect(await statusOf('localhost', 'tools.example.com')).toBe(200);
    expect(await statusOf('localhost')).toBe(200);
    expect(await statusOf('localhost', '')).toBe(403);
    expect(await statusOf('localhost', 'evil.example')).toBe(403);
    expect(await statusOf('evil.example', 'localhost')).toBe(403);
    expect(await statusOf('evil.example')).toBe(403);
    expect(await statusOf('localhost.evil.example', 'localhost')).toBe(403);
  }
});

describe('pages of another origin', () => {
  it.each([
    ['http://evil.example'],
    ['http://localhost:3000'],
    ['https://127.0.0.1.evil.example'],
    ['null'],
    ['file://'],
    ['chrome-extension://abc'],
    ['not an origin'],
    [''],
  ])('%s are refused', async (origin) => {
    const { ask, token } = await serve();
    const headers = { host: '127.0.0.1:2742', origin };
    const body = { arguments: { a: 1, b: 2 } };
    expect(await ask('/api/tools/execute/add', { body, headers })).toMatchObject({ status: 403 });
    expect((await ask('/api/tools', { token, headers })).status).toBe(403);
    const preflight = await ask('/api/tools', {
      method: 'OPTIONS',
      headers: { ...headers, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(403);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('a page of the same origin is accepted', async () => {
    const { ask } = await serve({ hosts: ['tools.example.com'] });
    const pages = [
      ['127.0.0.1:2742', 'http://127.0.0.1:2742'],
      ['localhost:2742', 'http://localhost:2742'],
      ['LocalHost:2742', 'http://localhost:2742'],
      ['tools.example.com', 'https://tools.example.com'],
      ['[::1]:2742', 'http://[::1]:2742'],
    ];
    for (const [host = '', origin = ''] of pages)
      expect((await ask('/api/tools', { headers: { host, origin } })).status, origin).toBe(200);
  });

  it('a plain GET of another origin is recognized by the headers of the browser', async () => {
    const { ask } = await serve();
    const site = (value: string, mode: string) => ({ 'sec-fetch-site': value, 'sec-fetch-mode': mode });
    expect((await ask('/api/tools', { headers: site('cross-site', 'no-cors') })).status).toBe(403);
    expect((await ask('/api/tools', { headers: site('same-site', 'cors') })).status).toBe(403);
    expect((await ask('/tools', { headers: site('cross-site', 'navigate') })).status).toBe(200);
    expect((await ask('/tools', { headers: site('none', 'navigate') })).status).toBe(200);
    expect((await ask('/api/tools', { headers: site('same-origin', 'cors') })).status).toBe(200);
  });

  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY'];
  const SITES = [undefined, 'none', 'same-origin', 'same-site', 'cross-site', 'Cross-Site', 'none, cross-site', ''];
  const MODES = [undefined, 'navigate', 'no-cors', 'cors', 'same-origin', 'websocket', 'navigate, cors'];
  const ORIGINS = [undefined, 'http://127.0.0.1:2742', 'http://evil.example', 'null'];

  it.each(METHODS)('a %s of another site is refused unless it follows a link', async (method) => {
    const { ask } = await serve();
    for (const site of SITES)
      for (const mode of MODES)
        for (const origin of ORIGINS) {
          const said = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, origin };
          const given = Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
          const headers = { host: '127.0.0.1:2742', ...Object.fromEntries(given) };
          const isOurs = site === undefined || site === 'none' || site === 'same-origin';
          const isLink = ['GET', 'HEAD'].includes(method) && mode === 'navigate';
          const mayAsk = origin === undefined ? isOurs || isLink : origin === 'http://127.0.0.1:2742';
          for (const path of ['/healthz', '/mcp', '/tools']) {
            const { status } = await ask(path, { method, headers });
            expect(status === 403, `${method} ${path} ${JSON.stringify(headers)}`).toBe(!mayAsk);
          }
        }
  });

  it('a form of another site runs no tool, whatever its content type', async () => {
    const { ask, deeds } = await serve({ config: 'extensions: { approval: { mode: never } }\n' });
    const body = { arguments: { what: 'it' } };
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' };
      const heard = await ask('/api/tools/execute/wipe', { body, headers });
      expect(heard).toMatchObject({ status: 403, json: { error: { code: 'denied' } } });
    }
    expect(deeds.wiped).toEqual([]);
  });
});
