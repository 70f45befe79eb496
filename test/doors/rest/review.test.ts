import { describe, expect, it } from 'vitest';
import { describeConfiguration } from '../../../src/crib/config/configuration-view.ts';
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

describe('a value of the configuration', () => {
  const SECRET = 'swordfish-9';
  const shownOf = (written: object) =>
    describeConfiguration({ file: 'x.yaml', files: [], written, locate: () => undefined } as never, (text) => text);

  it.each([
    [`https://example.com/mcp?api_key=${SECRET}&page=2`, 'https://example.com/mcp?api_key=[hidden]&page=2'],
    [`https://example.com/#access_token=${SECRET}`, 'https://example.com/#access_token=[hidden]'],
    [`postgres://ann@example.com/crib?password=${SECRET}`, 'postgres://[hidden]@example.com/crib?password=[hidden]'],
    [`--db=postgres://ann:${SECRET}@example.com/crib`, '--db=postgres://[hidden]@example.com/crib'],
    [`\${DB:-postgres://ann:${SECRET}@example.com/crib}`, `\${DB:-postgres://[hidden]@example.com/crib}`],
    [`curl -H "X-Api-Key: ${SECRET}" https://example.com`, 'curl -H "X-Api-Key: [hidden]" https://example.com'],
    [`Authorization: Bearer ${SECRET}`, 'Authorization: Bearer [hidden]'],
    [`Cookie: sid=${SECRET}; other=${SECRET}`, 'Cookie: [hidden]'],
    [`GITHUB_TOKEN=${SECRET} node server.js`, 'GITHUB_TOKEN=[hidden] node server.js'],
    [`ghp_${'a1'.repeat(18)}`, '[hidden]'],
    [`Authorization: Bearer \${secret:github}`, `Authorization: Bearer \${secret:github}`],
    [`--token=\${GITHUB_TOKEN}`, `--token=\${GITHUB_TOKEN}`],
    ['https://example.com/keys?page=2', 'https://example.com/keys?page=2'],
  ])('hides what may be a credential inside of a text: %s', (text, shown) => {
    const { values } = shownOf({ sources: { one: { url: text, args: ['x', text], command: [text] } } });
    expect(values.map(({ value }) => value)).toEqual([shown, ['x', shown], [shown]]);
  });

  it('hides addresses of webhooks, users with passwords, and lists of variables', () => {
    const { values } = shownOf({
      webhooks: [{ url: `https://hooks.example.com/services/${SECRET}` }],
      sources: { one: { args: ['-u', `ann:${SECRET}`], env: [`NAME=${SECRET}`] } },
    });
    expect(values.map(({ value }) => value)).toEqual([
      [{ url: 'https://hooks.example.com/[hidden]' }],
      ['-u', '[hidden]'],
      ['[hidden]'],
    ]);
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
