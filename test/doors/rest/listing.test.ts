import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { packRows } from '../../../src/store/audit-append.ts';
import { execute, serve } from './served.ts';

const namesIn = (json: { readonly tools: readonly { readonly name: string }[] }) => json.tools.map(({ name }) => name);

describe('tools are listed', () => {
  it('page by page, each once, in the order of the catalog', async () => {
    const { ask, token, crib } = await serve();
    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await ask(`/api/tools?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`, { token });
      names.push(...namesIn(json));
      expect(json.total).toBe(crib.catalog.specs.length);
      if (json.nextCursor === undefined) break;
      cursor = json.nextCursor;
    }
    expect(names).toEqual(crib.catalog.specs.map(({ name }) => name));
  });

  it('in the format of a vendor that accepts fewer: a refusal that says so, not an internal error', async () => {
    const { ask, crib } = await serve();
    crib.register(
      Array.from({ length: 140 }, (_, index) => ({ name: `t${index}`, description: 'd', run: () => index }) as never),
    );
    expect(await ask('/api/profiles/usual/definitions?format=openai')).toMatchObject({
      status: 409,
      json: { error: { code: 'conflict', message: expect.stringContaining('accepts at most 128 tools') } },
    });
  });

  it('without a profile: under the only one that a key opens; if it opens several, the error names them', async () => {
    const { ask, crib } = await serve({
      config: 'access: { keys: true, roles: { one: { profiles: [other] }, two: { profiles: [other, third] } } }\n',
      crib: { profiles: { third: {} } },
    });
    const keyFor = async (role: string) => (await crib.keys.create({ name: 'ci', roles: [role] }, 'test')).key;
    const [one, two] = [await keyFor('one'), await keyFor('two')];
    expect(namesIn((await ask('/api/tools', { token: one })).json)).toEqual(['add', 'long', 'echo', 'read_result']);
    expect((await execute(ask, 'add', { a: 1, b: 2 }, {}, one)).json).toMatchObject({ ok: true, data: 3 });
    for (const path of ['/api/tools', '/api/search?q=add'])
      expect(await ask(path, { token: two }), path).toMatchObject({
        status: 404,
        json: {
          error: {
            code: 'unknown_profile',
            message: 'You may not use the default profile; name another one. Your profiles: other, third.',
          },
        },
      });
  });

  it('for any cursor', async () => {
    const { ask } = await serve();
    const cursors = [
      'x',
      '%00',
      'bnVsbA',
      'WzFd',
      Buffer.from('["gone",2]').toString('base64url'),
      Buffer.from('["gone",-1]').toString('base64url'),
      Buffer.from('["gone",1e300]').toString('base64url'),
    ];
    for (const cursor of cursors) expect((await ask(`/api/tools?cursor=${cursor}`)).status, cursor).toBe(200);
  });

  it('by every filter', async () => {
    const { ask, token } = await serve();
    const found = async (query: string) => namesIn((await ask(`/api/tools?${query}`, { token })).json);
    expect(await found('tag=read&tag=math')).toEqual(['add']);
    expect(await found('tagAny=math&tagAny=none')).toEqual(['add']);
    expect(await found('category=ma*')).toEqual(['add']);
    expect(await found('pattern=*_tool')).toEqual(['secret_tool']);
    expect(await found('kind=http')).toEqual([]);
    expect(await found('source=code&bundle=writing')).toEqual(['wipe']);
    expect(await found('flag=destructive')).toEqual(['wipe']);
    expect(await found('flag=quick&flag=readOnly')).toEqual(['add']);
    expect(await found('q=two%20NUMBERS')).toEqual(['add']);
    expect(await found('profile=other')).toEqual(['add', 'long', 'echo', 'read_result']);
  });

  it('to operators with their kind, to others without', async () => {
    const { ask, token } = await serve();
    expect((await ask('/api/tools/add', { token })).json).toMatchObject({
      kind: 'function',
      policy: {},
      origin: 'add',
      meta: { quick: true },
    });
    const { json } = await ask('/api/tools/add');
    expect(json).toMatchObject({
      name: 'add',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'number' },
      status: 'ready',
      tokens: { openai: expect.any(Number) },
    });
    for (const key of ['kind', 'policy', 'origin', 'flags', 'meta', 'run']) expect(json).not.toHaveProperty(key);
    expect(await ask('/api/tools/secret_tool')).toMatchObject({
      status: 404,
      json: { error: { code: 'unknown_tool' } },
    });
    expect((await ask('/api/tools/secret_tool', { token })).status).toBe(200);
  });

  it.each([
    ['kind=function', 403],
    ['kind=shell', 403],
    ['kind=*', 403],
    ['kind=', 400],
    ['kind=function&profile=other', 403],
    ['kind=function&profile=nobody', 403],
    ['flag=kind=function', 400],
    ['flag=kind', 400],
    ['flag=kind=true', 400],
    ['flag=source=code', 400],
    ['flag=text=add', 400],
    ['flag=quick', 200],
    ['flag=quick=false', 200],
    ['flag=nothing', 200],
    ['flag=nothing=false', 200],
    ['flag=__proto__', 200],
    ['flag=redOnly', 400],
    ['flag=readOnly=kind', 400],
    ['flag=readOnly=true=false', 400],
    ['flag=readOnly==', 400],
    ['flag=readOnly=false&flag=readOnly', 200],
    ['flag=readOnly&flag=readOnly=false', 200],
    ['flag=kind=function&flag=kind=true', 400],
    ['q=kind:function', 200],
    ['pattern=kind:function', 400],
    ['category=kind:function', 200],
    ['source=kind:function', 200],
    ['bundle=kind:function', 200],
    ['tag=kind:function', 200],
  ])('to callers by no filter that reveals how a tool runs: %s', async (query, status) => {
    const { ask, crib } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ann', roles: ['dev'] }, 'test');
    const open = await serve();
    for (const heard of [await ask(`/api/tools?${query}`, { token: key }), await open.ask(`/api/tools?${query}`)]) {
      expect(heard).toMatchObject({ status, json: status === 200 ? { tools: [], total: 0 } : { ok: false } });
      if (status === 403)
        expect(heard.json.error).toMatchObject({
          code: 'denied',
          message: expect.stringMatching(/Only operators can filter by "kind"/),
        });
    }
  });

  it('with the way their rates count', async () => {
    const { ask, crib, token } = await serve();
    const rates = [{ scope: 'caller' as const, amount: 1, perMs: 60_000 }];
    crib.register({ name: 'slow', description: '', policy: { rates }, run: () => 1 });
    const { json } = await ask('/api/tools/slow/explain', { token });
    expect(json.rates).toEqual(['one call at once (scope: caller), then one each 60000 ms']);
    expect((await ask('/api/tools/add/explain', { token })).json).not.toHaveProperty('rates');
  });

  it('to operators by kind and by every flag, whether by token or by key', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'root', roles: ['admin'] }, 'test');
    for (const credential of [token, key]) {
      expect(namesIn((await ask('/api/tools?kind=function&flag=quick', { token: credential })).json)).toEqual(['add']);
      expect((await ask('/api/tools?flag=kind=function', { token: credential })).status).toBe(400);
      expect((await ask('/api/tools?flag=redOnly', { token: credential })).status).toBe(400);
      for (const flag of ['nothing', 'nothing=false', '__proto__', 'constructor'])
        expect((await ask(`/api/tools?flag=${flag}`, { token: credential })).json).toEqual({ tools: [], total: 0 });
    }
  });

  it('to callers without how they run, on any route', async () => {
    const { ask } = await serve();
    const paths = [
      'tools',
      'tools/add',
      'search?q=add%20numbers',
      'bundles',
      'profiles',
      'profiles/usual/definitions?format=mcp',
    ];
    for (const path of paths) {
      const { status, text } = await ask(`/api/${path}`);
      expect(status, path).toBe(200);
      expect(text, path).not.toMatch(/"(kind|origin|policy|flags|run|function)"/);
    }
  });

  it('in the format of a vendor', async () => {
    const { ask, token } = await serve();
    for (const format of ['openai', 'anthropic', 'gemini', 'mcp']) {
      const { json } = await ask(`/api/profiles/other/definitions?format=${format}`, { token });
      expect(JSON.stringify(json.tools)).toContain('"add"');
      expect(json).toMatchObject({ profile: 'other', format });
    }
    expect((await ask('/api/profiles/usual/definitions')).json.instructions).toBe('Think before you wipe.');
  });
});

describe("a door's chests start from the profile's stored active set, which an operator changes", () => {
  it('listings and prompt texts follow at once, and calls do not depend on it', async () => {
    const { ask, token, deeds } = await serve({ config: 'extensions: { approval: { mode: never } }\n' });
    expect(namesIn((await ask('/api/tools')).json)).toContain('wipe');
    const put = await ask('/api/profiles/usual/active', { method: 'PUT', token, body: { active: ['reading'] } });
    expect(put.json).toMatchObject({ profile: 'usual', active: ['reading'], by: 'operator' });
    expect(namesIn((await ask('/api/tools')).json)).not.toContain('wipe');
    expect(namesIn((await ask('/api/tools')).json)).toContain('add');
    expect((await ask('/api/profiles/usual/definitions')).json.instructions).toBe('');
    expect((await ask('/api/tools/wipe')).json).toMatchObject({ active: false });
    expect((await ask('/api/bundles')).json.bundles).toMatchObject([
      { name: 'reading', active: true },
      { name: 'writing', active: false },
    ]);
    expect(await execute(ask, 'wipe', { what: 'it' })).toMatchObject({ status: 200 });
    expect(deeds.wiped).toHaveLength(1);
  });

  it('one unknown name changes nothing', async () => {
    const { ask, token } = await serve();
    const body = { active: ['reading', 'readin'] };
    const { status, json } = await ask('/api/profiles/usual/active', { method: 'PUT', token, body });
    expect(status).toBe(400);
    expect(json.error.issues).toEqual([{ path: '/active/1', message: expect.stringContaining('reading') }]);
    expect(namesIn((await ask('/api/tools')).json)).toContain('wipe');
    expect((await ask('/api/profiles/nobody/active', { method: 'PUT', token, body })).status).toBe(404);
  });

  it('a store that does not answer hides no tool', async () => {
    const { ask, crib } = await serve();
    await crib.store?.close();
    expect(namesIn((await ask('/api/tools')).json)).toContain('wipe');
  });
});

describe('stored data', () => {
  it('specs are accepted, and no answer contains how they run', async () => {
    const { ask, token } = await serve();
    const spec = {
      name: 'weather',
      description: 'Tells the weather',
      run: { kind: 'http', method: 'GET', url: 'https://inside.test/x?key=hunter2' },
    };
    const added = await ask('/api/specs', { token, body: { tools: [spec] } });
    expect(added.json).toEqual({ specs: [{ name: 'weather', result: 'added' }], unseen: [] });
    for (const path of [
      '/api/specs',
      '/api/tools',
      '/api/tools/weather',
      '/api/tools/weather/explain',
      '/api/sources',
      '/tools',
      '/openapi.json',
    ]) {
      const { text } = await ask(path, { token });
      expect(text, path).not.toMatch(/inside\.test|hunter2|"run"/);
    }
    expect((await ask('/api/tools/weather', { token })).json).toMatchObject({ kind: 'http', source: 'stored' });
    expect((await ask('/api/specs/weather', { method: 'DELETE', token })).json).toEqual({ removed: ['weather'] });
    expect((await ask('/api/specs/weather', { method: 'DELETE', token })).status).toBe(404);
    expect((await ask('/api/tools/weather', { token })).status).toBe(404);
  });

  it('all specs or none, and each bad one is named', async () => {
    const { ask, token } = await serve();
    const body = {
      tools: [
        { name: 'good', description: 'x', run: { kind: 'http', url: 'https://x.test' } },
        { name: 'bad name' },
        { name: 'x', description: 'x', run: { kind: 'shell', command: ['ls'] } },
      ],
    };
    const { status, json } = await ask('/api/specs', { token, body });
    expect(status).toBe(400);
    expect(json.error.issues.map(({ path }: { path: string }) => path)).toEqual(['/tools/1', '/tools/2']);
    expect((await ask('/api/specs', { token })).json).toEqual({ specs: [] });
  });

  it('keys are shown once, and revoked at once', async () => {
    const { ask, token } = await serve({ access: true });
    const made = await ask('/api/keys', { token, body: { name: 'ci', roles: ['dev'] } });
    expect(made).toMatchObject({ status: 201, json: { opens: ['usual'], state: 'active' } });
    const { key, id } = made.json;
    expect((await ask('/api/tools', { token: key })).status).toBe(200);
    const listed = await ask('/api/keys', { token });
    expect(listed.json.keys).toMatchObject([{ id, name: 'ci' }]);
    expect(listed.text).not.toContain(key);
    expect((await ask(`/api/keys/${id}`, { method: 'DELETE', token })).json).toEqual({ revoked: [id] });
    expect((await ask('/api/tools', { token: key })).status).toBe(401);
    expect((await ask(`/api/keys?id=${id}`, { method: 'DELETE', token })).status).toBe(404);
    expect((await ask('/api/keys', { token, body: { name: 'nothing' } })).status).toBe(400);
  });

  it('calls are visible to their callers and to operators', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((name) => crib.keys.create({ name, roles: ['dev'] }, 'test')),
    );
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, {}, ann?.key);
    const path = `/api/calls/${json.callId}`;
    expect((await ask(path, { token: ann?.key ?? '' })).json).toMatchObject({
      callId: json.callId,
      state: 'ended',
      call: { tool: 'add', outcome: 'done' },
    });
    expect((await ask(path, { token })).status).toBe(200);
    expect((await ask(path, { token: bob?.key ?? '' })).text).toBe(
      (await ask('/api/calls/none', { token: bob?.key ?? '' })).text.replace('none', json.callId),
    );
  });

  it('calls mark rows that no key of this machine signs', async () => {
    const { ask, crib, token } = await serve();
    await execute(ask, 'add', { a: 1, b: 2 });
    const about = { door: 'rest', kind: 'call', outcome: 'done', profile: 'x', source: 'x' } as const;
    const packed = [packRows([{ ...about, at: Date.now() + 60_000, callId: 'added', tool: 'wire_money' }])];
    const header = { chain: 'added', key: 'x', startedAt: 1, signature: 'x' };
    await crib.calls.list(); // what was recorded is written
    await crib.store?.audit.append({ header, after: { count: 0, hash: 'x' }, packed });
    const { calls } = (await ask('/api/calls', { token })).json;
    expect(calls.map(({ tool, row }: { tool: string; row: { key?: string } }) => [tool, row.key])).toEqual([
      ['wire_money', 'unknown'],
      ['add', undefined],
    ]);
    const one = (await ask('/api/calls/added', { token })).json;
    expect(one.call.row).toMatchObject({ chain: 'added', key: 'unknown' });
    expect((await ask('/api/audit/verify', { token })).json).toMatchObject({ ok: false });
  });

  it('calls are listed page by page, newest first', async () => {
    const { ask, token } = await serve();
    for (let a = 0; a < 5; a++) await execute(ask, 'add', { a, b: 0 });
    const first = (await ask('/api/calls?limit=3', { token })).json;
    const second = (await ask(`/api/calls?limit=3&cursor=${first.nextCursor}`, { token })).json;
    const ids = [...first.calls, ...second.calls].map(({ callId }) => callId);
    expect(new Set(ids).size).toBe(5);
    expect((await ask('/api/calls?cursor=e30', { token })).status).toBe(400);
  });

  it('an unchanged audit verifies, and a changed row is found', async () => {
    const { ask, token } = await serve();
    await execute(ask, 'add', { a: 1, b: 2 });
    expect((await ask('/api/audit/verify', { token })).json).toMatchObject({ ok: true, rows: 1, findings: [] });
  });

  it('statistics', async () => {
    const { ask, token } = await serve();
    await execute(ask, 'add', { a: 1, b: 2 });
    await execute(ask, 'add', {});
    await execute(ask, 'wipe', { what: 'x' });
    expect((await ask('/api/stats', { token })).json).toMatchObject({
      approvalsWaiting: 1,
      calls: {
        count: 3,
        byOutcome: { done: 1, invalid_input: 1, waiting: 1 },
        byTool: [
          { tool: 'add', count: 2, failed: 1 },
          { tool: 'wipe', count: 1, failed: 0 },
        ],
      },
    });
  });
});

describe('health', () => {
  it('ready = store reachable and every source has a list, cached or fetched, or has failed', async () => {
    const { ask, crib } = await serve();
    expect((await ask('/readyz')).json).toEqual({ ok: true });
    await crib.store?.close();
    const heard = await ask('/readyz');
    expect(heard).toMatchObject({ status: 503, json: { error: { code: 'unavailable' } } });
    expect(heard.text).not.toContain('memory');
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('is not ready while a source is still being listed', async () => {
    const state = { state: 'starting' as 'starting' | 'ready' };
    const slow = {
      name: 'slow',
      start: async () => ({
        specs: () => [],
        onChange: () => () => {},
        status: () => ({ ...state }),
        close: async () => {},
      }),
    };
    const { ask } = await serve({ crib: { sources: [slow] } });
    expect((await ask('/readyz')).status).toBe(503);
    state.state = 'ready';
    expect((await ask('/readyz')).status).toBe(200);
  });

  it('routes that need the store say that it does not answer, without its address', async () => {
    const { ask, crib, token } = await serve();
    await execute(ask, 'add', { a: 1, b: 2 });
    await crib.store?.close();
    for (const path of [
      '/api/approvals',
      '/api/calls',
      '/api/keys',
      '/api/specs',
      '/api/stats',
      '/api/audit/verify',
      '/api/results/x',
      '/api/calls/x',
    ]) {
      const heard = await ask(path, { token });
      expect(heard, path).toMatchObject({ status: 503, json: { error: { code: 'unavailable', retryable: true } } });
      expect(heard.text).not.toMatch(/memory|sqlite|closed/);
    }
  });

  it('metrics for Prometheus, if they are counted', async () => {
    const { ask, token } = await serve();
    await execute(ask, 'add', { a: 1, b: 2 });
    const heard = await ask('/metrics', { token });
    expect(heard.text).toContain('toolcrib_calls_total{tool="add"');
    expect(heard.headers.get('content-type')).toMatch(/^text\/plain/);
    const off = await serve({ config: 'extensions: { metrics: false }\n' });
    expect((await off.ask('/metrics', { token: off.token })).status).toBe(404);
  });
});

describe('sources', () => {
  it('have the output of their processes, without secrets', async () => {
    vi.stubEnv('REST_SOURCE_SECRET', 'hunter2hunter2');
    onTestFinished(() => void vi.unstubAllEnvs());
    const config =
      'secrets: { key: { env: REST_SOURCE_SECRET } }\nmcpServers: { noisy: { command: node, args: ["-e", "console.error(\'it says hunter2hunter2\')"] } }\n';
    const { ask, token } = await serve({ config });
    const { json } = await ask('/api/sources/noisy/output', { token });
    expect(json.output).toMatch(/^it says .+/);
    expect(json.output).not.toContain('hunter2');
    expect((await ask('/api/sources/stored/output', { token })).json).toEqual({ output: '' });
    expect((await ask('/api/sources/nobody/output', { token })).status).toBe(404);
  });

  it('are reloaded one by one', async () => {
    const { ask, token, crib } = await serve();
    await crib.store?.specs.put(
      { name: 'kept', description: 'x', run: { kind: 'http', url: 'https://x.test' } },
      'test',
    );
    expect((await ask('/api/sources/stored/reload', { method: 'POST', token })).status).toBe(200);
    expect(crib.get('kept')).toBeDefined();
    expect((await ask('/api/sources/nobody/reload', { method: 'POST', token })).status).toBe(404);
    expect((await ask('/api/sources', { token })).json.sources).toContainEqual({
      name: 'stored',
      state: 'ready',
      toolCount: 1,
      tokens: expect.any(Number),
    });
  });
});
