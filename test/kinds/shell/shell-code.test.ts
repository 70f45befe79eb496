import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { write } from '../../crib/workshop.ts';
import { SANDBOX, said, script, shellTool, shopWith } from './shell-shop.ts';

const TOLD = shellTool('told', {}, { command: ['true'], env: { BASH_ENV: './env.sh', PYTHONPATH: './modules' } });

/** Files that something of the configuration runs as code, and one that nothing runs. */
const FILES = {
  'scripts/deploy.sh': 'echo honest\n',
  'bin/own': '#!/bin/sh\necho honest\n',
  'lib/guard.js': 'export default { name: "g", priority: "normal", onEnd() {} };\n',
  'py/tools.py': 'def f() -> int:\n  return 1\n',
  'hook.cjs': '1\n',
  'jobs/report.py': 'print(1)\n',
  'snakes/server.py': 'print(1)\n',
  'server.env': 'TOKEN=abc\n',
  'free/data.sh': 'data\n',
  'specs/told.json': JSON.stringify({ tools: [TOLD] }),
};
const REST = {
  extensions: { guard: { module: './lib/guard.js' } },
  sources: {
    data: { files: './specs' },
    snakes: { mcp: { command: 'python3', args: ['snakes/server.py'] } },
    served: {
      mcp: {
        command: 'node',
        args: ['server/later.js'],
        envFile: './server.env',
        env: { NODE_OPTIONS: '--require ./hook.cjs' },
      },
    },
  },
};
const RUNNING = [
  shellTool('deploy', {}, { command: ['sh', '-e', 'scripts/deploy.sh'], sandbox: { mode: 'none' } }),
  shellTool('own', {}, { command: ['timeout', '9', 'sh', 'later.sh'], sandbox: { mode: 'none' } }),
  shellTool('program', {}, { command: ['./bin/own', 'free/data.sh'], sandbox: { mode: 'none' } }),
  shellTool('report', {}, { command: ['python3', 'jobs/report.py'], sandbox: { mode: 'none' } }),
  shellTool('quiet', {}, { command: ['python3', '-W', 'ignore', 'jobs/quiet.py'], sandbox: { mode: 'none' } }),
  shellTool('piped', {}, { command: ['bash', '-o', 'pipefail', 'piped.sh'], sandbox: { mode: 'none' } }),
  shellTool('hooked', {}, { command: ['node', '-r', './pre.js', '--import=./import.mjs', 'main.js'] }),
  shellTool('listed', {}, { command: ['awk', '-f', 'list.awk', 'free/data.sh'], sandbox: { mode: 'none' } }),
  {
    name: 'snake',
    description: 'Snake.',
    input: { type: 'object' },
    run: { kind: 'python', module: './py/tools.py', function: 'f' },
  },
];

/** A function of this process, by the module that exports it. */
const fn = (name: string, module: string) => ({
  name,
  description: name,
  input: { type: 'object' },
  run: { kind: 'function', module, export: 'run' },
});
const unsafe = (name: string, command: readonly string[], env: object = {}) =>
  shellTool(name, {}, { command, env, sandbox: { mode: 'none' } });

/** Tools of which each runs other code: its name, the tools, and the path of the code. */
const OWNERS: readonly (readonly [what: string, tools: readonly object[], path: string])[] = [
  ['the module of a function', [fn('f', './own/f.js')], 'own/f.js'],
  ['a module of a function that is not there yet', [fn('f', './own/g.mjs')], 'own/g.mjs'],
  ['a package beside the module of a function', [fn('f', './own/f.js')], 'own/node_modules'],
  ['a package.json beside the module of a function', [fn('f', './own/f.js')], 'own/package.json'],
  ['a package beside a script of Node', [unsafe('t', ['node', 'own/f.js'])], 'own/node_modules'],
  [
    'the script of a tool, of whose name there is a second one',
    [unsafe('t', ['sh', 'own/a.sh']), unsafe('t', ['sh', 'own/b.sh'])],
    'own/a.sh',
  ],
  ['a program after timeout', [unsafe('t', ['timeout', '-k', '1', '5', './bin/run'])], 'bin/run'],
  ['a program after env that is not there yet', [unsafe('t', ['env', '-i', 'A=1', './bin/later'])], 'bin/later'],
  ['a program after xargs', [unsafe('t', ['xargs', '-n', '1', './bin/run'])], 'bin/run'],
  ['a program that find starts', [unsafe('t', ['find', '.', '-exec', './bin/run', ';'])], 'bin/run'],
  ['a program in shell code', [unsafe('t', ['sh', '-c', 'cd .; ./bin/run "$1"'])], 'bin/run'],
  ['a script after uv run', [unsafe('t', ['uv', 'run', 'py/x.py'])], 'py/x.py'],
  ['a script after deno run', [unsafe('t', ['deno', 'run', '--allow-all', 'later.ts'])], 'later.ts'],
  ...(['GIT_SSH_COMMAND', 'EDITOR', 'ENV', 'PATH', 'LUA_PATH', 'RIPGREP_CONFIG_PATH'] as const).map(
    (name) => [`what ${name} names`, [unsafe('t', ['true'], { [name]: './own/x -a' })], 'own/x'] as const,
  ),
  ['what LESSOPEN names', [unsafe('t', ['less'], { LESSOPEN: '|./own/x %s' })], 'own/x'],
  ['an agent of JAVA_TOOL_OPTIONS', [unsafe('t', ['java'], { JAVA_TOOL_OPTIONS: '-javaagent:./own/x' })], 'own/x'],
];

describe.skipIf(!SANDBOX.ok)('a command in a sandbox', () => {
  it.each(OWNERS)('cannot write %s either', async (_, tools, path) => {
    const under = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-own-')));
    mkdirSync(join(under, 'own'));
    mkdirSync(join(under, 'bin'));
    const files = {
      'own/f.js': 'export const run = () => 1;\n',
      'own/a.sh': '',
      'own/b.sh': '',
      'bin/run': '#!/bin/sh\n',
    };
    const attack = script('attack', `mkdir -p ${path}/in 2> /dev/null || echo evil > ${path} && echo WROTE`);
    const fine = script('fine', 'echo x > own/data && echo x > bin/data');
    write(under, files);
    chmodSync(join(under, 'bin/run'), 0o755);
    const { chest } = await shopWith({ under, sandbox: 'required', roots: ['.'], tools: [...tools, attack, fine] });
    expect(said(await chest.call('attack', {}))).toMatch(/^tool_error/);
    expect(said(await chest.call('fine', {}))).toBe('');
  });

  it.each([
    ['the script of another tool', 'echo echo evil > scripts/deploy.sh'],
    ['a folder around the script of another tool', 'mv scripts old && mkdir scripts'],
    ['a script of another tool that is not there yet', 'echo evil > later.sh'],
    ['the program of another tool', 'echo evil > bin/own'],
    ['a script after an option with a value', 'mkdir -p jobs; echo evil > jobs/quiet.py'],
    ['a script of a shell with options', 'echo evil > piped.sh'],
    ['a module that Node loads first', 'echo evil > pre.js'],
    ['a module that Node imports first', 'echo evil > import.mjs'],
    ['the main module after them', 'echo evil > main.js'],
    ['a program of awk', 'echo evil > list.awk'],
    ['a script that a variable of another tool names', 'echo evil > env.sh'],
    ['a folder of modules that a variable of another tool names', 'mkdir modules'],
    ['the module of a Python function', 'echo evil > py/tools.py'],
    ['a module beside a Python function', 'echo evil > py/json.py'],
    ['a package beside a Python function', 'mkdir -p py/json'],
    ['a module beside a Python script', 'echo evil > jobs/json.py'],
    ['a module beside a Python script of a server', 'echo evil > snakes/json.py'],
    ['what was compiled of the module of a Python function', 'mkdir -p py/__pycache__/x'],
    ['a package beside a module', 'mkdir -p lib/node_modules/x'],
    ['a package.json beside a module', 'echo evil > lib/package.json'],
    ['the script of a server that is not there yet', 'mkdir -p server; echo evil > server/later.js'],
    ['a file that NODE_OPTIONS of a server names', 'echo evil > hook.cjs'],
    ['the file of variables of a server', 'echo evil > server.env'],
  ])('cannot write %s', async (_, attack) => {
    const { chest, crib } = await shopWith({
      sandbox: 'required',
      roots: ['.'],
      files: FILES,
      rest: REST,
      tools: [...RUNNING, script('attack', `${attack} && echo WROTE`), script('fine', 'echo x > free/data.sh')],
    });
    expect(crib.warnings().join()).not.toMatch(/guard|deploy|own|snake"|report/);
    expect(said(await chest.call('attack', {}))).toMatch(/^tool_error/);
    expect(said(await chest.call('deploy', {}))).toBe('honest\n');
    expect(said(await chest.call('fine', {}))).toBe('');
  });

  it('cannot write what a tool of a large file runs, also at later starts, which do not parse the file', async () => {
    const under = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-large-')));
    const store = { url: `sqlite:${join(under, 'db/crib.db')}` };
    const padding = shellTool('padding', {}, { command: ['true'] }, { meta: { text: 'x'.repeat(900) } });
    const lines = Array.from({ length: 1300 }, (_, index) => ({ ...padding, name: `padding_${index}` }));
    const large = [unsafe('t', ['sh', join(under, 'own/a.sh')]), fn('f', '../own/f.js'), ...lines];
    write(under, {
      'specs/large.ndjson': large.map((line) => JSON.stringify(line)).join('\n'),
      'own/a.sh': '',
      'own/f.js': '',
    });
    const tools = ['own/a.sh', 'own/f.js'].map((path, index) => script(`attack_${index}`, `echo evil > ${path}`));
    for (const start of ['first', 'second', 'third']) {
      const rest = { sources: { large: { files: './specs' } } };
      const { crib, chest } = await shopWith({ under, sandbox: 'required', roots: ['.'], tools, rest, store });
      expect(crib.catalog.specs).toHaveLength(large.length + tools.length);
      for (const { name } of tools) expect(said(await chest.call(name, {})), start).toMatch(/^tool_error/);
      await crib.close(); // keeps the index
    }
  });

  it('cannot read the variables file of a server, which contains its tokens', async () => {
    const tools = [script('look', 'cat server.env')];
    const { chest } = await shopWith({ sandbox: 'required', files: FILES, rest: REST, tools });
    expect(said(await chest.call('look', {}))).not.toContain('abc');
  });

  it('creates no package above the configuration, and no program in a folder of the PATH', async () => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-top-')));
    const before = process.env.PATH;
    process.env.PATH = `${join(top, 'bin')}:${before}`;
    onTestFinished(() => {
      process.env.PATH = before;
      rmSync(top, { recursive: true, force: true, maxRetries: 10 });
    });
    mkdirSync(join(top, 'bin'));
    const attacks = ['mkdir -p node_modules/x', 'echo evil > package.json', 'echo evil > bin/bwrap'];
    const tools = attacks.map((attack, index) => script(`attack_${index}`, `${attack} && echo WROTE`));
    const { chest } = await shopWith({ under: join(top, 'conf'), sandbox: 'required', roots: ['..'], tools });
    for (const { name } of tools) expect(said(await chest.call(name, {})), name).toMatch(/^tool_error/);
  });
});
