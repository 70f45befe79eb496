import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { SchemaNode } from '../../src/config/schema-node.ts';
import { configNode } from '../../src/crib/config/config-schema.ts';
import { readConfigObject } from '../../src/crib/config/load-config.ts';
import type { LoadedConfig } from '../../src/crib/config/loaded-config.ts';
import { namedPaths } from '../../src/crib/configured/named-paths.ts';
import { protectedPaths } from '../../src/crib/configured/protected-paths.ts';
import { createWrittenPaths } from '../../src/crib/configured/written-paths.ts';

/** A text of the schema that names a path, where it stands, and a configuration that says it. */
interface PathKey {
  readonly at: string;
  readonly node: SchemaNode;
}

const PATH_USES = ['path', 'pathOrUrl', 'command', 'module', 'argument', 'commandLine'];

function pathKeys(node: SchemaNode, at = ''): readonly PathKey[] {
  if (node.use === 'spec') return [];
  const own = PATH_USES.includes(node.use ?? '') ? [{ at, node }] : [];
  const { properties = {}, additionalProperties, items, anyOf = [] } = node;
  return [
    ...own,
    ...anyOf.flatMap((branch) => pathKeys(branch, at)),
    ...(items === undefined ? [] : pathKeys(items, at)),
    ...Object.entries(properties).flatMap(([key, child]) => pathKeys(child, `${at}.${key}`)),
    ...(additionalProperties ? pathKeys(additionalProperties, `${at}.*`) : []),
  ];
}

/** Every key of the configuration that names a path: what it is in the example below, or why it is not protected. */
const KEYS: Readonly<Record<string, readonly string[] | 'not protected' | 'read with the configuration'>> = {
  '.sources.*.mcp.command': ['bin/server'],
  '.sources.*.mcp.args': ['server/main.js', 'server/settings.json', 'server/absent.js', 'server/node_modules'],
  '.sources.*.mcp.envFile': ['server.env'],
  '.sources.*.mcp.cwd': ['odd-cwd'],
  '.sources.*.files': ['specs', 'more/tools.yaml'],
  '.sources.*.modules': ['mods'],
  '.sources.*.python': ['py'],
  '.sources.*.openapi': ['api.yaml'],
  '.sources.*.module': ['own-source.js'],
  '.sources.*.mcpFile': 'read with the configuration',
  '.secrets.*.file': ['token.txt'],
  '.secrets.*.command': ['bin/secret', 'secret.conf'],
  '.services.*': ['service.js'],
  '.extensions.*.module': ['guard.js', '../node_modules', '../package.json'],
  '.extensions.audit.key.file': ['audit.pem'],
  '.executors.*.module': ['executor.js'],
  '.executors.shell.roots': 'not protected',
  '.executors.python.interpreter': ['venv'],
  '.retrieval.module': ['retriever.js'],
  '.retrieval.examples': ['said.jsonl'],
};

const CONFIG = {
  sources: {
    child: {
      mcp: {
        command: './bin/server',
        args: ['main.js', '--settings=settings.json', '.', 'absent.js'],
        envFile: './server.env',
        cwd: './server',
      },
    },
    odd: { mcp: { command: 'node', cwd: './odd-cwd' } },
    data: { files: ['./specs', './more/tools.yaml'] },
    code: { modules: './mods' },
    snakes: { python: './py' },
    api: { openapi: './api.yaml' },
    web: { openapi: 'https://example.com/api.yaml' },
    own: { module: './own-source.js#make' },
    packaged: { module: 'some-package' },
    pasted: { mcpFile: './mcp.json' },
  },
  mcpServers: { inline: { command: 'node', args: ['./inline.js'] } },
  secrets: { a: { file: './token.txt' }, b: { command: ['./bin/secret', 'secret.conf', '--all'] } },
  services: { clock: './service.js' },
  extensions: { guard: { module: './guard.js' }, audit: { key: { file: './audit.pem' } } },
  executors: { graphql: { module: './executor.js' }, shell: { roots: ['./work'] }, python: { interpreter: './venv' } },
  retrieval: { module: './retriever.js', examples: './said.jsonl' },
};

async function example() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-protected-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  for (const name of ['server', 'work']) mkdirSync(join(folder, name));
  for (const name of ['server/main.js', 'server/settings.json', 'odd-cwd', 'secret.conf', 'inline.js', 'pasted.js'])
    writeFileSync(join(folder, name), '');
  writeFileSync(
    join(folder, 'mcp.json'),
    JSON.stringify({ mcpServers: { far: { command: 'node', args: ['pasted.js'] } } }),
  );
  const env = { PATH: process.env.PATH, TOOLCRIB_PLUGINS_DIR: join(folder, 'plugins') };
  const loaded = await readConfigObject(CONFIG, { env, folder });
  expect(loaded.problems).toEqual([]);
  return { folder, loaded, env, paths: await pathsOf(loaded, env) };
}

async function pathsOf(loaded: LoadedConfig, env: Readonly<Record<string, string | undefined>>) {
  const named = await createWrittenPaths(() => loaded, { env, secrets: undefined });
  return protectedPaths(loaded, named.list(), env);
}

it('every key of the configuration that names a path is known to the list of what no command may write', () => {
  const found = new Set(pathKeys(configNode).map(({ at }) => at));
  expect([...found].toSorted()).toEqual(Object.keys(KEYS).toSorted());
});

it.each(Object.entries(KEYS))('what %s names is protected as the schema says', async (key, expected) => {
  const { folder, paths } = await example();
  if (expected === 'not protected') return expect(paths).not.toContain(join(folder, 'work'));
  const names = expected === 'read with the configuration' ? ['mcp.json', 'pasted.js'] : expected;
  for (const name of names) expect(paths, key).toContain(join(folder, name));
});

it('without an error only the paths of the configuration are protected', async () => {
  const { folder, loaded, env, paths } = await example();
  const place = { base: folder, folder, env, read: (_: SchemaNode, text: string) => text };
  const meant = namedPaths(configNode, loaded.config, place);
  expect([...paths].toSorted()).toEqual([...protectedPaths(loaded, meant, env)].toSorted());
});

it('compiled code of the command line is protected, wherever it is kept', async () => {
  const { folder, paths } = await example();
  expect(paths).toContain(join(homedir(), '.cache/toolcrib'));
  const loaded = await readConfigObject({}, { env: {}, folder });
  const env = { XDG_CACHE_HOME: join(folder, 'cache'), NODE_COMPILE_CACHE: join(folder, 'compiled') };
  for (const name of ['cache/toolcrib', 'compiled']) expect(await pathsOf(loaded, env)).toContain(join(folder, name));
});

it('folders of programs, the running code and what variables name as code are protected', async () => {
  const { folder } = await example();
  const mcp = { command: 'node', env: { NODE_OPTIONS: '--import=./hook.mjs -r ./more.cjs', PYTHONPATH: './lib:.' } };
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:relative`, NODE_OPTIONS: `--require "${folder}/own.cjs"` };
  const paths = await pathsOf(await readConfigObject({ sources: { served: { mcp } } }, { env, folder }), env);
  for (const name of ['bin', 'hook.mjs', 'more.cjs', 'lib', 'own.cjs']) expect(paths).toContain(join(folder, name));
  expect(paths).toContain(process.execPath);
  // What the code of Toolcrib imports is code of Toolcrib.
  for (const name of ['src', 'node_modules', 'package.json'])
    expect(paths).toContain(join(import.meta.dirname, '../..', name));
  for (const path of [folder, '/usr/bin', join(folder, 'relative')]) expect(paths).not.toContain(path);
});

it('also protected are the configuration, its neighbours, plugins, and files of pasted servers; folders and addresses are not', async () => {
  const { folder, paths } = await example();
  for (const name of [
    'toolcrib.yaml',
    'toolcrib.yml',
    'toolcrib.json',
    'package.json',
    'node_modules',
    '.npmrc',
    '.venv',
    'plugins',
    'inline.js',
  ])
    expect(paths).toContain(join(folder, name));
  for (const name of ['server', 'work', 'some-package', '']) expect(paths).not.toContain(join(folder, name));
  expect(paths.filter((path) => path.includes('https:'))).toEqual([]);
});

it('a text of the schema whose description speaks of a file, folder, path or module is marked as one', () => {
  const texts = (node: SchemaNode, at: string): readonly string[] => {
    if (node.use === 'spec') return [];
    const isPlain = node.type === 'string' && node.use === undefined && node.enum === undefined;
    const own = isPlain && /\b(file|folder|path|module|program)\b/i.test(node.description ?? '') ? [at] : [];
    const { properties = {}, additionalProperties, items, anyOf = [] } = node;
    return [
      ...own,
      ...anyOf.flatMap((branch) => texts(branch, at)),
      ...(items === undefined ? [] : texts(items, at)),
      ...Object.entries(properties).flatMap(([key, child]) => texts(child, `${at}.${key}`)),
      ...(additionalProperties ? texts(additionalProperties, `${at}.*`) : []),
    ];
  };
  // A claim of a token may be a dotted path, which is not a path of files.
  expect([...new Set(texts(configNode, ''))]).toEqual(['.access.jwt.rolesClaim']);
});
