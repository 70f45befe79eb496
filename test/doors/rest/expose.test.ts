import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { execute, type Served, type ServeOptions, serve } from './served.ts';

/** A crib behind HTTP with a profile that searches. */
async function serveSearch(options: ServeOptions = {}): Promise<Served> {
  const served = await serve({
    ...options,
    crib: {
      profiles: {
        agent: { exclude: ['secret_tool'], essential: ['reading'], active: ['reading'], expose: 'search' },
      },
    },
  });
  onTestFinished(served.crib.runParked());
  return served;
}

const byOperator = ({ ask, token }: Served) => {
  const get = async (path: string) => (await ask(path, { token })).json;
  const call = (name: string, args: unknown, more: object = {}) =>
    execute(ask, name, args, { profile: 'agent', ...more }, token);
  return { get, call };
};
const namesIn = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).sort();

describe('a profile that exposes search, over REST', () => {
  it('returns the definitions for a model in each vendor format', async () => {
    const { get } = byOperator(await serveSearch());
    const shown = ['add', 'call_tool', 'echo', 'list_bundles', 'long', 'read_result', 'search_tools'];
    const definitions = (format: string) => get(`/api/profiles/agent/definitions?format=${format}`);
    expect(namesIn((await definitions('anthropic')).tools)).toEqual(shown);
    expect(namesIn((await definitions('mcp')).tools)).toEqual(shown);
    const openai = (await definitions('openai')).tools.map((tool: { function: { name: string } }) => tool.function);
    expect(namesIn(openai)).toEqual(shown);
    const [{ functionDeclarations }] = (await definitions('gemini')).tools;
    expect(namesIn(functionDeclarations)).toEqual(shown);
    const profile = (await get('/api/profiles')).profiles.find(({ name }: { name: string }) => name === 'agent');
    expect(profile.toolCount).toBe(shown.length);
  });

  it('lists every active tool, however it is exposed', async () => {
    const { get } = byOperator(await serveSearch());
    const names = namesIn((await get('/api/tools?profile=agent')).tools);
    expect(names).toEqual(expect.arrayContaining(['fail_with', 'search_tools', 'tell']));
    expect(names).not.toContain('secret_tool');
  });

  it('finds the tools of the profile, active or not, and nothing else', async () => {
    const { get } = byOperator(await serveSearch());
    const { results, confidence } = await get('/api/search?profile=agent&q=wipe&limit=1');
    expect(confidence).toBe('high');
    expect(results).toEqual([
      {
        name: 'wipe',
        score: expect.any(Number),
        description: 'Remove everything',
        bundle: 'writing',
        why: expect.any(String),
      },
    ]);
    const expanded = await get('/api/search?profile=agent&q=add&limit=1&expand=true');
    expect(namesIn(expanded.results)).toEqual(['add', 'echo', 'long']);
    const hidden = await get('/api/search?profile=agent&q=secret_tool,%20not%20for%20everybody&limit=100');
    expect(namesIn(hidden.results)).not.toContain('secret_tool');
  });

  it('finds a tool for each step of a goal', async () => {
    const served = await serveSearch();
    const { get } = byOperator(served);
    const goal = 'wipe everything, then add two numbers';
    const found = await get(`/api/search?profile=agent&limit=2&goal=${encodeURIComponent(goal)}`);
    expect(namesIn(found.results)).toEqual(['add', 'wipe']);
    const { json } = await served.ask('/api/search', {
      token: served.token,
      body: { goal, limit: 2, profile: 'agent' },
    });
    expect(json).toEqual(found);
  });

  it('says if no tool clearly fits, and shows at most three', async () => {
    const { get } = byOperator(await serveSearch());
    const answer = await get('/api/search?q=knit%20a%20woollen%20jumper%20of%20numbers');
    expect(answer).toMatchObject({ confidence: 'low', note: 'No tool clearly fits; nearest:' });
    expect(answer.results.length).toBeGreaterThan(0);
    expect(answer.results.length).toBeLessThanOrEqual(3);
    expect(await get('/api/search?q=zzzz%20qqqq')).toEqual({ results: [], confidence: 'low' });
  });

  it.each(['q=', 'limit=1', 'q=x&limit=0', 'q=x&limit=101', 'q=x&expand=perhaps', `q=${'x'.repeat(4001)}`])(
    'a search with %.40s is refused',
    async (query) => {
      const { ask, token } = await serveSearch();
      expect(await ask(`/api/search?profile=agent&${query}`, { token })).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_input' } },
      });
    },
  );

  it('search_tools returns schemas, and call_tool runs a found tool under its own name', async () => {
    const served = await serveSearch();
    const { call, get } = byOperator(served);
    const { json } = await call('search_tools', { query: 'tell', limit: 1 });
    expect(json.data.tools).toMatchObject([{ name: 'tell', inputSchema: { type: 'object' } }]);
    const told = await call('call_tool', { name: 'tell', arguments: {} }, { conversation: 'c1' });
    expect(told).toMatchObject({
      status: 200,
      json: { ok: true, data: { profile: 'agent', conversation: 'c1', door: 'rest' } },
    });
    const { calls } = await get('/api/calls?tool=tell');
    expect(calls).toMatchObject([{ callId: told.json.callId, tool: 'tell', outcome: 'done' }]);
    expect((await get('/api/calls?tool=call_tool')).calls).toEqual([]);
  });

  it('execute_script runs a script where the profile exposes scripts; its calls are recorded below it', async () => {
    const served = await serve({ crib: { profiles: { agent: { exclude: ['secret_tool'], expose: 'script' } } } });
    const { call, get } = byOperator(served);
    const shown = namesIn((await get('/api/profiles/agent/definitions?format=mcp')).tools);
    expect(shown).toEqual(['execute_script', 'read_result', 'search_tools']);
    const code = 'return [await tools.add({ a: 1, b: 2 }), (await tools.tell()).door]';
    const { status, json } = await call('execute_script', { code });
    expect([status, json.data]).toEqual([200, [3, 'rest']]);
    const { calls } = await get('/api/calls?tool=add');
    expect(calls).toMatchObject([{ tool: 'add', parentId: json.callId, profile: 'agent' }]);
    const hidden = await call('execute_script', { code: 'return tools.secret_tool()' });
    expect(hidden).toMatchObject({ status: 200, json: { ok: false, error: { code: 'tool_error' } } });
    expect(await call('execute_script', { code: 'const = 1' })).toMatchObject({ status: 400 });
  });

  it('errors through call_tool have the status of the tool that it names', async () => {
    const { call } = byOperator(await serveSearch());
    expect(await call('call_tool', { name: 'secret_tool' })).toMatchObject({
      status: 404,
      json: { error: { code: 'unknown_tool' } },
    });
    expect(await call('call_tool', { name: 'add', arguments: { a: 'x' } })).toMatchObject({
      status: 400,
      json: { error: { issues: expect.arrayContaining([expect.objectContaining({ path: '/a' })]) } },
    });
    const late = await call('call_tool', { name: 'fail_with', arguments: { code: 'rate_limited' } });
    expect(late.status).toBe(429);
    expect(late.headers.get('retry-after')).toBe('2');
    for (const wrong of [{}, { name: 'call_tool' }, { name: 'add', arguments: 'x' }, { name: 'add', a: 1 }])
      expect((await call('call_tool', wrong)).status, JSON.stringify(wrong)).toBe(400);
  });

  it('a call through call_tool that waits for an approval is run by the server, once, as the tool that it names', async () => {
    const served = await serveSearch();
    const { ask, token, deeds } = served;
    const { call } = byOperator(served);
    const heard = await call('call_tool', { name: 'wipe', arguments: { what: 'all' } });
    expect(heard).toMatchObject({ status: 202, json: { waiting: { for: 'approval' } } });
    const { id } = heard.json.waiting;
    await ask(`/api/approvals/${id}`, { token, body: { decision: 'approve' } });
    const ended = await vi.waitFor(async () => {
      const { json } = await ask(`/api/calls/${heard.json.callId}`, { token });
      expect(json.state).toBe('ended');
      return json;
    });
    expect(ended).toMatchObject({ call: { tool: 'wipe', outcome: 'done' }, result: { ok: true } });
    const again = await call('call_tool', { name: 'wipe', arguments: { what: 'all' } }, { approvalId: id });
    expect(again).toMatchObject({ status: 200, json: { content: [{ text: 'wiped {"what":"all"}' }] } });
    expect(deeds.wiped).toEqual([{ what: 'all' }]);
  });

  it('two calls through call_tool with one key are one call', async () => {
    const served = await serveSearch();
    const { call } = byOperator(served);
    const more = { idempotencyKey: 'k1' };
    const first = await call('call_tool', { name: 'tell', arguments: {} }, more);
    const second = await call('call_tool', { name: 'tell', arguments: {} }, more);
    expect(first.json.ok && second.json.ok).toBe(true);
    expect(await call('call_tool', { name: 'tell', arguments: { other: 1 } }, more)).toMatchObject({ status: 409 });
  });

  it('a profile without search has neither search_tools nor call_tool', async () => {
    const { ask } = await serveSearch();
    for (const name of ['search_tools', 'call_tool', 'list_bundles']) {
      expect((await execute(ask, name, { query: 'x', name: 'add' })).status).toBe(404);
      expect((await ask(`/api/tools/${name}`)).status).toBe(404);
    }
  });
});
