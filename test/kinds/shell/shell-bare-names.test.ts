import { existsSync, linkSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { said, shellTool, shopWith, TEXT } from './shell-shop.ts';

const REFUSED = /^invalid_input: .*controls what the crib runs and which no tool may write/;
const FILES = { 'mods/tool.js': 'export const a = 1;', 'work/a.txt': 'A', 'package.json': '{}' };
const REST = { sources: { mods: { modules: './mods' }, later: { files: './specs' } } };
const READS = { effects: { readOnly: true } };

/** Tools that write what they are told, under names that are not taken for paths. */
const TOOLS = [
  shellTool('write', { name: TEXT }, { command: ['tee', '--', '{name}'], stdin: 'evil' }),
  shellTool('dashed', { o: TEXT }, { command: ['sort', '/dev/null', '{o}'], allowDashes: ['o'] }),
  shellTool('option', { target: TEXT }, { command: ['dd', 'status=none', 'if=/dev/null', 'of={target}'] }),
  shellTool('glued', { a: TEXT, b: TEXT }, { command: ['tee', '--', '{a}{b}'], stdin: 'evil' }),
  shellTool(
    'listed',
    { names: { type: 'array', items: TEXT } },
    { command: ['tee', '--', ['{names}']], stdin: 'evil' },
  ),
  shellTool('told', { dest: TEXT }, { command: ['sh', '-c', 'echo evil > "$AT"'], env: { AT: '{dest}' } }),
  shellTool('changing', { dest: TEXT }, { command: ['touch', '{dest}'] }, { effects: { readOnly: false } }),
  shellTool('asked', { dest: TEXT }, { command: ['touch', '{dest}'] }, { policy: { approval: 'always' } }),
  shellTool('reading', { name: TEXT }, { command: ['echo', '{name}'] }, READS),
  shellTool('copied', { name: TEXT }, { command: ['echo', '{name}'], reads: ['name'] }),
  shellTool('saved', { text: TEXT }, { command: ['cat'], stdin: '{text}' }),
];

const shop = () => shopWith({ sandbox: 'none', tools: TOOLS, files: FILES, rest: REST });

describe('without a sandbox, an argument that is not known as a path', () => {
  it('does not lead a tool that may write to a protected path', async () => {
    const { crib, folder } = await shop();
    let asked = 0;
    const chest = await crib.open(undefined, { id: 'ann', approve: async () => ++asked > 0 });
    symlinkSync('../mods', join(folder, 'work/soft'));
    linkSync(join(folder, 'mods/tool.js'), join(folder, 'work/hard.js'));
    const before = readFileSync(join(folder, 'toolcrib.json'), 'utf8');
    const paths = [
      'toolcrib.json',
      './toolcrib.json',
      'toolcrib.yaml',
      'TOOLCRIB.json',
      'package.json',
      'node_modules/x/index.js',
      'mods',
      'mods/tool.js',
      'mods/new.js',
      'work/../mods/new.js',
      'work/soft/new.js',
      'work/hard.js',
      'specs/new.yaml',
      `${folder}/mods/new.js`,
      'file:package.json?mode=rwc',
      `file://${folder}/mods/tool.js#part`,
      `file:///%zz/..${folder}/%6Dods/tool.js`,
      '>mods/new.js',
      '+> mods/tool.js',
      '$PWD/mods/new.js',
      join(import.meta.dirname, '../../../node_modules/hono/new.js'), // what Toolcrib itself imports
    ];
    for (const path of paths) {
      const calls: readonly [string, object][] = [
        ['write', { name: path }],
        ['dashed', { o: `-o${path}` }],
        ['dashed', { o: `--output=${path}` }],
        ['option', { target: path }],
        ['glued', { a: path.slice(0, 3), b: path.slice(3) }],
        ['listed', { names: ['work/b.txt', path] }],
        ['told', { dest: path }],
        ['changing', { dest: path }],
        ['asked', { dest: path }],
      ];
      for (const [name, input] of calls)
        expect(said(await chest.call(name, input)), `${name} ${path}`).toMatch(REFUSED);
    }
    expect(asked).toBe(0);
    expect(readFileSync(join(folder, 'toolcrib.json'), 'utf8')).toBe(before);
    expect(readFileSync(join(folder, 'mods/tool.js'), 'utf8')).toBe(FILES['mods/tool.js']);
    for (const made of ['mods/new.js', 'specs', 'toolcrib.yaml'])
      expect(existsSync(join(folder, made)), made).toBe(false);
  });

  it('may name a protected path if the tool only reads, and occur in a text', async () => {
    const { chest } = await shop();
    expect(said(await chest.call('reading', { name: 'package.json' }))).toBe('package.json\n');
    expect(said(await chest.call('copied', { name: 'mods/tool.js' }))).toBe('mods/tool.js\n');
    for (const text of ['node_modules\n.venv\n', 'package.json'])
      expect(said(await chest.call('saved', { text })), text).toBe(text);
    expect(said(await chest.call('write', { name: 'work/new.txt' }))).toBe('evil');
    expect(said(await chest.call('told', { dest: 'work/other.txt' }))).toBe('');
  });
});
