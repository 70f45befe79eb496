import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MODES, SANDBOX, said, script, shellTool, shopWith, TEXT } from './shell-shop.ts';

type Json = Readonly<Record<string, unknown>>;

/** Sections in which what would run lies in `code`, with a mistake; a crib starts with those that only cost their source. */
const MISTAKEN: readonly (readonly [what: string, section: Json, doesStart: boolean])[] = [
  ['a source with a mistake beside its key', { sources: { s: { modules: './code', odd: 1 } } }, true],
  ['a source of a kind that is misspelt', { sources: { s: { moduls: './code' } } }, true],
  ['a source with a value of a wrong type', { sources: { s: { modules: './code', trust: 'perhaps' } } }, true],
  ['a source whose path is of a wrong type', { sources: { s: { files: { path: './code' } } } }, true],
  ['a server that is disabled', { mcpServers: { s: { command: './code/x.js', disabled: true } } }, true],
  ['sources written as a list', { sources: [{ modules: './code' }] }, false],
  ['a service beside a mistake', { services: { a: './code/x.js', b: 7 } }, false],
  ['an extension with an unknown key', { extensions: { a: { module: './code/x.js', odd: 1 } } }, false],
  ['an executor of a wrong type', { executors: { shell: { roots: ['.'] }, a: './code/x.js' } }, false],
  ['the command of a secret with an unknown key', { secrets: { a: { command: ['./code/x.js'], odd: 1 } } }, false],
  ['a service that cannot be imported', { services: { a: './code/x.js', b: './absent.js' } }, false],
];
const TOOLS = [
  script('attack', 'mkdir -p code && echo evil > code/x.js && echo WROTE'),
  shellTool('save', { path: TEXT }, { command: ['tee', '{path}'] }),
  script('fine', 'echo x > free.txt'),
];

describe.each(MODES)('%s', (_, sandbox) => {
  async function attack(rest: Json, reload: Json | undefined) {
    const files = { 'free.txt': '', 'code/x.js': 'export default [];\n' };
    const shop = await shopWith({ sandbox, roots: ['.'], tools: TOOLS, files, rest });
    const { crib, chest, folder } = shop;
    if (reload !== undefined) {
      const config = JSON.stringify({ tools: TOOLS, executors: { shell: { sandbox, roots: ['.'] } }, ...reload });
      writeFileSync(join(folder, 'toolcrib.json'), config);
      await crib.reload().catch(() => undefined); // refused, where the whole file is
    }
    if (sandbox === 'required') expect(said(await chest.call('attack', {}))).toMatch(/^tool_error/);
    const saved = await chest.call('save', { path: join(folder, 'code/x.js') });
    expect(said(saved)).toMatch(sandbox === 'required' ? /^tool_error/ : /controls what/);
    expect(readFileSync(join(folder, 'code/x.js'), 'utf8')).toBe('export default [];\n');
    expect(said(await chest.call('fine', {}))).toBe('');
  }

  it.each(MISTAKEN.filter(([, , doesStart]) => doesStart))(
    'commands cannot write what %s names, from the start',
    async (__, section) => {
      await attack(section, undefined);
    },
  );

  it.each(MISTAKEN)('commands cannot write what %s names, after an edit', async (__, section) => {
    await attack({}, section);
  });

  it('commands cannot write paths of a source whose entry is replaced by an invalid one', async () => {
    await attack({ sources: { s: { modules: './code' } } }, { sources: {}, services: { a: './absent.js' } });
  });
});

describe.skipIf(!SANDBOX.ok)('in a sandbox', () => {
  it('commands cannot read the variables file of a server with an error in its entry', async () => {
    const rest = { sources: { s: { mcp: { command: 'node', envFile: './server.env' }, odd: 1 } } };
    const tools = [script('look', 'cat server.env')];
    const { chest } = await shopWith({ sandbox: 'required', files: { 'server.env': 'TOKEN=abc\n' }, rest, tools });
    expect(said(await chest.call('look', {}))).not.toContain('abc');
  });
});
