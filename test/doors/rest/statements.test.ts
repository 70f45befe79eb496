import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { execute, serve } from './served.ts';

describe('A view keeps catalog order; an excluded tool is neither listed nor callable: `unknown_tool`, and the executor is not reached; the attempt is recorded.', () => {
  it('over REST', async () => {
    let runs = 0;
    const { ask, crib, token } = await serve();
    crib.unregister('secret_tool');
    crib.register({ name: 'secret_tool', description: 'x', run: () => void runs++ });
    const all = (await ask('/api/tools?limit=1000', { token })).json.tools.map(({ name }: { name: string }) => name);
    const seen = (await ask('/api/tools?limit=1000')).json.tools.map(({ name }: { name: string }) => name);
    expect(seen).toEqual(all.filter((name: string) => name !== 'secret_tool'));
    const { status, json } = await execute(ask, 'secret_tool', {});
    expect({ status, code: json.error.code }).toEqual({ status: 404, code: 'unknown_tool' });
    expect(json.error.message).toBe((await execute(ask, 'secret_fool', {})).json.error.message.replace('fool', 'tool'));
    expect(runs).toBe(0);
    for (const path of [
      '/api/tools/secret_tool',
      '/api/tools?pattern=secret*',
      '/api/search?q=secret_tool',
      '/api/bundles',
      '/api/profiles/usual/definitions',
      '/tools',
    ])
      expect((await ask(path)).text.replace('The tool \\"secret_tool\\" was not found', ''), path).not.toContain(
        'secret_tool',
      );
    expect(await crib.calls.get(json.callId)).toMatchObject({
      tool: 'secret_tool',
      caller: 'local',
      outcome: 'unknown_tool',
      door: 'rest',
    });
  });
});

describe("Approval: exactly one request carrying tool, arguments, caller and reason; approved -> runs; denied -> `denied`, not run; timed out -> `denied` saying so. A call waiting in memory whose asker is gone is refused; a parked one stays. A failure after approval is the tool's failure.", () => {
  it('exactly one request, however often it is sent; a parked one stays when its caller is gone', async () => {
    const { ask, token } = await serve();
    const sender = new AbortController();
    const first = ask('/api/tools/execute/wipe', { body: { arguments: { what: 'all' } }, signal: sender.signal });
    expect((await first).status).toBe(202);
    sender.abort();
    const again = await Promise.all([1, 2, 3].map(() => execute(ask, 'wipe', { what: 'all' })));
    for (const heard of again)
      expect(heard.json).toMatchObject({ callId: (await first).json.callId, waiting: (await first).json.waiting });
    expect((await ask('/api/approvals', { token })).json.approvals).toMatchObject([
      {
        tool: 'wipe',
        arguments: { what: 'all' },
        caller: { id: 'local' },
        reason: 'it is destructive',
        state: 'waiting',
        profile: 'usual',
      },
    ]);
  });
});

describe("No export (OpenAI, Anthropic, Gemini, MCP, REST, console, log, audit) contains how a tool runs (an operator's view may name its kind, nothing else of it) or a resolved secret. Returned objects cannot change the crib.", () => {
  it('over REST, for every caller', async () => {
    vi.stubEnv('REST_WEATHER_KEY', 'hunter2hunter2');
    onTestFinished(() => void vi.unstubAllEnvs());
    const config = `
secrets: { weather: { env: REST_WEATHER_KEY, hosts: [weather.test] } }
tools:
  - { name: weather, description: Tells the weather, run: { kind: http, method: GET, url: "https://weather.test/in-the-house/{city}", headers: { X-Inner-Key: "\${secret:weather}" } }, input: { type: object, properties: { city: { type: string } } } }
`;
    const { ask, token, crib } = await serve({ config });
    await execute(ask, 'weather', { city: 'Bern' });
    const paths = [
      '/api/tools?limit=1000',
      '/api/tools/weather',
      '/api/tools/weather/explain',
      '/api/search?q=weather',
      '/api/bundles',
      '/api/sources',
      '/api/specs',
      '/api/calls',
      '/api/stats',
      '/tools',
      '/openapi.json',
      '/metrics',
      ...['openai', 'anthropic', 'gemini', 'mcp'].map((format) => `/api/profiles/usual/definitions?format=${format}`),
    ];
    for (const path of paths)
      for (const as of [{ token }, {}]) {
        const { text } = await ask(path, as);
        expect(text, path).not.toMatch(/hunter2|weather\.test|in-the-house|Inner-Key|"run"/);
      }
    expect((await ask('/api/tools/weather', { token })).json.kind).toBe('http');
    expect((await ask('/api/tools/weather')).json).not.toHaveProperty('kind');
    expect(crib.get('weather')).toBeDefined();
  });
});
