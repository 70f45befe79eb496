import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { MODES, SANDBOX, said, script, shellTool, shopWith, TEXT } from './shell-shop.ts';

/** A configuration that names something of every kind, and what it says at first. */
const REST = {
  sources: {
    mine: { modules: './mods' },
    data: { files: './specs' },
    served: { mcp: { command: 'node', args: ['server/main.js'] } },
  },
};
const FILES = {
  'mods/tool.js': 'export default [];\n',
  'specs/tools.yaml': 'tools: []\n',
  'server/main.js': 'process.exit(1)\n',
  'server/data.txt': 'data',
  'package.json': '{}\n',
  'node_modules/x/index.js': '1\n',
  '.npmrc': 'a=b\n',
  '.venv/bin/activate': '#\n',
  'work/a.txt': 'A',
};
const PROTECTED = [
  'toolcrib.json',
  'mods/tool.js',
  'specs/tools.yaml',
  'server/main.js',
  'package.json',
  'node_modules/x/index.js',
  '.npmrc',
  '.venv/bin/activate',
];

const contents = (folder: string) => PROTECTED.map((path) => readFileSync(join(folder, path), 'utf8'));

describe.skipIf(!SANDBOX.ok)('a command in a sandbox whose root contains the configuration', () => {
  it.each([
    ['writes it', (path: string) => `echo evil > ${path}`],
    ['removes it', (path: string) => `rm -rf ${path} && echo evil > ${path}`],
    ['renames something over it', (path: string) => `echo evil > new; mv -f new ${path}`],
    [
      'renames its folder',
      (path: string) => `d=$(dirname ${path}); cp -r $d copy 2>/dev/null; mv $d gone; mv copy $d; echo evil > ${path}`,
    ],
    [
      'puts a link in its place',
      (path: string) => `echo evil > new; ln -sf "$PWD/new" ${path}; ln -sfn "$PWD" "$(dirname ${path})"`,
    ],
    ['writes through a link', (path: string) => `ln -sf "$PWD/${path}" alias; echo evil > alias`],
    ['writes through a hard link', (path: string) => `ln ${path} alias; echo evil > alias`],
    [
      'mounts over it',
      (path: string) =>
        `unshare -Urm sh -c "mount --bind work $(dirname ${path}); umount $(dirname ${path}); echo evil > ${path}"`,
    ],
    [
      'writes it in other letters',
      (path: string) => `echo evil > "$(echo ${path} | tr a-z A-Z)"; echo evil > ./work/../${path}`,
    ],
  ])('changes no protected path: it %s', async (_, attack) => {
    const tools = PROTECTED.map((path, index) => script(`attack_${index}`, attack(path).replaceAll(/[{}]/g, '$&$&')));
    const { chest, folder } = await shopWith({
      sandbox: 'required',
      roots: ['.'],
      files: FILES,
      rest: REST,
      tools: [...tools, script('fine', 'echo new > work/a.txt; echo new > server/data.txt; echo new > note.txt')],
    });
    const before = contents(folder);
    for (const [index] of PROTECTED.entries()) await chest.call(`attack_${index}`, {});
    expect(contents(folder)).toEqual(before);
    for (const path of PROTECTED) expect(lstatSync(join(folder, path)).isFile(), path).toBe(true);
    rmSync(join(folder, 'work'), { recursive: true, force: true, maxRetries: 10 }); // an attack may have taken it
    mkdirSync(join(folder, 'work'));
    expect(said(await chest.call('fine', {}))).toBe('');
    expect(readFileSync(join(folder, 'server/data.txt'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('new\n');
  });

  it.each([
    ['a file', (path: string) => `echo evil > ${path}`],
    ['a folder and a file in it', (path: string) => `mkdir -p ${path}; echo evil > ${path}/index.js`],
    ['its folders one by one', (path: string) => `mkdir -p $(dirname ${path}); echo evil > ${path}`],
    [
      'another folder that is renamed',
      (path: string) =>
        `mkdir -p new/deep/mods; echo evil > new/deep/mods/x.js; echo evil > new/x; mv new ${path}; mv new $(dirname ${path}); mv new/deep $(dirname ${path})`,
    ],
    [
      'a link',
      (path: string) => `mkdir -p other; echo evil > other/x.js; ln -s "$PWD/other" ${path}; ln -s "$PWD/other" later`,
    ],
    ['a hard link', (path: string) => `echo evil > other; ln other ${path}`],
    [
      'what removes the placeholder first',
      (path: string) => `rmdir ${path}; rm -rf ${path}; rm -rf later; echo evil > ${path}`,
    ],
  ])('creates no file that the configuration would read: %s', async (_, attack) => {
    const missing = [
      'later/deep/mods',
      'package.json',
      'node_modules',
      '.npmrc',
      '.venv',
      'toolcrib.yaml',
      'toolcrib.yml',
      'guard.js',
    ];
    const rest = { sources: { mine: { modules: './later/deep/mods' } }, secrets: { key: { command: ['./guard.js'] } } };
    const tools = missing.map((path, index) => script(`attack_${index}`, attack(path)));
    const { chest, folder } = await shopWith({
      sandbox: 'required',
      roots: ['.'],
      rest,
      tools: [...tools, script('fine', 'echo new > note.txt')],
    });
    for (const [index] of missing.entries()) await chest.call(`attack_${index}`, {});
    for (const path of missing) expect(existsSync(join(folder, path)), path).toBe(false);
    expect(said(await chest.call('fine', {}))).toBe('');
    expect(readdirSync(folder).filter((name) => name.startsWith('.toolcrib-'))).toEqual([]);
  });

  it('occupies a missing name for as long as any of several commands runs', async () => {
    const { chest, folder } = await shopWith({
      sandbox: 'required',
      roots: ['.'],
      tools: [
        script(
          'long',
          'touch up; until [ -e go ]; do sleep 0.01; done; echo evil > package.json; mkdir node_modules/x',
        ),
        script('short', 'true'),
      ],
    });
    const long = chest.call('long', {});
    await vi.waitUntil(() => existsSync(join(folder, 'up')), { timeout: 30_000, interval: 5 });
    await chest.call('short', {});
    writeFileSync(join(folder, 'go'), '');
    expect(said(await long)).toMatch(/^tool_error/);
    expect(existsSync(join(folder, 'package.json'))).toBe(false);
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
  });

  it('a folder that a killed crib left in such a place has no effect, and the next command removes it', async () => {
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
    const dead = spawnSync('true').pid;
    const left = Object.fromEntries(
      ['toolcrib.yaml', 'package.json', 'node_modules'].map((name) => [
        `${name}/.toolcrib-held-${namespace}-${dead}-x`,
        '',
      ]),
    );
    const { chest, crib, folder } = await shopWith({
      sandbox: 'required',
      roots: ['.'],
      files: left,
      tools: [script('fine', 'echo ok')],
    });
    expect(crib.warnings()).toEqual([]);
    expect(said(await chest.call('fine', {}))).toBe('ok\n');
    expect(readdirSync(folder)).toEqual(['.toolcrib', 'toolcrib.json']);
  });

  it('does not run if it could replace a link to code that the crib runs', async () => {
    const { chest, crib, folder } = await shopWith({
      sandbox: 'required',
      roots: ['.'],
      files: { 'real/tool.js': 'export default [];\n' },
      rest: { sources: { mine: { modules: './mods' } } },
      tools: [
        script('wide', 'rm mods; mkdir mods; echo evil > mods/x.js'),
        script('narrow', 'echo ok', { sandbox: { write: './work' } }),
      ],
    });
    symlinkSync('real', join(folder, 'mods'));
    mkdirSync(join(folder, 'work'));
    expect(said(await chest.call('wide', {}))).toMatch(/^unavailable: .*contains a link to files of the crib/);
    expect(lstatSync(join(folder, 'mods')).isSymbolicLink()).toBe(true);
    expect(said(await chest.call('narrow', {}))).toBe('ok\n');
    expect((await crib.review()).problems.join('\n')).toContain('contains links that lead to files of the crib: mods.');
  });

  it('writes nothing in a folder inside a protected path, even if it names that folder', async () => {
    const sandbox = { write: './mods/out' };
    const { chest, crib, folder } = await shopWith({
      sandbox: 'required',
      files: { ...FILES, 'mods/out/x.js': '1' },
      rest: REST,
      tools: [
        script('inner', 'echo evil > x.js', { sandbox }),
        script('state', 'ls', { sandbox: { read: './.toolcrib' } }),
      ],
    });
    mkdirSync(join(folder, '.toolcrib'), { recursive: true });
    expect(said(await chest.call('inner', {}))).toMatch(/Read-only file system/);
    expect(said(await chest.call('state', {}))).toMatch(/^unavailable/);
    expect((await crib.review()).problems.join('\n')).toMatch(
      /Tool inner cannot write mods\/out: it is in the protected path mods/,
    );
  });

  it('does not reach a protected path that is mounted a second time', () => {
    const script_ = join(import.meta.dirname, 'processes/mounted-twice.ts');
    const probe = spawnSync('unshare', ['-Urm', 'true']);
    if (probe.status !== 0) return; // this machine allows no mounts
    const said_ = execFileSync('unshare', ['-Urm', process.execPath, '--no-warnings', script_], { encoding: 'utf8' });
    expect(JSON.parse(said_)).toEqual({ tool: 'export default [];\n', made: false, state: false, free: 'new\n' });
  });
});

describe('without roots', () => {
  it.skipIf(!SANDBOX.ok)('a command can read the folder of the configuration and write nothing in it', async () => {
    const { chest, folder } = await shopWith({
      sandbox: 'required',
      files: FILES,
      rest: REST,
      tools: [
        script('look', 'cat work/a.txt'),
        script('write', 'echo evil > work/a.txt'),
        script('make', 'echo evil > mods/new.js'),
      ],
    });
    expect(said(await chest.call('look', {}))).toBe('A');
    expect(said(await chest.call('write', {}))).toMatch(/Read-only file system/);
    expect(said(await chest.call('make', {}))).toMatch(/Read-only file system/);
    expect(existsSync(join(folder, 'mods/new.js'))).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual([
      '.npmrc',
      '.venv',
      'mods',
      'node_modules',
      'package.json',
      'server',
      'specs',
      'toolcrib.json',
      'work',
    ]);
  });
});

describe.each(MODES)('a path argument %s', (_, sandbox) => {
  const effects = {
    unknown: {},
    reading: { effects: { readOnly: true } },
    writing: { effects: { readOnly: false } },
    deleting: { effects: { destructive: true } },
    asked: { policy: { approval: 'always' } },
  };
  const tools = Object.entries(effects).map(([name, rest]) =>
    shellTool(name, { path: TEXT }, { command: ['echo', '{path}'] }, rest),
  );
  const shop = async (roots?: readonly string[]) => {
    let asked = 0;
    const { crib, folder } = await shopWith({
      sandbox,
      tools,
      files: FILES,
      rest: REST,
      ...(roots !== undefined && { roots }),
    });
    const chest = await crib.open(undefined, { id: 'ann', approve: async () => ++asked > 0 });
    const call = async (name: string, path: string) => said(await chest.call(name, { path }));
    return { call, folder, chest, asked: () => asked };
  };
  const HELP = /^invalid_input: .*executors\.shell\.roots/;

  it('that may be written and is in no writable folder is refused before approval', async () => {
    const { call, folder, chest, asked } = await shop();
    expect(chest.list().map(({ name }) => name)).toEqual(Object.keys(effects));
    for (const name of ['writing', 'deleting', 'asked']) expect(await call(name, 'work/a.txt'), name).toMatch(HELP);
    expect(asked()).toBe(0);
    expect(await call('reading', 'work/a.txt')).toBe(`${folder}/work/a.txt\n`);
    expect(await call('unknown', 'work/a.txt')).toBe(`${folder}/work/a.txt\n`);
    expect(await call('unknown', 'work/new.txt')).toMatch(HELP);
    expect(await call('reading', 'work/new.txt')).toBe(`${folder}/work/new.txt\n`);
  });

  it('in a writable folder is passed on', async () => {
    const { call, folder, asked } = await shop(['./work']);
    for (const name of Object.keys(effects)) expect(await call(name, 'a.txt'), name).toBe(`${folder}/work/a.txt\n`);
    expect(await call('unknown', 'new.txt')).toBe(`${folder}/work/new.txt\n`);
    expect(asked()).toBe(2); // deleting, asked
  });

  it('to a protected path is refused for every tool that may write', async () => {
    const { call, folder, asked } = await shop(['.']);
    linkSync(join(folder, 'mods/tool.js'), join(folder, 'work/hard.js'));
    symlinkSync('../mods', join(folder, 'work/soft'));
    const paths = [
      ...PROTECTED,
      'mods',
      'mods/new.js',
      'mods/new/deep.js',
      'work/hard.js',
      'work/soft/tool.js',
      'work/soft/new.js',
      'toolcrib.yaml',
      './work/../package.json',
    ];
    for (const path of paths)
      for (const name of ['writing', 'deleting', 'asked'])
        expect(await call(name, path), `${name} ${path}`).toMatch(/^invalid_input: .*controls what the crib runs/);
    expect(asked()).toBe(0);
    for (const path of PROTECTED) expect(await call('reading', path), path).toBe(`${folder}/${path}\n`);
    if (sandbox === 'none')
      for (const path of paths)
        expect(await call('unknown', path), path).toMatch(/^invalid_input: .*controls what the crib runs/);
    else for (const path of PROTECTED) expect(await call('unknown', path), path).toBe(`${folder}/${path}\n`);
  });

  it('of another letter case leads to the same place', async () => {
    const { call } = await shop(['.']);
    for (const path of ['MODS/tool.js', 'Package.JSON', 'mods/TOOL.js'])
      expect(await call('writing', path), path).toMatch(/controls what the crib runs/);
  });

  it('that is only read may be in a folder to read, if the tool says so', async () => {
    const run = {
      command: ['echo', '{from_path}', '{to_path}'],
      sandbox: { read: './in', write: './out', mode: sandbox },
    };
    const rest = { effects: { readOnly: false } };
    const { chest, crib, folder } = await shopWith({
      sandbox,
      files: { 'in/a.txt': 'A', 'out/b.txt': 'B' },
      tools: [
        shellTool('copy', { from_path: TEXT, to_path: TEXT }, { ...run, reads: ['from_path'] }, rest),
        shellTool('unsaid', { from_path: TEXT, to_path: TEXT }, run, rest),
        shellTool('bad', {}, { command: ['ls'], reads: ['nothing'] }),
      ],
    });
    const input = { from_path: join(folder, 'in/a.txt'), to_path: join(folder, 'out/c.txt') };
    expect(said(await chest.call('copy', input))).toBe(`${input.from_path} ${input.to_path}\n`);
    expect(said(await chest.call('unsaid', input))).toMatch(HELP);
    expect(said(await chest.call('copy', { ...input, to_path: input.from_path }))).toMatch(HELP);
    expect(crib.warnings().join()).toContain('reads names "nothing", which the command does not use');
  });
});

describe('check', () => {
  it('names the tool and the path if a writable folder contains a protected path', async () => {
    const { crib } = await shopWith({
      roots: ['.'],
      files: FILES,
      rest: REST,
      tools: [script('wide', 'true'), script('narrow', 'true', { sandbox: { write: './work', mode: 'preferred' } })],
    });
    const [problem, ...others] = (await crib.review()).problems;
    expect(others).toEqual([]);
    expect(problem).toMatch(
      /^Tool wide may write \., which contains protected paths that control what the crib runs: .*mods/,
    );
    for (const path of [
      'toolcrib.json',
      'package.json',
      'node_modules',
      '.npmrc',
      '.venv',
      'mods',
      'specs',
      'server/main.js',
    ])
      expect(problem).toContain(path);
  });
});
