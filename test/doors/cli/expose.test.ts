import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

const config = OFFICE['toolcrib.yaml'].replace(
  'writer: {}',
  'writer: {}\n  agent: { exclude: [fail], essential: [reading], expose: search }',
);
const office = createWorkshop({ ...OFFICE, 'toolcrib.yaml': config });
afterAll(office.remove);

type Named = readonly { readonly name: string }[];
const namesIn = (entries: Named) => entries.map(({ name }) => name).sort();
const SHOWN = ['add', 'call_tool', 'echo', 'list_bundles', 'search_tools'];

describe('a profile that exposes search, on the command line', () => {
  it.each(['anthropic', 'mcp'])('list --format %s prints the definitions for a model', async (format) => {
    const tools = (await office.json(['list', '--profile', 'agent', '--format', format])) as Named;
    expect(namesIn(tools)).toEqual(SHOWN);
  });

  it('list shows every tool', async () => {
    const { tools } = (await office.json(['list', '--profile', 'agent'])) as { tools: Named };
    expect(namesIn(tools)).toEqual([...SHOWN, 'wait', 'wipe'].sort());
  });

  it('search finds the tools of the profile, with scores and reasons', async () => {
    const { results } = (await office.json(['search', 'wipe', '--profile', 'agent', '--limit', '1'])) as {
      results: Named;
    };
    expect(results).toEqual([
      {
        name: 'wipe',
        score: expect.any(Number),
        description: 'Remove everything',
        bundle: 'office',
        why: expect.any(String),
      },
    ]);
  });

  it('search --expand adds tools that belong with the hits, and none that the profile hides', async () => {
    const found = async (...more: string[]) => {
      const words = ['search', 'wipe', '--profile', 'agent', '--limit', '1', ...more];
      return namesIn(((await office.json(words)) as { results: Named }).results);
    };
    expect(await found()).toEqual(['wipe']);
    expect(await found('--expand')).toEqual(['add', 'echo', 'wait', 'wipe']);
  });

  it('search --goal finds a tool for each step', async () => {
    const goal = ['search', '--goal', 'wipe everything, then add two numbers', '--limit', '2'];
    const { results } = (await office.json(goal)) as { results: Named };
    expect(namesIn(results)).toEqual(['add', 'wipe']);
    for (const wrong of [['search'], [...goal, 'words']]) expect(await office.run(wrong)).toMatchObject({ code: 2 });
  });

  it('search without results says so, and prints an empty list as JSON', async () => {
    const words = ['search', 'zzzz', 'qqqq', '--profile', 'agent'];
    expect(await office.run(words)).toMatchObject({ code: 0, stdout: '', stderr: 'No matching tool found.\n' });
    expect(await office.json(words)).toEqual({ results: [], confidence: 'low' });
  });

  it('search without a clear match says so, and shows at most three tools', async () => {
    const words = ['search', 'knit', 'a', 'woollen', 'jumper'];
    const { code, stdout, stderr } = await office.run(words);
    expect([code, stderr]).toEqual([0, 'No tool clearly fits; nearest:\n']);
    const [head, ...rows] = stdout.trim().split('\n');
    expect(head).toMatch(/^SCORE/);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThanOrEqual(3);
    expect(await office.json(words)).toMatchObject({ confidence: 'low', note: 'No tool clearly fits; nearest:' });
    expect(await office.json(['search', 'wipe'])).toMatchObject({ confidence: 'high' });
  });

  it('call call_tool runs the tool that it names, under the same rules', async () => {
    const call = (name: string, given: object) =>
      office.json(['call', 'call_tool', '--profile', 'agent', '--args', JSON.stringify({ name, arguments: given })]);
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ ok: true, data: 3 });
    expect(await call('wipe', { what: 'x' })).toMatchObject({ status: 'waiting', waiting: { for: 'approval' } });
    expect(await call('fail', {})).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('without a profile the search tools do not exist', async () => {
    const { tools } = (await office.json(['list'])) as { tools: Named };
    expect(namesIn(tools)).toEqual(['add', 'echo', 'fail', 'wait', 'wipe']);
  });
});

describe('scripts on the command line', () => {
  it('script runs a file under the profile, with its input, and exits by its outcome', async () => {
    office.write(
      'sum.ts',
      'const sum: number = await tools.add({ a: input.a, b: 2 }); console.log("added"); return { sum };',
    );
    const ran = await office.run(['script', 'sum.ts', 'a=1', '--profile', 'writer']);
    expect(ran).toMatchObject({ code: 0, stdout: '{"sum":3}\n' });
    expect(ran.stderr).toContain('added');
    expect(await office.json(['script', 'sum.ts', '--args', '{"a":5}'])).toMatchObject({ ok: true, data: { sum: 7 } });
    const hidden = await office.run(['script', '-', '--profile', 'reader'], {
      input: 'return tools.wipe({ what: "x" })',
    });
    expect(hidden).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown_tool') });
    expect(await office.run(['script', 'gone.js'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('gone.js'),
    });
  });

  it('script asks for approval of inner calls: --yes gives it, without it the script waits', async () => {
    office.write('wipe.js', 'return tools.wipe({ what: "x" })');
    expect(await office.run(['script', 'wipe.js', '--yes'])).toMatchObject({ code: 0, stdout: 'wiped x\n' });
    const waits = await office.run(['script', 'wipe.js']);
    expect(waits).toMatchObject({ code: 1, stderr: expect.stringContaining('Then run it: toolcrib script wipe.js') });
  });

  it('types prints the declarations of a profile, or writes them to a file', async () => {
    const { stdout } = await office.run(['types', '--profile', 'reader']);
    expect(stdout).toContain('  /** Add two numbers */\n  add(input: { a: number; b: number }): Promise<number>;');
    expect(stdout).not.toContain('wipe');
    expect(await office.run(['types', '--out', 'tools.d.ts'])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(office.folder, 'tools.d.ts'), 'utf8')).toContain('wipe(input: { what: string })');
    expect(await office.run(['types', '--out', 'no/such/folder.d.ts'])).toMatchObject({ code: 1 });
  });

  it('types with words or --goal prints the tools that the request needs, within a number of tokens', async () => {
    const declared = async (...more: string[]) => {
      const { types, tools } = (await office.json(['types', ...more])) as { types: string; tools: number };
      const names = [...types.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name);
      expect(names).toHaveLength(tools);
      return names;
    };
    expect(await declared('remove', 'everything', '--limit', '1')).toEqual(['wipe']);
    expect((await declared('add', 'two', 'numbers'))[0]).toBe('add');
    const goal = ['--goal', 'wipe everything, then add two numbers', '--limit', '2'];
    expect((await declared(...goal)).toSorted()).toEqual(['add', 'wipe']);
    expect(await declared(...goal, '--max-tokens', '30')).toHaveLength(1);
    expect(await declared('--max-tokens', '1')).toEqual([]);
    const cut = await office.run(['types', ...goal, '--max-tokens', '30']);
    expect(cut.stderr).toContain('1 more tool does not fit into 30 tokens');
    expect(await declared('wipe', '--profile', 'reader')).not.toContain('wipe');
    for (const wrong of [
      [...goal, 'words'],
      ['--max-tokens', 'many'],
      ['--limit', '3'],
    ])
      expect(await office.run(['types', ...wrong])).toMatchObject({ code: 2 });
  });
});
