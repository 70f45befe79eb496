import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../../src/doors/rest/routes.ts';
import { execute, type Served, serve } from './served.ts';

/** The path of a route with something for each part that varies. */
const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, 'x');
const rows = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);
const guarded = rows.filter(([, { who }]) => who !== 'anyone');

describe('which callers are allowed', () => {
  it.each(guarded)('with access, a request without a credential is refused: %s', async (_, { method, path }) => {
    const { ask } = await serve({ access: true });
    const { status, json, headers } = await ask(filled(path), { method });
    expect(status).toBe(401);
    expect(json).toMatchObject({ ok: false, status: 'failed', error: { code: 'unauthenticated' } });
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  const operators = rows.filter(([, { who }]) => who === 'operator' || who === 'credential');
  it.each(operators)('needs the token even on loopback: %s', async (_, { method, path }) => {
    const { ask } = await serve();
    expect(await ask(filled(path), { method })).toMatchObject({
      status: 401,
      json: { error: { code: 'unauthenticated' } },
    });
    expect((await ask(filled(path), { method, token: 'tco_wrong' })).status).toBe(401);
  });

  it.each(rows.filter(([, { who }]) => who === 'operator'))(
    'is refused for a key without an operator role: %s',
    async (_, { method, path }) => {
      const { ask, crib } = await serve({ access: true });
      const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
      expect(await ask(filled(path), { method, token: key })).toMatchObject({
        status: 403,
        json: { error: { code: 'denied' } },
      });
    },
  );

  it.each(rows.filter(([, { group }]) => group === 'later'))(
    'not built yet answers 501 with the operator token: %s',
    async (_, { method, path }) => {
      const { ask, token } = await serve();
      const { status, json } = await ask(filled(path), { method, token });
      expect(status).toBe(501);
      expect(json).toMatchObject({ ok: false, status: 'failed', error: { code: 'not_available' } });
    },
  );

  it('a wrong credential never counts as the local caller', async () => {
    const { ask } = await serve();
    for (const authorization of [
      'Bearer x',
      'Basic dXNlcjpwYXNz',
      'x',
      `Bearer ${'x'.repeat(20_000)}`,
      'Bearer '.repeat(3),
    ]) {
      expect((await ask('/api/tools', { headers: { authorization } })).status, authorization.slice(0, 30)).toBe(401);
    }
  });

  it('if the server listens beyond this machine, no caller is local, even after an edit', async () => {
    const { ask, token } = await serve({ host: '0.0.0.0' });
    expect((await ask('/api/tools')).status).toBe(401);
    expect((await ask('/tools')).status, 'the page has no data').toBe(200);
    expect((await ask('/api/tools', { token })).status).toBe(200);
    expect((await ask('/healthz')).status).toBe(200);
    const insecure = await serve({ host: '0.0.0.0', isInsecure: true });
    expect((await insecure.ask('/api/tools')).status).toBe(200);
  });

  it('a caller that cannot be checked is refused with that reason', async () => {
    const { ask, crib } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    await crib.store?.close();
    expect(await ask('/api/tools', { token: key })).toMatchObject({
      status: 503,
      json: { error: { code: 'unavailable' } },
    });
  });
});

const NIGHTLY = { name: 'nightly', tool: 'add', arguments: { a: 1, b: 2 } };

/** What a script of our own page sends. */
const OURS = { 'x-toolcrib-console': '1', 'sec-fetch-site': 'same-origin' };

interface Example {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Approves a call and further ones; returns the id of the remembered approval. */
async function grant(ask: Served['ask']): Promise<string> {
  const { json } = await execute(ask, 'wipe', { what: 'all' });
  const remember = { uses: 2, forMs: 60_000, vary: { what: { enum: ['all', 'some'] } } };
  await ask(`/api/approvals/${json.waiting.id}`, { body: { decision: 'approve', remember } });
  return json.waiting.id;
}

/** What is asked so that each route succeeds once. */
const SUCCESSES: Readonly<Record<string, (served: Served) => Promise<Example>>> = {
  'GET /api/tools': async () => ({ path: '/api/tools?limit=2' }),
  'GET /api/tools/facets': async () => ({ path: '/api/tools/facets?profile=usual' }),
  'GET /api/tools/{name}/history': async () => ({ path: '/api/tools/add/history' }),
  'GET /api/tools/{name}/stats': async ({ ask }) => {
    await execute(ask, 'add', { a: 1, b: 2 });
    return { path: '/api/tools/add/stats' };
  },
  'GET /api/calls/{id}/children': async ({ ask }) => {
    const { json } = await execute(ask, 'add', { a: 1, b: 2 });
    return { path: `/api/calls/${json.callId}/children` };
  },
  'POST /api/calls/{id}/cancel': async ({ ask, deeds }) => {
    const gate = deeds.hold();
    void execute(ask, 'wait', {}, { conversation: 'c' });
    await gate.entered;
    const { json } = await ask('/api/calls?status=running');
    return { path: `/api/calls/${json.calls[0].callId}/cancel` };
  },
  'POST /api/calls/cancel': async () => ({ path: '/api/calls/cancel', body: { conversation: 'c' } }),
  'GET /api/callers': async ({ ask, crib }) => {
    await crib.keys.create({ name: 'ci', roles: ['dev'], forMs: 1000 }, 'test');
    await execute(ask, 'add', { a: 1, b: 2 });
    return { path: '/api/callers' };
  },
  'GET /api/tools/{name}': async () => ({ path: '/api/tools/add' }),
  'GET /api/tools/{name}/explain': async () => ({ path: '/api/tools/wipe/explain?profile=other&caller=ann&role=dev' }),
  'POST /api/tools/execute/{name}': async () => ({
    path: '/api/tools/execute/add',
    body: { arguments: { a: 1, b: 2 } },
  }),
  'POST /api/search': async () => ({
    path: '/api/search',
    body: { goal: 'add numbers, then echo a text', limit: 3, expand: true },
  }),
  'GET /api/search': async () => ({ path: '/api/search?q=add%20numbers&limit=3&expand=true' }),
  'GET /api/bundles': async () => ({ path: '/api/bundles?profile=usual' }),
  'GET /api/profiles': async () => ({ path: '/api/profiles' }),
  'GET /api/profiles/{name}/definitions': async () => ({ path: '/api/profiles/other/definitions?format=anthropic' }),
  'PUT /api/profiles/{name}/active': async () => ({
    path: '/api/profiles/usual/active',
    body: { active: ['reading'] },
  }),
  'GET /api/sources': async () => ({ path: '/api/sources' }),
  'GET /api/sources/{id}/changes': async () => ({ path: '/api/sources/stored/changes' }),
  'GET /api/sources/{id}/output': async () => ({ path: '/api/sources/stored/output' }),
  'POST /api/sources/{id}/reload': async () => ({ path: '/api/sources/stored/reload', body: undefined }),
  'GET /api/approvals': async ({ ask }) => {
    await execute(ask, 'wipe', { what: 'all' });
    return { path: '/api/approvals?state=waiting&limit=5' };
  },
  'GET /api/approvals/{id}': async ({ ask }) => {
    const { json } = await execute(ask, 'wipe', { what: 'all' });
    return { path: `/api/approvals/${json.waiting.id}` };
  },
  'GET /api/approvals/{id}/binding': async ({ ask }) => {
    const { json } = await execute(ask, 'wipe', { what: 'all' });
    return { path: `/api/approvals/${json.waiting.id}/binding` };
  },
  'POST /api/approvals/{id}': async ({ ask }) => {
    const { json } = await execute(ask, 'wipe', { what: 'all' });
    return {
      path: `/api/approvals/${json.waiting.id}`,
      body: { decision: 'approve', note: 'go', remember: 'arguments' },
    };
  },
  'GET /api/grants': async ({ ask }) => {
    await grant(ask);
    return { path: '/api/grants' };
  },
  'DELETE /api/grants/{id}': async ({ ask }) => ({ path: `/api/grants/${await grant(ask)}` }),
  'DELETE /api/grants': async ({ ask }) => ({ path: `/api/grants?id=${await grant(ask)}` }),
  'GET /api/calls': async ({ ask }) => {
    await execute(ask, 'add', { a: 1, b: 2 });
    return { path: '/api/calls?tool=add&limit=1' };
  },
  'GET /api/calls/{id}': async ({ ask }) => {
    const { json } = await execute(ask, 'wipe', { what: 'all' });
    return { path: `/api/calls/${json.callId}` };
  },
  'GET /api/results/{id}': async ({ ask, token }) => {
    const { json } = await execute(ask, 'long', {}, {}, token);
    return { path: `/api/results/${json.meta['toolcrib/result'].id}` };
  },
  'GET /api/tasks': async ({ ask }) => {
    await execute(ask, 'add', { a: 1, b: 2 }, { async: true });
    return { path: '/api/tasks?state=queued&limit=1' };
  },
  'GET /api/tasks/{id}': async ({ ask }) => {
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true });
    return { path: `/api/tasks/${json.callId}` };
  },
  'DELETE /api/tasks/{id}': async ({ ask }) => {
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true });
    return { path: `/api/tasks/${json.callId}` };
  },
  'POST /api/tasks/{id}/resend': async ({ ask }) => {
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true });
    await ask(`/api/tasks/${json.callId}`, { method: 'DELETE' });
    return { path: `/api/tasks/${json.callId}/resend` };
  },
  'GET /api/stats': async ({ ask }) => {
    await execute(ask, 'add', { a: 1, b: 2 });
    return { path: '/api/stats' };
  },
  'GET /api/audit/verify': async ({ ask }) => {
    await execute(ask, 'add', { a: 1, b: 2 });
    return { path: '/api/audit/verify' };
  },
  'GET /api/specs': async ({ crib }) => {
    await crib.store?.specs.put(
      { name: 'kept', description: 'Kept', run: { kind: 'http', url: 'https://x.test' } },
      'test',
    );
    return { path: '/api/specs' };
  },
  'POST /api/specs': async () => ({
    path: '/api/specs',
    body: {
      tools: [{ name: 'kept', description: 'Kept', run: { kind: 'http', method: 'GET', url: 'https://x.test' } }],
    },
  }),
  'DELETE /api/specs/{name}': async ({ crib }) => {
    await crib.store?.specs.put(
      { name: 'kept', description: 'Kept', run: { kind: 'http', url: 'https://x.test' } },
      'test',
    );
    return { path: '/api/specs/kept' };
  },
  'GET /api/keys': async ({ crib }) => {
    await crib.keys.create({ name: 'ci', roles: ['dev'], forMs: 1000 }, 'test');
    return { path: '/api/keys' };
  },
  'POST /api/keys': async () => ({
    path: '/api/keys',
    body: { name: 'ci', roles: ['dev'], expiresAt: '2999-01-01T00:00:00Z' },
  }),
  'DELETE /api/keys/{id}': async ({ crib }) => ({
    path: `/api/keys/${(await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test')).info.id}`,
  }),
  'DELETE /api/keys': async ({ crib }) => ({
    path: `/api/keys?id=${(await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test')).info.id}`,
  }),
  'GET /api/stops': async ({ crib }) => {
    await crib.stops.stop('caller:mallory', { note: 'it floods' }, { operator: true });
    return { path: '/api/stops' };
  },
  'POST /api/stops': async () => ({
    path: '/api/stops',
    body: { target: 'caller:mallory', note: 'it floods', cancel: true },
  }),
  'DELETE /api/stops': async ({ crib }) => {
    await crib.stops.stop('caller:mallory', {}, { operator: true });
    return { path: '/api/stops?target=caller:mallory&note=over' };
  },
  'GET /api/schedules': async ({ crib }) => {
    await crib.schedules.add({ ...NIGHTLY, at: '2999-01-01T00:00:00Z' }, 'test');
    return { path: '/api/schedules' };
  },
  'POST /api/schedules': async () => ({
    path: '/api/schedules',
    body: { ...NIGHTLY, cron: '0 3 * * *', timeZone: 'Europe/Berlin', roles: ['ops'], missed: 'once', priority: -1 },
  }),
  'POST /api/schedules/{name}/run': async ({ crib }) => {
    await crib.schedules.add({ ...NIGHTLY, cron: '@daily' }, 'test');
    return { path: '/api/schedules/nightly/run', body: {} };
  },
  'DELETE /api/schedules/{name}': async ({ crib }) => {
    await crib.schedules.add({ ...NIGHTLY, cron: '@daily' }, 'test');
    return { path: '/api/schedules/nightly' };
  },
  'DELETE /api/schedules': async ({ crib }) => {
    await crib.schedules.add({ ...NIGHTLY, cron: '@daily' }, 'test');
    return { path: '/api/schedules?name=nightly' };
  },
  'GET /api/check': async () => ({ path: '/api/check' }),
  'GET /api/doctor': async () => ({ path: '/api/doctor' }),
  'GET /api/configuration': async () => ({ path: '/api/configuration' }),
  'POST /api/evaluation': async () => ({
    path: '/api/evaluation',
    body: { requests: [{ query: 'add two numbers', relevant: ['add', 'no_such'] }] },
  }),
  'GET /api/labels': async ({ ask }) => {
    await ask('/api/labels', { body: { query: 'add two numbers', relevant: ['add'] } });
    return { path: '/api/labels' };
  },
  'POST /api/labels': async () => ({ path: '/api/labels', body: { query: 'bake a cake', relevant: [] } }),
  'DELETE /api/labels/{id}': async ({ ask }) => {
    const { json } = await ask('/api/labels', { body: { query: 'add two numbers', relevant: ['add'] } });
    return { path: `/api/labels/${json.label.id}` };
  },
  'GET /api/session': async () => ({ path: '/api/session' }),
  'POST /api/session': async ({ token }) => ({ path: '/api/session', body: { credential: token }, headers: OURS }),
  'DELETE /api/session': async () => ({ path: '/api/session', headers: OURS }),
  'GET /healthz': async () => ({ path: '/healthz' }),
  'GET /readyz': async () => ({ path: '/readyz' }),
  'GET /openapi/{file}': async () => ({ path: '/openapi/usual.json' }),
  'GET /openapi.json': async () => ({ path: '/openapi.json' }),
};

describe('each route answers in its documented shape', () => {
  const shaped = rows.filter(([, { answers }]) => Object.values(answers).some(({ schema }) => schema !== undefined));

  it('every route has an example of its success', () => {
    expect(Object.keys(SUCCESSES).toSorted()).toEqual(shaped.map(([name]) => name).toSorted());
  });

  it.each(shaped)('%s', async (name, { method, answers }) => {
    const served = await serve({ access: true });
    const { token } = served;
    const asOperator: Served = { ...served, ask: (path, asking) => served.ask(path, { token, ...asking }) };
    const { path, ...more } = (await SUCCESSES[name]?.(asOperator)) ?? { path: '' };
    const heard = await served.ask(path, { method, token, ...more });
    const documented = answers[heard.status];
    expect(documented, heard.text).toBeDefined();
    expect(mistakesOf(documented?.schema, heard.json), heard.text).toEqual([]);
    expect(heard.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(heard.headers.get('cache-control')).toBe('no-store');
    expect(heard.headers.get('x-content-type-options')).toBe('nosniff');
    expect(heard.headers.get('x-powered-by')).toBeNull();
  });
});

function mistakesOf(schema: object | undefined, value: unknown): unknown {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv); // its types are those of CommonJS
  const check = ajv.compile(schema ?? false);
  return check(value) ? [] : check.errors;
}

describe('invalid requests', () => {
  it.each([
    ['/api/tools?limit=0', '/limit'],
    ['/api/tools?limit=many', '/limit'],
    ['/api/tools?limit=5&limit=6', '/limit'],
    ['/api/tools?limt=5', '/limt'],
    ['/api/search', '/q'],
    ['/api/search?q=', '/q'],
    ['/api/search?q=x&goal=y', '/goal'],
    ['/api/search?q=x&expand=yes', '/expand'],
    ['/api/profiles/usual/definitions?format=cobol', '/format'],
    ['/api/tools?__proto__=1', '/__proto__'],
  ])('GET %s is answered 400 with the reason', async (path, pointer) => {
    const { ask } = await serve();
    const { status, json } = await ask(path);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({
      code: 'invalid_input',
      issues: [{ path: pointer, message: expect.any(String) }],
    });
  });

  it('an unknown filter names the nearest one that the caller may use', async () => {
    const { ask } = await serve();
    expect((await ask('/api/tools?flag=readonly')).json.error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('readOnly'),
    });
    expect((await ask('/api/tools?pattern=a%20b')).json.error.code).toBe('invalid_input');
    expect((await ask('/api/tools?bundle=')).status).toBe(400);
  });

  it.each([
    ['{', 'The body is not JSON.'],
    ['[]', 'The body is not valid.'],
    ['"x"', 'The body is not valid.'],
    ['null', 'The body is not valid.'],
    ['{"argumnets":{}}', 'The body is not valid.'],
    ['{"profile":7}', 'The body is not valid.'],
    ['{"__proto__":{"profile":"other"}}', 'The body is not valid.'],
    [`{"idempotencyKey":"${'x'.repeat(300)}"}`, 'The body is not valid.'],
    ['\u0000', 'The body is not JSON.'],
  ])('POST of %s', async (body, message) => {
    const { ask } = await serve();
    const { status, json } = await ask('/api/tools/execute/tell', { body });
    expect(status).toBe(400);
    expect(json).toMatchObject({ ok: false, status: 'failed', error: { code: 'invalid_input', message } });
  });

  it('arguments outside of "arguments" are refused with the names that the body may have', async () => {
    const { ask } = await serve();
    const { json } = await ask('/api/tools/execute/tell', { body: '{"path":"a.txt"}' });
    const message = expect.stringMatching(/^is not a known property\. Known: "arguments", /);
    expect(json.error.issues).toEqual([{ path: '/path', message }]);
  });

  it('a body of another type is not read as JSON', async () => {
    const { ask } = await serve();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
    ]) {
      const heard = await ask('/api/tools/execute/tell', { body: '{}', headers: { 'content-type': type } });
      expect(heard).toMatchObject({ status: 400, json: { error: { code: 'invalid_input' } } });
    }
    const named = { 'content-type': 'application/json; charset=utf-8' };
    expect((await ask('/api/tools/execute/tell', { body: '{}', headers: named })).status).toBe(200);
  });

  it('a missing body counts as an empty one', async () => {
    const { ask } = await serve();
    expect((await ask('/api/tools/execute/tell', { method: 'POST' })).status).toBe(200);
  });

  it('an unknown path is 404, another method 405, and OPTIONS lists the methods', async () => {
    const { ask } = await serve();
    for (const path of [
      '/nothing',
      '/api',
      '/api/nothing',
      '/api/tools/',
      '/API/tools',
      '/api/tools/a/b/c',
      '//api/tools',
    ])
      expect(await ask(path), path).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    const wrong = await ask('/api/tools', { method: 'PATCH' });
    expect(wrong).toMatchObject({ status: 405, json: { error: { code: 'method_not_allowed' } } });
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const options = await ask('/api/keys', { method: 'OPTIONS' });
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST, DELETE, OPTIONS');
    expect(options.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('HEAD is GET without a body', async () => {
    const { ask, token } = await serve();
    for (const path of ['/api/tools', '/healthz', '/tools', '/api/events']) {
      const heard = await ask(path, { method: 'HEAD', token });
      expect(heard, path).toMatchObject({ status: 200, text: '' });
    }
  });
});
