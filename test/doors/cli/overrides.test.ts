import { afterAll, describe, expect, it } from 'vitest';
import { createWorkshop } from './workshop.ts';

const TOOLS = `
export const create_issue = {
  name: 'create_issue', description: 'Open an issue',
  input: { type: 'object', properties: { repo: { type: 'string' }, title: { type: 'string' }, verbose: { type: 'boolean', default: true } }, required: ['repo', 'title'] },
  examples: [{ request: 'broken link', input: { repo: 'some/where', title: 'Broken link' } }],
  execute: (input) => input,
};
`;
const configuration = (overrides: string, more = '') => `
sources:
  gh: { modules: ./tools, overrides: ${overrides} }
${more}`;
const FIXED =
  '{ create_issue: { fixedArguments: { repo: acme/site }, hiddenArguments: verbose, meta: { author: Ada } } }';

const desk = createWorkshop({ 'toolcrib.yaml': configuration(FIXED), 'tools/gh.mjs': TOOLS });
afterAll(desk.remove);

describe('withheld arguments', () => {
  it('list --format shows the schema without them', async () => {
    const { code, stdout } = await desk.run(['list', '--format', 'openai']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        function: {
          name: 'create_issue',
          parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
        },
      },
    ]);
    expect(stdout).not.toMatch(/repo|verbose|acme/);
  });

  it('show names them, and shows what callers see', async () => {
    const shown = await desk.json(['show', 'create_issue']);
    expect(shown).toMatchObject({
      fixedArguments: ['repo'],
      hiddenArguments: ['verbose'],
      meta: { author: 'Ada' },
      inputSchema: { properties: { title: { type: 'string' } }, required: ['title'] },
      examples: [{ input: { title: 'Broken link' } }],
    });
    const { stdout } = await desk.run(['show', 'create_issue']);
    expect(stdout).toMatch(/fixedArguments +repo\n/);
    expect(JSON.stringify(shown) + stdout).not.toContain('acme');
  });

  it('explain names them', async () => {
    const { stdout } = await desk.run(['explain', 'create_issue']);
    expect(stdout).toContain('arguments fixed by overrides: repo\narguments hidden by overrides: verbose\n');
    expect(await desk.json(['explain', 'create_issue'])).toMatchObject({
      withheld: { fixed: ['repo'], hidden: ['verbose'] },
    });
  });

  it('call sends them, and does not accept them', async () => {
    const { code, stdout } = await desk.run(['call', 'create_issue', 'title=Broken']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ repo: 'acme/site', title: 'Broken', verbose: true });
    const refused = await desk.run(['call', 'create_issue', 'title=Broken', 'repo=evil/site']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('/repo: is not a known argument');
  });

  it('check reports a glob that matches no tool, and a source with impossible overrides', async () => {
    const idle = createWorkshop({
      'toolcrib.yaml': configuration('{ "creat_*": { tags: [x] } }'),
      'tools/gh.mjs': TOOLS,
    });
    const wrong = createWorkshop({
      'toolcrib.yaml': configuration('{ "*": { hiddenArguments: [titel] } }'),
      'tools/gh.mjs': TOOLS,
    });
    try {
      expect(await idle.json(['check'])).toMatchObject({
        ok: false,
        problems: ['The overrides "creat_*" of source "gh" match no tool.'],
      });
      expect(await wrong.json(['check'])).toMatchObject({
        ok: false,
        sources: [{ state: 'failed', reason: expect.stringContaining('Did you mean "title"?') }],
      });
    } finally {
      idle.remove();
      wrong.remove();
    }
  });
});

describe('onDuplicate: error', () => {
  it('a clash makes the configuration unusable: exit 2, both owners named', async () => {
    const clash = createWorkshop({
      'toolcrib.yaml': configuration('{}', '  two: { modules: ./tools }\nonDuplicate: error\n'),
      'tools/gh.mjs': TOOLS,
    });
    try {
      const { code, stderr } = await clash.run(['check']);
      expect(code).toBe(2);
      expect(stderr).toContain('"create_issue" comes from both gh and two; prefix one of them.');
    } finally {
      clash.remove();
    }
  });
});
