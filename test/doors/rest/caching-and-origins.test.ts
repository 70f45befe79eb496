import { describe, expect, it } from 'vitest';
import { serve } from './served.ts';

describe('an ETag', () => {
  it('answers 304 to a client that has the answer, until it changes', async () => {
    const { ask, crib, token } = await serve();
    const first = await ask('/api/tools', { token });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\da-f]{32}"$/);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await ask('/api/tools', { token, headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    crib.register({ name: 'more', description: 'One more', run: () => 1 });
    expect((await ask('/api/tools', { token, headers: { 'if-none-match': etag } })).status).toBe(200);
    expect((await ask('/api/tools', { headers: { 'if-none-match': etag } })).status, 'another caller').toBe(200);
    const refused = await ask('/api/sources', { headers: { 'if-none-match': '*' } });
    expect([refused.status, refused.headers.get('etag')]).toEqual([401, null]);
  });
});

describe('pages of other origins', () => {
  const APP = 'https://app.example.com';

  it('are refused by default, also before a request', async () => {
    const { ask, token } = await serve();
    expect((await ask('/api/tools', { token, headers: { origin: APP } })).status).toBe(403);
    const preflight = await ask('/api/tools', {
      method: 'OPTIONS',
      headers: { origin: APP, 'access-control-request-method': 'GET' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  it('may send a credential if server.cors names them, and never cookies', async () => {
    const { ask, token } = await serve({ config: `server: { cors: ["${APP}"] }` });
    const preflight = await ask('/api/tools', {
      method: 'OPTIONS',
      headers: { origin: APP, 'access-control-request-method': 'GET' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(APP);
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const heard = await ask('/api/sources', { token, headers: { origin: APP } });
    expect([heard.status, heard.headers.get('access-control-allow-origin'), heard.headers.get('vary')]).toEqual([
      200,
      APP,
      'Origin',
    ]);
    const own = { 'x-toolcrib-console': '1', origin: 'http://127.0.0.1' };
    const signed = await ask('/api/session', { body: { credential: token }, headers: own });
    const [cookie = ''] = (signed.headers.get('set-cookie') ?? '').split(';');
    const foreign = { 'x-toolcrib-console': '1', origin: APP, 'sec-fetch-site': 'same-origin', cookie };
    expect((await ask('/api/sources', { headers: foreign })).status).toBe(401);
    expect((await ask('/api/session', { body: { credential: token }, headers: foreign })).status).toBe(403);
    for (const origin of ['https://app.example.com.evil.test', 'http://app.example.com', 'null', `${APP}/`])
      expect((await ask('/api/sources', { token, headers: { origin } })).status, origin).toBe(403);
    expect((await ask('/mcp', { method: 'POST', headers: { origin: 'https://other.test' } })).status).toBe(403);
  });
});
