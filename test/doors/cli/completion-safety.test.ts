import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, MAIN, type Workshop } from './workshop.ts';

function workshop(files: Readonly<Record<string, string>> = {}): Workshop {
  const made = createWorkshop(files);
  onTestFinished(made.remove);
  return made;
}

/** Completes in a folder as a user with this home. */
async function complete(folder: Workshop, words: readonly string[], home: Workshop = folder): Promise<string[]> {
  const { code, stdout, stderr } = await folder.run(['__complete', ...words], { env: { HOME: home.folder } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter(Boolean);
}

/** The only file with kept names of a user. */
function keptFile({ folder }: Workshop): string {
  const names = join(folder, '.cache/toolcrib/names');
  const files = readdirSync(names);
  expect(files).toHaveLength(1);
  return join(names, files[0] ?? '');
}

/** Everything that completes to a name of a configuration. */
const ASKING: readonly (readonly string[])[] = [
  ['call', ''],
  ['call', 'trap', ''],
  ['show', ''],
  ['explain', ''],
  ['specs', 'remove', ''],
  ['list', '--profile', ''],
  ['list', '--bundle', ''],
  ['list', '--source', ''],
  ['list', '--tag', ''],
  ['--config', 'toolcrib.yaml', 'call', ''],
  ['--config=toolcrib.yaml', 'call', ''],
  ['--config', '.', 'call', ''],
];

/** A folder of a stranger: every key that names code, a command or an address leads into a trap. */
async function startTraps() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const sprung = workshop();
  const spring = (name: string) => `require('node:fs').writeFileSync(${JSON.stringify(join(sprung.folder, name))}, '')`;
  const module = (name: string) =>
    `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n${spring(name)};\n`;
  const folder = workshop({
    'toolcrib.yaml': `
secrets: { key: { command: [node, -e, ${JSON.stringify(spring('secret'))}], hosts: ["${address}"] } }
services: { clock: ./service.mjs }
extensions: { custom: { module: ./extension.mjs } }
executors: { custom: { module: ./executor.mjs } }
sources:
  modules: { modules: ./tools }
  package: { packages: ["trap-*"] }
  server: { mcp: { command: node, args: [-e, ${JSON.stringify(spring('server'))}] } }
  remote: { mcp: { url: "http://${address}/mcp" } }
  list: { http: "http://${address}/specs.json" }
  api: { openapi: "http://${address}/openapi.json" }
  snakes: { python: ./snakes }
profiles: { trap_profile: {} }
bundles: { trap_bundle: { include: ["*"] } }
store: { url: "sqlite:./state.db" }
`,
    'tools/trap.mjs': `${module('module')}export const trap = { name: 'trap', description: 'A trap', input: { type: 'object' }, execute: () => 1 };`,
    'service.mjs': `${module('service')}export default () => ({});`,
    'executor.mjs': `${module('executor')}export default { kind: 'custom', runSchema: { type: 'object' }, execute: () => 1 };`,
    'extension.mjs': `${module('extension')}export default { name: 'custom', priority: 500, onStart() {} };`,
    'snakes/snake.py': `open(${JSON.stringify(join(sprung.folder, 'python'))}, 'w').close()\n`,
    'node_modules/trap-package/package.json': '{ "name": "trap-package", "type": "module", "main": "index.js" }',
    'node_modules/trap-package/index.js': module('package'),
    'node_modules/toolcrib/package.json': '{ "name": "toolcrib", "type": "module", "main": "index.js" }',
    'node_modules/toolcrib/index.js': module('toolcrib'),
    'package.json': '{ "type": "module" }',
    '.env': 'NODE_OPTIONS=--require=./evil.cjs\n',
    '.toolcrib/id': 'claimed\n',
    '.toolcrib/names.json': '{ "tools": { "claimed": ["claimed"] } }',
    '.toolcrib/crib.db': 'SQLite format 3\0 and then what nobody expects',
    'state.db': 'SQLite format 3\0 and then what nobody expects',
  });
  return { folder, sprung: () => readdirSync(sprung.folder), connections: () => connections };
}

/** Every path below a folder, with what would show that it was touched. */
function listing({ folder }: Workshop): readonly string[] {
  const paths = readdirSync(folder, { recursive: true }).map(String).sort();
  return paths.map((path) => {
    const { mtimeMs, size, mode } = statSync(join(folder, path));
    return `${path} ${mtimeMs} ${size} ${mode}`;
  });
}

describe('Tab in the folder of another user', () => {
  it('runs nothing of its configuration, connects to nothing, writes nothing into it and offers none of its names', async () => {
    const { folder, sprung, connections } = await startTraps();
    const home = workshop();
    const before = listing(folder);
    for (const words of ASKING) expect(await complete(folder, words, home), words.join(' ')).toEqual([]);
    expect(await complete(folder, ['li'], home)).toEqual(['list']);
    // A shell asks for its script whenever it starts, in whatever folder.
    for (const words of [['completion', 'bash'], ['help'], ['help', 'call'], ['version']])
      expect(await folder.run(words, { env: { HOME: home.folder } }), words.join(' ')).toMatchObject({ code: 0 });
    expect({ sprung: sprung(), connections: connections() }).toEqual({ sprung: [], connections: 0 });
    expect(listing(folder)).toEqual(before);
    // The traps are set: a command that the user types does run what the configuration says.
    rmSync(join(folder.folder, 'state.db'));
    rmSync(join(folder.folder, '.toolcrib'), { recursive: true });
    await folder.run(['list'], { env: { HOME: home.folder } });
    expect(sprung()).toEqual(expect.arrayContaining(['executor', 'extension', 'module', 'server']));
    expect(connections()).toBeGreaterThan(0);
  });

  it('offers no stored names from the folder', async () => {
    const [user, stranger] = [workshop(), workshop(OFFICE)];
    await stranger.run(['list']);
    expect(await complete(stranger, ['call', 'ad'])).toEqual(['add']);
    const kept = keptFile(stranger);
    for (const place of ['.toolcrib', '.toolcrib/names', 'names', '.local/state/toolcrib', '.config/toolcrib'])
      cpSync(kept, join(stranger.folder, place, kept.split('/').at(-1) ?? ''));
    for (const words of ASKING) expect(await complete(stranger, words, user), words.join(' ')).toEqual([]);
  });

  it.each([
    ['a link to a configuration that the user has used', (path: string, used: string) => symlinkSync(used, path)],
    ['a link that leads nowhere', (path: string) => symlinkSync('/net/nowhere.invalid/x', path)],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => void mkdirSync(path)],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a broken file', (path: string) => writeFileSync(path, 'nonsense: [')],
  ])('offers nothing if its configuration is %s', async (_, make) => {
    const [user, stranger] = [workshop(OFFICE), workshop()];
    await user.run(['list']);
    for (const name of ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json']) {
      make(join(stranger.folder, name), join(user.folder, 'toolcrib.yaml'));
      expect(await complete(stranger, ['call', ''], user), name).toEqual([]);
      expect(await complete(stranger, ['--config', name, 'call', ''], user), name).toEqual([]);
      rmSync(join(stranger.folder, name), { recursive: true });
    }
  });
});

describe('names are stored', () => {
  it('by a command that opened the crib, under the real path of its configuration', async () => {
    const [user, other] = [workshop(OFFICE), workshop()];
    expect(await complete(user, ['call', 'ad'])).toEqual([]);
    await user.run(['profiles']);
    expect(await complete(user, ['call', 'ad'])).toEqual(['add']);
    symlinkSync(user.folder, join(other.folder, 'link'));
    for (const config of [user.folder, 'link/toolcrib.yaml', join(user.folder, 'tools/../toolcrib.yaml')])
      expect(await complete(other, ['--config', config, 'call', 'ad'], user), config).toEqual(['add']);
    cpSync(join(user.folder, 'toolcrib.yaml'), join(other.folder, 'toolcrib.yaml'));
    expect(await complete(other, ['call', 'ad'], user)).toEqual([]);
  });

  it('again if they have changed', async () => {
    const user = workshop(OFFICE);
    await user.run(['list']);
    user.write('tools/more.mjs', "export const more = { name: 'more', description: 'More', execute: () => 1 };");
    expect(await complete(user, ['call', 'mo'])).toEqual([]);
    await user.run(['call', 'add', 'a=1', 'b=2']);
    expect(await complete(user, ['call', 'mo'])).toEqual(['more']);
  });

  it('by a server that is killed', async () => {
    const user = workshop(OFFICE);
    const server = user.start(['serve', '--port', '0']);
    await new Promise<void>((resolve) => {
      let said = '';
      const hear = (data: Buffer) => {
        said += String(data);
        if (/http:\/\//.test(said)) resolve();
      };
      server.stdout.on('data', hear);
      server.stderr.on('data', hear);
    });
    const ended = new Promise((resolve) => server.on('close', resolve));
    server.kill('SIGKILL');
    await ended;
    expect(await complete(user, ['call', 'ad'])).toEqual(['add']);
  });

  it('nowhere if the cache cannot be written, and the command still works', async () => {
    const user = workshop({ ...OFFICE, blocked: 'a file' });
    const { code } = await user.run(['list'], { env: { XDG_CACHE_HOME: join(user.folder, 'blocked') } });
    expect(code).toBe(0);
    const { stdout } = await user.run(['__complete', 'call', ''], {
      env: { XDG_CACHE_HOME: join(user.folder, 'blocked') },
    });
    expect(stdout).toBe('');
  });

  it('readable only by their user', async () => {
    const user = workshop(OFFICE);
    await user.run(['list']);
    expect(statSync(keptFile(user)).mode & 0o077).toBe(0);
  });
});

const isRoot = process.getuid?.() === 0;

describe('stored names are not read', () => {
  it.each<readonly [string, (file: string) => void]>([
    ['where others can write to the file', (file) => chmodSync(file, 0o666)],
    ['where a group can write to the file', (file) => chmodSync(file, 0o620)],
    ['where others can write to the folder', (file) => chmodSync(join(file, '../..'), 0o777)],
    ['where the file belongs to another user', (file) => (isRoot ? chownSync(file, 65534, 65534) : rmSync(file))],
    [
      'where the folder belongs to another user',
      (file) => (isRoot ? chownSync(join(file, '../..'), 1, 1) : rmSync(file)),
    ],
    [
      'where the file is a link',
      (file) => {
        renameSync(file, `${file}.moved`);
        symlinkSync(`${file}.moved`, file);
      },
    ],
    [
      'where the file is a pipe',
      (file) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
    ],
    ['where the file is too large', (file) => writeFileSync(file, readFileSync(file, 'utf8').padEnd(16_000_001))],
    ['where the file is cut', (file) => writeFileSync(file, readFileSync(file).subarray(0, -1))],
    [
      'where the file is that of another place',
      (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('/toolcrib.yaml', '/toolcrib.yml')),
    ],
    ['where the file says nothing', (file) => writeFileSync(file, 'null')],
    ['where the file says something else', (file) => writeFileSync(file, '{"tools":[{"add":1}],"profiles":{"a":1}}')],
  ])('%s', async (_, spoil) => {
    const user = workshop(OFFICE);
    await user.run(['list']);
    expect(await complete(user, ['call', 'add', ''])).toEqual(['a=', 'b=']);
    spoil(keptFile(user));
    expect(await complete(user, ['call', 'ad'])).toEqual([]);
    expect(await complete(user, ['call', 'add', ''])).toEqual([]);
    expect(await complete(user, ['list', '--profile', ''])).toEqual([]);
  });
});

/** Words that a shell or a terminal would take for more than a word. */
const EVIL = [
  '$(touch sprung)',
  '`touch sprung`',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell reads it
  '${IFS}',
  '$HOME',
  'a;touch sprung',
  'a&touch',
  'a|touch',
  'a>sprung',
  'a<b',
  'a b',
  'a\tb',
  'a\nadd',
  'a\r',
  'a\0',
  "a'b",
  'a"b',
  'a\\b',
  'a(b)',
  'a{b,c}',
  'a[b]',
  '*',
  'a?',
  '~root',
  '!!',
  '#a',
  '-rf',
  '--config=x',
  'a=b',
  'a%b',
  'a\u001b[2J',
  'a\u202eb',
  'a\u0085',
  'é',
  '',
  'a'.repeat(129),
];

describe('words that a shell would expand are not offered', () => {
  const evilTool = `export const add = { name: 'add', description: 'x', tags: ${JSON.stringify([...EVIL.filter((word) => word !== ''), 'good'])},
    input: { type: 'object', properties: ${JSON.stringify(Object.fromEntries([...EVIL, 'good'].map((word) => [word, {}])))} }, execute: () => 1 };`;

  it('are not stored from the texts of a tool', async () => {
    const user = workshop({ ...OFFICE, 'tools/office.mjs': evilTool });
    await user.run(['list']);
    expect(await complete(user, ['call', 'add', ''])).toEqual(['good=']);
    expect(await complete(user, ['list', '--tag', ''])).toEqual(['good']);
    const kept = JSON.parse(readFileSync(keptFile(user), 'utf8'));
    expect(kept).toMatchObject({ tools: { add: ['good'] }, tags: ['good'] });
  });

  const spoil = (file: string) => {
    const { place } = JSON.parse(readFileSync(file, 'utf8'));
    const words = [...EVIL, 'good'];
    const tools = Object.fromEntries(words.map((word) => [word, words]));
    const text = JSON.stringify({ place, tools, profiles: words, bundles: words, sources: words, tags: words });
    writeFileSync(file, text, { mode: 0o600 });
  };

  it('are not read from stored names', async () => {
    const user = workshop(OFFICE);
    await user.run(['list']);
    spoil(keptFile(user));
    for (const words of ASKING.filter((asking) => asking[1] !== 'trap'))
      expect(await complete(user, words), words.join(' ')).toEqual(['good']);
    expect(await complete(user, ['call', 'good', ''])).toEqual(['good=']);
    expect(await complete(user, ['call', '$(touch sprung)', ''])).toEqual([]);
  });

  const hasShell = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;
  const asks: Readonly<Record<string, string>> = {
    bash: `COMP_WORDS=(toolcrib call '')\nCOMP_CWORD=2\n_toolcrib\nprintf '%s\\n' "\${COMPREPLY[@]}"`,
    zsh: `compadd() { [[ "$1" == -S ]] && shift 2; shift; (( $# )) && print -l -- "$@" }\nwords=(toolcrib call '')\nCURRENT=3\n_toolcrib`,
    fish: `complete -C 'toolcrib call '`,
  };

  it.each(Object.keys(asks))('%s runs none of them', async (shell) => {
    if (!hasShell(shell)) return;
    const user = workshop(OFFICE);
    await user.run(['list']);
    spoil(keptFile(user));
    user.write('bin/toolcrib', `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(join(user.folder, 'bin/toolcrib'), 0o755);
    const { stdout: script } = await user.run(['completion', shell]);
    const prelude = shell === 'zsh' ? 'compdef() { :; }\n' : '';
    const env = {
      ...process.env,
      HOME: user.folder,
      XDG_CACHE_HOME: '',
      PATH: `${user.folder}/bin:${process.env.PATH}`,
    };
    const { stdout } = spawnSync(shell, ['-c', `${prelude}${script}\n${asks[shell]}`], {
      cwd: user.folder,
      env,
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe('good');
    expect(readdirSync(user.folder)).not.toContain('sprung');
  });
});
