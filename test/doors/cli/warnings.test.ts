import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createWorkshop, type Workshop } from './workshop.ts';

const made: Workshop[] = [];
const workshop = (files: Readonly<Record<string, string>>) => {
  const created = createWorkshop(files);
  made.push(created);
  return created;
};
afterAll(() => {
  for (const created of made) created.remove();
});

const GOOD = '{ name: good, description: Good, run: { kind: http, url: "https://x.y" } }';
/** Something of every kind that is told: an entry, a source, a file, a tool, a selector, a name. */
const TROUBLED = {
  'toolcrib.yaml': `sources:
  entry: { url: "https://x.y" }
  gone: { openapi: ./gone.yaml }
  files: { files: ./specs }
  started: { mcp: { command: ${JSON.stringify(process.execPath)}, args: [./started.js] } }
tools:
  - { name: "a b", description: x, run: { kind: http, url: "https://x.y" } }
  - { name: pipe, description: x, run: { kind: shell, command: "a | b" } }
  - ${GOOD}
profiles: { ops: { include: ["nothing_*"], essential: [of_modules] }, usual: { active: [files] } }
defaultProfile: usual
bundles: { of_modules: { include: ["good"] } }
access: { keys: true, roles: { dev: { profiles: [ops] } } }
`,
  'specs/a.yaml': `tools: [${GOOD}]\n`,
  'specs/b.yaml': 'tools: [',
  'started.js': `require('node:fs').writeFileSync(__dirname + '/started', ''); process.exit(1);\n`,
};

describe('warnings', () => {
  it('are printed once per problem and run', async () => {
    const { code, stderr } = await workshop(TROUBLED).run(['list']);
    expect(code).toBe(0);
    const told = stderr.trimEnd().split('\n');
    const about = [
      '"entry"',
      'gone.yaml',
      'specs/b.yaml',
      'tools[0].name',
      '"pipe"',
      'nothing_*',
      '"of_modules" is essential',
      '"good" comes from both',
    ];
    for (const word of about)
      expect(
        told.filter((line) => line.includes(word)),
        word,
      ).toHaveLength(1);
    expect(told.filter((line) => /started\b/.test(line))).toHaveLength(1);
    expect(new Set(told).size).toBe(told.length);
    expect(told).toHaveLength(about.length + 1);
  });

  it.each(['--quiet', '-q'])('are not printed with %s', async (flag) => {
    const shop = workshop(TROUBLED);
    expect(await shop.run(['list', flag])).toEqual({ code: 0, stdout: expect.stringContaining('good'), stderr: '' });
    expect(await shop.run(['call', 'nothing', flag])).toMatchObject({
      stderr: expect.stringMatching(/tool "nothing" was not found/),
    });
  });

  it.each([
    [['keys'], 0],
    [['keys', 'create', '--name', 'ci', '--role', 'dev'], 0],
    [['approvals'], 0],
    [['approvals', '--state', 'all', '--json'], 0],
    [['audit'], 0],
    [['audit', 'verify'], 0],
    [['calls'], 0],
    [['specs'], 0],
    [['specs', 'export'], 0],
    [['help'], 0],
  ] as const)('are not printed, and no server starts, for commands without sources: %j', async (args, expected) => {
    const shop = workshop(TROUBLED);
    const { code, stderr } = await shop.run(args);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.not.stringContaining('warning') });
    expect(existsSync(join(shop.folder, 'started'))).toBe(false);
  });

  it('with line breaks of others are not taken for several warnings', async () => {
    const { stderr } = await workshop({
      'toolcrib.yaml': `sources:\n  m: { modules: [./m.mjs] }\ntools: [${GOOD}]\n`,
      'm.mjs': `throw new Error('broken\\r\\nwarning: forged\\nerror: forged');\n`,
    }).run(['list']);
    expect(stderr).toMatch(/^warning: .*broken\n {2}warning: forged\n {2}error: forged/);
  });

  it('do not change the stored names for completion if no source was read', async () => {
    const shop = workshop({ 'toolcrib.yaml': `tools: [${GOOD}]\n` });
    await shop.run(['list']);
    await shop.run(['keys']);
    expect((await shop.run(['__complete', 'show', 'go'])).stdout).toContain('good');
  });

  it('about the store are printed by commands that need it', async () => {
    const shop = workshop({ 'toolcrib.yaml': `store: { url: "sqlite:./gone/crib.db" }\n`, gone: 'a file' });
    expect(await shop.run(['keys'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: /) });
  });
});

describe('toolcrib list and search', () => {
  it.each([['list'], ['list', '--json'], ['list', '--format', 'openai'], ['search', 'good']])(
    'fail if every source failed, and name the sources: %s',
    async (...args) => {
      const config =
        'sources: { one: { url: "https://x.y" }, two: { files: ./gone } }\nprofiles: { p: { expose: search } }\n';
      const shop = workshop({ 'toolcrib.yaml': config, 'package.json': '{}' });
      const { code, stdout, stderr } = await shop.run([...args, '--quiet']);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(
        'error: No tools available: the sources one, two failed. "toolcrib sources" shows the reason.\n',
      );
    },
  );

  it('print an empty list if sources work but have no tools, or none matches', async () => {
    const empty = workshop({ 'toolcrib.yaml': 'sources: { two: { files: ./specs } }\n', 'specs/.keep': '' });
    expect(await empty.run(['list'])).toEqual({ code: 0, stdout: '', stderr: 'No tools found.\n' });
    const some = workshop({ 'toolcrib.yaml': `sources: { two: { files: ./gone } }\ntools: [${GOOD}]\n` });
    expect(await some.run(['list', '--tag', 'x', '-q'])).toEqual({ code: 0, stdout: '', stderr: 'No tools found.\n' });
  });
});
