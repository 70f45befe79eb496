import { describe, expect, it } from 'vitest';
import { folderWith } from '../../crib/workshop.ts';
import { serve } from './served.ts';

describe('GET /api/configuration', () => {
  it('shows each value with its place, and nothing that may be a secret', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
defaultProfile: usual
profiles: { usual: { include: [add] } }
secrets: { github: { env: GITHUB_TOKEN } }
sources:
  gh:
    mcp:
      command: no-such-program
      args: ["--token", "swordfish2", "--api-key=swordfish3", "--port", "80"]
      env: { NAME: swordfish4, REF: "\${secret:github}", DEF: "\${NO_SUCH:-swordfish8}" }
  web: { http: "https://user:swordfish5@127.0.0.1:1/specs.json", headers: { Authorization: "Bearer swordfish6" } }
mcpServers: { pasted: { command: no-such-program, env: { API_KEY: swordfish7 } } }
access: { keys: true }
`,
    });
    const { ask, token } = await serve({ folder, crib: { background: true } });
    const { status, json, text } = await ask('/api/configuration', { token });
    expect(status).toBe(200);
    expect(text).not.toContain('swordfish');
    const values = new Map(json.values.map(({ path, ...rest }: { path: string }) => [path, rest]));
    expect(values.get('/defaultProfile')).toEqual({ value: 'usual', from: 'toolcrib.yaml:2' });
    expect(values.get('/sources/gh/mcp/args')).toMatchObject({
      value: ['--token', '[hidden]', '--api-key=[hidden]', '--port', '80'],
    });
    expect(values.get('/sources/gh/mcp/env/REF')).toMatchObject({ value: `\${secret:github}` });
    expect(values.get('/sources/gh/mcp/env/NAME')).toMatchObject({ value: '[hidden]' });
    expect(values.get('/secrets/github/env')).toMatchObject({ value: 'GITHUB_TOKEN' });
    expect(json.files).toEqual([expect.stringContaining('toolcrib.yaml')]);
  });
});

describe('GET /api/check and /api/doctor', () => {
  it('report problems of the configuration and of this machine', async () => {
    const { ask, token } = await serve({
      config: 'tools: [{ name: add, description: x, run: { kind: shell, command: [echo] } }]',
    });
    const check = (await ask('/api/check', { token })).json;
    expect(check).toMatchObject({
      ok: false,
      configuration: { ok: true },
      conflicts: [expect.stringContaining('"add"')],
    });
    const doctor = (await ask('/api/doctor', { token })).json;
    expect(doctor.checks.map(({ name }: { name: string }) => name)).toEqual([
      'store',
      'versions',
      'clock',
      'sandbox',
      'python',
      'sources',
      'tools',
      'folder',
    ]);
    for (const { state, fix } of doctor.checks) if (state === 'problem') expect(fix).toEqual(expect.any(String));
  });
});

describe('labels and evaluation', () => {
  it('measure search with stored labels, or with those of the request', async () => {
    const { ask, token } = await serve();
    expect((await ask('/api/evaluation', { body: {}, token })).status).toBe(400);
    const label = (query: string, relevant: readonly string[]) =>
      ask('/api/labels', { body: { query, relevant }, token });
    expect((await label('add two numbers', ['add'])).json.label).toMatchObject({ relevant: ['add'], by: 'operator' });
    await label('add two numbers', ['add', 'add', 'no_such']);
    const { labels } = (await ask('/api/labels', { token })).json;
    expect(labels).toEqual([expect.objectContaining({ relevant: ['add', 'no_such'] })]);
    const stored = (await ask('/api/evaluation', { body: {}, token })).json;
    expect(stored).toMatchObject({ requests: 1, unknown: ['no_such'], worst: [{ query: 'add two numbers' }] });
    const given = { requests: [{ query: 'add two numbers', relevant: ['add'] }], worst: 0 };
    expect((await ask('/api/evaluation', { body: given, token })).json).toMatchObject({ recall1: 1, worst: [] });
    for (const body of [
      { query: '', relevant: [] },
      { query: 'x' },
      { query: '\0', relevant: [] },
      { query: 'x', relevant: [5] },
    ])
      expect((await ask('/api/labels', { body, token })).status, JSON.stringify(body)).toBe(400);
    expect((await ask(`/api/labels/${labels[0].id}`, { method: 'DELETE', token })).json).toEqual({
      removed: [labels[0].id],
    });
    expect((await ask(`/api/labels/${labels[0].id}`, { method: 'DELETE', token })).status).toBe(404);
  });
});

describe('GET /api/sources', () => {
  it('tells what a source waits for while it starts', async () => {
    const { ask, crib, token } = await serve({
      config: 'mcpServers: { slow: { command: sleep, args: ["30"] } }',
      crib: { background: true },
    });
    const { sources } = (await ask('/api/sources', { token })).json;
    expect(sources.find(({ name }: { name: string }) => name === 'slow')).toMatchObject({
      state: 'starting',
      waitingFor: expect.any(String),
    });
    await crib.close();
  });
});
