import { describe, expect, it } from 'vitest';
import { execute, serve } from './served.ts';

describe('execute answers', () => {
  it.each([
    ['invalid_input', 400],
    ['unauthenticated', 401],
    ['denied', 403],
    ['unknown_tool', 404],
    ['conflict', 409],
    ['rate_limited', 429],
    ['cancelled', 499],
    ['internal', 500],
    ['upstream', 502],
    ['invalid_output', 502],
    ['too_large', 502],
    ['unknown_outcome', 502],
    ['unavailable', 503],
    ['timeout', 504],
    ['tool_error', 200],
  ])('%s with %i', async (code, status) => {
    const { ask } = await serve();
    const heard = await execute(ask, 'fail_with', { code });
    expect(heard.status).toBe(status);
    expect(heard.json).toMatchObject({
      ok: false,
      status: 'failed',
      callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      error: { code, message: `as asked: ${code}` },
    });
  });

  it('done with 200, content, data and duration', async () => {
    const { ask } = await serve();
    expect(await execute(ask, 'add', { a: 1, b: 2 })).toMatchObject({
      status: 200,
      json: {
        ok: true,
        status: 'done',
        callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        content: [{ type: 'text', text: '3' }],
        data: 3,
        durationMs: expect.any(Number),
      },
    });
  });

  it('a tool that throws with 200 and its message, and without its stack', async () => {
    const { ask } = await serve();
    const heard = await execute(ask, 'fail_with', { code: 'throw' });
    expect(heard).toMatchObject({
      status: 200,
      json: { ok: false, error: { code: 'tool_error', message: 'it broke' } },
    });
    expect(heard.text).not.toMatch(/\.ts|at |stack|cause/);
  });

  it('wrong arguments with all issues and their paths', async () => {
    const { ask } = await serve();
    const { status, json } = await execute(ask, 'add', { a: 'one' });
    expect(status).toBe(400);
    expect(json.error.issues).toEqual([
      { path: '/b', message: expect.any(String) },
      { path: '/a', message: expect.any(String) },
    ]);
    for (const args of ['{"a":1}', [1], 7, null]) expect((await execute(ask, 'add', args)).status).toBe(400);
  });

  it.each([{ dryRun: true }, { async: true }, {}])(
    'an integer that would be rounded with its path, with %j',
    async (options) => {
      const { ask } = await serve();
      const body = JSON.stringify({ arguments: { a: 'A', b: 1 }, ...options }).replace('"A"', '9007199254740993');
      const { json } = await ask('/api/tools/execute/add', { body });
      const message = expect.stringContaining('9007199254740993');
      expect(json).toMatchObject(
        'dryRun' in options
          ? { would: 'refuse', valid: false, issues: [{ path: '/a', message }] }
          : { error: { code: 'invalid_input', issues: [{ path: '/a', message }] } },
      );
      const outside = await ask('/api/tools/execute/add', { body: '{"delayMs":9007199254740993}' });
      expect(outside).toMatchObject({ status: 400, json: { error: { issues: [{ path: '/delayMs', message }] } } });
    },
  );

  it('rate_limited with Retry-After in seconds', async () => {
    const { ask } = await serve();
    expect((await execute(ask, 'fail_with', { code: 'rate_limited' })).headers.get('retry-after')).toBe('2');
    expect((await execute(ask, 'fail_with', { code: 'later' })).headers.get('retry-after')).toBe('2');
    expect((await execute(ask, 'fail_with', { code: 'upstream' })).headers.get('retry-after')).toBeNull();
  });

  it('a failing gate with 500 and without details', async () => {
    const broken = {
      name: 'broken',
      priority: 500,
      wrap: () => {
        throw new Error('/etc/passwd of the gate');
      },
    };
    const { ask } = await serve({ crib: { extensions: [broken] } });
    const heard = await execute(ask, 'add', { a: 1, b: 2 });
    expect(heard).toMatchObject({ status: 500, json: { error: { code: 'internal' } } });
    expect(heard.text).not.toContain('passwd');
  });

  it('a call that its caller gave up with 499, and aborts the tool', async () => {
    const { ask, deeds } = await serve();
    const gate = deeds.hold();
    const sender = new AbortController();
    const heard = ask('/api/tools/execute/wait', { body: {}, signal: sender.signal });
    await gate.entered;
    sender.abort();
    expect(await heard).toMatchObject({ status: 499, json: { error: { code: 'cancelled' } } });
  });

  it('a result that is too large with its beginning, and the rest to its caller only', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((name) => crib.keys.create({ name, roles: ['dev'] }, 'test')),
    );
    const { json } = await execute(ask, 'long', {}, {}, ann?.key);
    const path = `/api/results/${json.meta['toolcrib/result'].id}`;
    expect((await ask(path, { token: ann?.key ?? '' })).json).toMatchObject({ tool: 'long', text: 'x'.repeat(5000) });
    expect(await ask(path, { token: bob?.key ?? '' })).toMatchObject({
      status: 404,
      json: { error: { code: 'not_found' } },
    });
    expect((await ask(path, { token })).status).toBe(200);
    expect((await ask('/api/results/%00', { token })).status).toBe(404);
  });

  it('async with 202, and async: false with the result', async () => {
    const { ask } = await serve();
    expect(await execute(ask, 'add', { a: 1, b: 2 }, { async: true })).toMatchObject({ status: 202 });
    expect(await execute(ask, 'add', { a: 1, b: 2 }, { async: false })).toMatchObject({ status: 200 });
  });

  it('the same call with the same key once', async () => {
    const { ask, deeds, crib } = await serve({ config: 'extensions: { approval: { mode: never } }\n' });
    const first = await execute(ask, 'wipe', { what: 'it' }, { idempotencyKey: 'k' });
    const second = await execute(ask, 'wipe', { what: 'it' }, { idempotencyKey: 'k' });
    expect(second.json.content).toEqual(first.json.content);
    expect(deeds.wiped).toHaveLength(1);
    expect(await execute(ask, 'wipe', { what: 'else' }, { idempotencyKey: 'k' })).toMatchObject({ status: 409 });
    expect(await crib.calls.list({ tool: 'wipe' })).toHaveLength(3);
  });

  it('calls of a closed crib with 503', async () => {
    const { ask, crib } = await serve();
    await crib.close();
    expect(await execute(ask, 'tell', {})).toMatchObject({ status: 503, json: { error: { code: 'unavailable' } } });
  });
});

describe('the tool gets', () => {
  it('the caller, and the options of the call', async () => {
    const { ask } = await serve();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const body = { conversation: 'c', turn: 't', timeZone: 'Europe/Berlin' };
    const { json } = await ask('/api/tools/execute/tell', { body, headers: { traceparent } });
    expect(json.data).toMatchObject({ ...body, caller: { id: 'local' }, profile: 'usual', door: 'rest', traceparent });
  });
});

describe('the profile', () => {
  it('is the default one for callers, and all tools for an operator', async () => {
    const { ask, token } = await serve();
    expect(await execute(ask, 'secret_tool', {})).toMatchObject({
      status: 404,
      json: { error: { code: 'unknown_tool' } },
    });
    expect(await execute(ask, 'secret_tool', {}, {}, token)).toMatchObject({ status: 200 });
    expect(await execute(ask, 'secret_tool', {}, { profile: 'usual' }, token)).toMatchObject({ status: 404 });
  });

  it('that is unknown or forbidden: the same 404', async () => {
    const { ask, crib } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const unknown = await execute(ask, 'tell', {}, { profile: 'nobody' }, key);
    const hidden = await execute(ask, 'tell', {}, { profile: 'other' }, key);
    expect(unknown).toMatchObject({ status: 404, json: { error: { message: 'The profile "nobody" was not found.' } } });
    expect(hidden.text).toBe(unknown.text.replace('nobody', 'other'));
    for (const path of ['/api/tools?profile=', '/api/search?q=x&profile=', '/api/bundles?profile='])
      expect((await ask(`${path}other`, { token: key })).text).toBe(hidden.text);
    expect((await ask('/api/profiles/other/definitions', { token: key })).text).toBe(hidden.text);
    const near = await execute(ask, 'tell', {}, { profile: 'othe' }, key);
    expect(near.text).not.toContain('other');
  });

  it('of a key that opens one other than the default can be omitted', async () => {
    const { ask, crib } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['reader'] }, 'test');
    for (const named of [{}, { profile: 'other' }])
      expect(await execute(ask, 'add', { a: 1, b: 2 }, named, key)).toMatchObject({ status: 200 });
    expect((await ask('/api/profiles', { token: key })).json.profiles).toMatchObject([
      { name: 'other', default: true },
    ]);
  });

  it('of a local caller is the default one and no other', async () => {
    const { ask } = await serve();
    expect(await execute(ask, 'add', { a: 1, b: 2 }, { profile: 'other' })).toMatchObject({ status: 404 });
    expect(await execute(ask, 'add', { a: 1, b: 2 }, { profile: 'usual' })).toMatchObject({ status: 200 });
  });
});
