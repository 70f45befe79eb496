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
const MCP = 'mcp: { url: "http://127.0.0.1:9/mcp" }';

type Row = readonly [what: string, config: string, ...sentences: string[]];

/** What cannot be used at all: no command works, and each says where the mistake is. */
const UNUSABLE: readonly Row[] = [
  ['a tab', 'sources:\n\tx: {}\n', 'toolcrib.yaml:2:1: Tabs are not allowed as indentation'],
  ['a typing mistake in a key', 'profils: {}\n', 'toolcrib.yaml:1:1: profils is not known', 'Did you mean "profiles"?'],
  [
    'a word that is not one of those',
    'onDuplicate: skp\n',
    'toolcrib.yaml:1:14: onDuplicate must be one of skip, error',
  ],
  ['a number as text', 'server: { port: "80" }\n', 'toolcrib.yaml:1:17: server.port', 'remove the quotes'],
  ['a list for a map', 'profiles: []\n', 'toolcrib.yaml:1:11: profiles must be a map, got a list'],
  [
    'an unknown defaultProfile',
    '# first\ndefaultProfile: asistant\nprofiles: { assistant: {} }\n',
    'toolcrib.yaml:2:17: defaultProfile names "asistant", which does not exist. Did you mean "assistant"?',
  ],
];

/** What costs one source or one tool. */
const PARTIAL: readonly Row[] = [
  [
    'a server without mcp, by url',
    'sources:\n  bad: { url: "https://x.y" }\n',
    'toolcrib.yaml:2: ',
    'bad: { mcp: { url: ... } }',
    'under mcpServers',
  ],
  [
    'a server without mcp, by command',
    'sources:\n  bad: { command: npx }\n',
    'toolcrib.yaml:2: ',
    'bad: { mcp: { command: ... } }',
  ],
  [
    'a server as one text',
    'sources:\n  bad: npx -y x\n',
    'toolcrib.yaml:2: ',
    'bad: { mcp: { command: ..., args: [...] } }',
  ],
  ['an address as one text', 'sources:\n  bad: https://x.y/openapi.json\n', 'toolcrib.yaml:2: ', '{ openapi: ... }'],
  [
    'a shell string as the program of a server',
    'sources:\n  bad: { mcp: { command: npx -y x } }\n',
    'toolcrib.yaml:2: ',
    'write command: npx, and its arguments as a list under args',
  ],
  [
    'the same in a pasted block',
    'mcpServers:\n  bad: { command: npx -y x }\n',
    'toolcrib.yaml:2: ',
    'write command: npx, and its arguments as a list under args',
  ],
  ['a program that is not there', 'sources:\n  bad: { mcp: { command: npxx } }\n', 'program "npxx" not found'],
  ['a description that is not there', 'sources:\n  bad: { openapi: ./api.yaml }\n', 'api.yaml: it does not exist.'],
  ['Python that is not there', 'sources:\n  bad: { python: ./tools.py }\n', 'tools.py does not exist'],
  ['modules that are not there', 'sources:\n  bad: { modules: ./tools }\n', 'tools does not exist'],
  [
    'a typing mistake in a source',
    'sources:\n  bad: { files: ./tools, trsut: true }\n',
    'toolcrib.yaml:2: ',
    'Did you mean "trust"?',
  ],
];

describe('a configuration that cannot be used', () => {
  it.each(UNUSABLE)('names the place of the error and exits with 2: %s', async (_, config, ...sentences) => {
    const shop = workshop({ 'toolcrib.yaml': config });
    for (const command of ['check', 'list']) {
      const { code, stdout, stderr } = await shop.run([command]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      for (const sentence of sentences) expect(stderr).toContain(sentence);
    }
  });
});

describe('a configuration with a bad source', () => {
  it.each(PARTIAL)('lists it as failed, reports it once and keeps the others: %s', async (_, config, ...sentences) => {
    const shop = workshop({ 'toolcrib.yaml': `${config}tools: [${GOOD}]\n` });
    const check = await shop.run(['check']);
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(/^Configuration {2}1 problem found\n/);
    expect(check.stdout).toMatch(/bad +failed +0 +0 +see Problems\n/);
    const [, problems = ''] = check.stdout.split('\nProblems\n');
    expect(problems.trimEnd().split('\n')).toHaveLength(1);
    for (const sentence of sentences) expect(problems).toContain(sentence);
    expect(problems).not.toMatch(/ENO[A-Z]+/);
    expect(check.stderr).toBe('1 problem found: 1 under Problems; not ready: bad.\n');

    const sources = await shop.run(['sources']);
    expect({ code: sources.code, stderr: sources.stderr }).toEqual({ code: 0, stderr: '' });
    for (const sentence of sentences) expect(sources.stdout).toContain(sentence);

    const list = await shop.run(['list']);
    expect(list.stdout).toMatch(/^good /m);
    expect(list.stderr.match(/^warning: /gm)).toHaveLength(1);
    for (const sentence of sentences) expect(list.stderr).toContain(sentence);
  });

  it('reports it as JSON', async () => {
    const shop = workshop({ 'toolcrib.yaml': `sources:\n  bad: { url: "https://x.y" }\n  gone: { ${MCP} }\n` });
    expect(await shop.json(['check'])).toMatchObject({
      ok: false,
      configuration: { ok: false, message: expect.stringMatching(/^toolcrib\.yaml:2: Source "bad": /) },
      sources: [
        { name: 'bad', state: 'failed', reason: expect.stringMatching(/^toolcrib\.yaml:2: /) },
        { name: 'gone', state: 'failed' },
      ],
      problems: [expect.stringMatching(/^toolcrib\.yaml:2: Source "bad": /), expect.stringContaining('gone')],
    });
    const gone = workshop({ 'toolcrib.yaml': `sources: { gone: { ${MCP} } }\n` });
    expect(await gone.json(['check'])).toMatchObject({ ok: false, configuration: { ok: true } });
  });
});

describe('a configuration with a bad tool', () => {
  it.each<Row>([
    [
      'a bad name',
      '{ name: "a b", description: x, run: { kind: http, url: "https://x.y" } }',
      'toolcrib.yaml:2: ',
      'tools[0].name must be letters',
    ],
    [
      'a shell string',
      '{ name: a, description: x, run: { kind: shell, command: "a | b" } }',
      'toolcrib.yaml, line 2',
      '[sh, -c, "a | b"]',
    ],
  ])('keeps the others and reports the number and places of problems: %s', async (_, tool, ...sentences) => {
    const shop = workshop({ 'toolcrib.yaml': `tools:\n- ${tool}\n- ${GOOD}\n- ${GOOD}\n` });
    const { code, stdout, stderr } = await shop.run(['check']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Configuration {2}2 problems found\n/);
    expect(stdout).toMatch(/inline +ready +2 +\d+ +see Problems\n/);
    for (const sentence of sentences) expect(stdout).toContain(sentence);
    expect(stderr).toBe('2 problems found: 1 under Name conflicts; 1 under Problems.\n');
  });
});
