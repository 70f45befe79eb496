import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SANDBOX, said, script, shellTool, shopWith, TEXT } from './shell-shop.ts';

type Json = Readonly<Record<string, unknown>>;

const RUN = { kind: 'shell', command: ['sh', '-e', 'own/run.sh'] };
const GOOD = { name: 'deploy', description: 'Deploy.', input: { type: 'object' }, run: RUN };

/** Tools that are refused, whatever is wrong with them. */
const REFUSED: [what: string, tool: Json, path?: string][] = [
  ['an input schema that is not one', { ...GOOD, input: 'none' }],
  ['an input schema with an unknown type', { ...GOOD, input: { type: 'objekt' } }],
  ['no name', { description: 'Deploy.', input: { type: 'object' }, run: RUN }],
  ['a name with a space', { ...GOOD, name: 'de ploy' }],
  ['a description that is a number', { ...GOOD, description: 7 }],
  ['an unknown key', { ...GOOD, inptu: {} }],
  ['a policy that does not exist', { ...GOOD, policy: { aproval: 'always' } }],
  ['a variable that is not set', { ...GOOD, run: { ...RUN, env: { A: `\${TOOLCRIB_TEST_ABSENT}` } } }],
  ['a key that belongs beside its run', { ...GOOD, run: { ...RUN, needs: ['clock'] } }],
  ['a misspelt kind', { ...GOOD, run: { ...RUN, kind: 'shel' } }],
  ['no kind', { ...GOOD, run: { command: RUN.command } }],
  ['an unknown key in its run', { ...GOOD, run: { ...RUN, timeout: 5 } }],
  ['a misspelt run', { name: 'deploy', description: 'Deploy.', input: { type: 'object' }, rnu: RUN }],
  ['a command under another key', { ...GOOD, run: { kind: 'shell', cmd: RUN.command } }],
  ['a command that is a text', { ...GOOD, run: { kind: 'shell', command: 'sh -e own/run.sh' } }],
  ['a placeholder without an argument', { ...GOOD, run: { ...RUN, command: [...RUN.command, '{x}'] } }],
  ['an older form with an unclosed quote', { name: 'deploy', tool_type: 'shell', implementation_config: { command: 'sh own/run.sh "' } }],
  ['an older form with wrong metadata', { name: 'deploy', tool_type: 'shell', metadata: 7, implementation_config: { command: 'sh own/run.sh' } }],
  ['a function of a bad schema', { ...GOOD, input: 7, run: { kind: 'function', module: './own/f.js' } }, 'own/f.js'],
  ['a function without a module that is there', { ...GOOD, input: 7, run: { kind: 'function', module: './own/g.mjs' } }, 'own/g.mjs'],
  ['a Python function of a bad schema', { ...GOOD, input: 7, run: { kind: 'python', module: 'snake', function: 'f' } }, 'snake.py'],
  ['a Python function without a function', { ...GOOD, run: { kind: 'python', module: './own/snake.py' } }, 'own/snake.py'],
  ['a script with an odd key', { ...GOOD, run: { kind: 'script', file: './own/s.ts', odd: 1 } }, 'own/s.ts'],
  ['a program that is not there yet', { ...GOOD, input: 7, run: { kind: 'shell', command: ['./own/later'] } }, 'own/later'],
  ['shell code that starts a program', { ...GOOD, input: 7, run: { kind: 'shell', command: ['sh', '-c', 'cd .; ./own/later "$1"'] } }, 'own/later'],
  ['a variable that names code', { ...GOOD, input: 7, run: { kind: 'shell', command: ['true'], env: { BASH_ENV: './own/env' } } }, 'own/env'],
  ['a folder of its own', { ...GOOD, input: 7, run: { kind: 'shell', command: ['sh', 'run.sh'], cwd: 'own' } }],
]; // biome-ignore format: a table

const attackOn = (path: string) => [
  script('attack', `mkdir -p own && echo evil > ${path} && echo WROTE`),
  script('fine', 'echo x > free.txt'),
];
const FILES = { 'free.txt': '', 'own/run.sh': 'echo honest\n', 'own/data': '' };

describe.skipIf(!SANDBOX.ok)('a command in a sandbox cannot write what a tool names that is refused for', () => {
  async function attack(options: { tools?: readonly object[]; files?: Json; rest?: Json; path: string; edit?: Json }) {
    const { tools = [], files = {}, rest = {}, path, edit } = options;
    const own = [...attackOn(path), ...tools];
    const all = { ...FILES, ...files } as Readonly<Record<string, string>>;
    const { chest, crib, folder } = await shopWith({ sandbox: 'required', roots: ['.'], tools: own, files: all, rest });
    expect(crib.catalog.specs.map(({ name }) => name).sort()).toEqual(['attack', 'fine']);
    if (edit !== undefined) {
      const shell = { sandbox: 'required', roots: ['.'] };
      writeFileSync(
        join(folder, 'toolcrib.json'),
        JSON.stringify({ tools: attackOn(path), executors: { shell }, ...edit }),
      );
      await crib.reload().catch(() => undefined);
    }
    expect(said(await chest.call('attack', {}))).toMatch(/^tool_error/);
    expect(readFileSync(join(folder, 'own/run.sh'), 'utf8')).toBe('echo honest\n');
    expect(said(await chest.call('fine', {}))).toBe('');
  }

  it.each(REFUSED)('%s, in the configuration', async (_, tool, path = 'own/run.sh') => {
    await attack({ tools: [tool], path });
  });

  it.each(REFUSED)('%s, in a file', async (_, tool, path = 'own/run.sh') => {
    await attack({
      files: { 'specs.json': JSON.stringify({ tools: [tool] }) },
      rest: { sources: { s: { files: './specs.json' } } },
      path,
    });
  });

  it.each([
    ['a misspelt list in a file', { files: { 'specs.json': JSON.stringify({ tols: [GOOD] }) } }],
    ['a list in a file that is a map', { files: { 'specs.json': JSON.stringify({ tools: { deploy: GOOD } }) } }],
    [
      'a line of a file of lines',
      { files: { 'specs.json': '', 'more.ndjson': JSON.stringify({ ...GOOD, input: 7 }) } },
    ],
    [
      'its kind, which its source does not allow',
      { files: { 'specs.json': JSON.stringify({ tools: [GOOD] }) }, kinds: ['http'] },
    ],
  ])('%s', async (_, { files, kinds }: { files: Json; kinds?: readonly string[] }) => {
    const entry = {
      files: ['./specs.json', ...(files['more.ndjson'] ? ['./more.ndjson'] : [])],
      ...(kinds && { kinds }),
    };
    await attack({ files, rest: { sources: { s: entry } }, path: 'own/run.sh' });
  });

  it.each<[string, Json]>([
    ['an edit that is refused as a whole', { services: { b: 7 }, tools: [...attackOn('own/run.sh'), GOOD] }],
    [
      'an edit that is refused after it was read',
      { services: { b: './absent.js' }, tools: [...attackOn('own/run.sh'), GOOD] },
    ],
    ['a misspelt key in an edit', { tolos: [GOOD] }],
    ['tools in an edit that are a map', { tools: { deploy: GOOD } }],
  ])('%s', async (_, edit) => {
    await attack({ path: 'own/run.sh', edit });
  });
});

describe('without a sandbox', () => {
  it.each(REFUSED)(
    'an argument leads to nothing that a tool names that is refused for %s',
    async (_, tool, path = 'own/run.sh') => {
      const save = shellTool('save', { path: TEXT }, { command: ['tee', '{path}'] });
      const { chest, folder } = await shopWith({ sandbox: 'none', roots: ['.'], tools: [save, tool], files: FILES });
      expect(said(await chest.call('save', { path: join(folder, path) }))).toMatch(/controls what/);
      expect(said(await chest.call('save', { path: join(folder, 'free.txt') }))).toBe('');
    },
  );
});
