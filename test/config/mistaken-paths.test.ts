import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/crib/config/load-config.ts';
import { createWrittenPaths } from '../../src/crib/configured/written-paths.ts';

type Json = Readonly<Record<string, unknown>>;

/** An entry of every section that names a path, which is not there yet, and the path. */
const ENTRIES: readonly (readonly [section: string, entry: unknown, path: string])[] = [
  ['sources', { modules: './mods' }, 'mods'],
  ['sources', { modules: 'mods' }, 'mods'],
  ['sources', { files: ['specs', './more.yaml'] }, 'more.yaml'],
  ['sources', { python: 'py' }, 'py'],
  ['sources', { openapi: 'api.yaml' }, 'api.yaml'],
  ['sources', { module: './own.js#make' }, 'own.js'],
  ['sources', { mcpFile: 'servers.json' }, 'servers.json'],
  ['sources', { mcp: { command: './bin/server' } }, 'bin/server'],
  ['sources', { mcp: { command: 'node', args: ['main.js'], cwd: 'inner' } }, 'inner/main.js'],
  ['sources', { mcp: { command: 'node', envFile: 'server.env' } }, 'server.env'],
  ['sources', { mcp: { command: 'node', env: { NODE_OPTIONS: '--import=./hook.mjs' } } }, 'hook.mjs'],
  ['mcpServers', { command: 'node', args: ['pasted.js'] }, 'pasted.js'],
  ['services', './service.js', 'service.js'],
  ['extensions', { module: './guard.js' }, 'guard.js'],
  ['executors', { module: './executor.js' }, 'executor.js'],
  ['secrets', { file: 'token.txt' }, 'token.txt'],
  ['secrets', { command: ['./bin/secret', '--all'] }, 'bin/secret'],
];

const wrap = (section: string, entry: unknown): Json => ({ [section]: { one: entry } });
const asMap = (entry: unknown): Json => (typeof entry === 'string' ? { module: entry } : (entry as Json)); // the table has no others

/** Ways to get an entry wrong. */
const MISTAKES: Readonly<Record<string, (section: string, entry: unknown) => Json>> = {
  'no mistake': wrap,
  'an unknown key beside it': (section, entry) => wrap(section, { ...asMap(entry), unheardOf: 1 }),
  'a value of a wrong type beside it': (section, entry) => wrap(section, { ...asMap(entry), bundle: 7, hosts: 7 }),
  'a variable that is not set beside it': (section, entry) =>
    wrap(section, { ...asMap(entry), prefix: `\${UNSET_VARIABLE}` }),
  'two kinds in one entry': (section, entry) => wrap(section, { ...asMap(entry), http: 'https://example.com/x' }),
  'a name that is none': (section, entry) => ({ [section]: { 'not a name!': entry } }),
  'a mistake in another entry': (section, entry) => ({ [section]: { one: entry, other: { unheardOf: [] } } }),
  'a mistake in another section': (section, entry) => ({ ...wrap(section, entry), profiles: 7 }),
  'a list in the place of the section': (section, entry) => ({ [section]: [entry] }),
  'a list of named entries in the place of the section': (section, entry) => ({
    [section]: [{ name: 'one', ...asMap(entry) }],
  }),
  'one level too many': (section, entry) => ({ [section]: { one: { two: entry } } }),
  'one level too few': (section, entry) => ({ [section]: entry }),
  'the misspelt section': (section, entry) => ({ [`${section}s`]: { one: entry } }),
  'a value in a list': (section, entry) =>
    wrap(section, typeof entry === 'string' ? [entry] : mapValues(asMap(entry), (value) => [value])),
  'a value in a map': (section, entry) =>
    wrap(section, typeof entry === 'string' ? { path: entry } : mapValues(asMap(entry), (value) => ({ path: value }))),
  'a switch that does not exist': (section, entry) => wrap(section, { ...asMap(entry), disabled: true }),
};

function mapValues(map: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-mistaken-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** The paths that are listed after an edit of an empty configuration, from its folder. */
async function pathsAfter(text: string, files: Readonly<Record<string, string>> = {}) {
  const folder = newFolder();
  const env = { PATH: process.env.PATH };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const load = () => loadConfig({ cwd: folder, env });
  const first = await load();
  const named = await createWrittenPaths(() => first, { env, secrets: undefined });
  writeFileSync(join(folder, 'toolcrib.yaml'), text);
  const isRead = await named.follow(load, { cwd: folder }).then(
    () => true,
    () => false,
  );
  return { isRead, paths: named.list().map(({ path }) => path.replace(`${folder}/`, '')), named: named.list(), folder };
}

describe.each(ENTRIES)('what %s names by %j is protected', (section, entry, path) => {
  it.each(Object.entries(MISTAKES))('with %s', async (_, write) => {
    expect((await pathsAfter(JSON.stringify(write(section, entry)))).paths).toContain(path);
  });
});

const SERVERS = JSON.stringify({ mcpServers: { far: { command: 'node', args: ['far.js'], disabled: true } } });

describe('also protected', () => {
  it.each<[string, string, string]>([
    ['a disabled server', '{"mcpServers":{"off":{"command":"node","args":["off.js"],"disabled":true}}}', 'off.js'],
    ['a server that is not enabled', '{"mcpServers":{"off":{"command":"./off","enabled":false}}}', 'off'],
    ['a server of an unknown kind', '{"mcpServers":{"odd":{"comand":"./odd"}}}', 'odd'],
    ['a disabled server of a file', 'sources: { s: { mcpFile: servers.json } }', 'far.js'],
    ['a server of a file of an entry with a mistake', 'sources: { s: { mcpFile: servers.json, odd: 1 } }', 'far.js'],
    ['a server of a file under a misspelt key', 'sources: { s: { mcpfile: servers.json } }', 'far.js'],
    ['a server of a file with a mistake', 'sources: { s: { mcpFile: broken.json } }', 'near.js'],
    ['a key of an extension that is misspelt', 'extensions: { adit: { key: { file: a.pem } } }', 'a.pem'],
    ['a kind that is misspelt', 'sources: { s: { moduls: mods } }', 'mods'],
    ['a kind that does not exist', 'sources: { s: { plugin: ./plug } }', 'plug'],
    ['a kind that does not exist, with a name that is there', 'sources: { s: { plugin: there.txt } }', 'there.txt'],
    ['an extension written as a text', 'extensions: { guard: ./guard.js }', 'guard.js'],
    ['a section written as a text', 'sources: ./mods', 'mods'],
    ['the retriever beside a mistake', 'retrieval: { module: ./find.js, usage: maybe }', 'find.js'],
    ['a default of a variable', `sources: { s: { modules: "\${UNSET:-./mods}", odd: 1 } }`, 'mods'],
    ['an entry above a syntax error', 'services:\n  a: ./a.js\nprofiles: [', 'a.js'],
    ['an entry below a syntax error', 'profiles: {a: b: c}\nservices:\n  a: ./a.js\n', 'a.js'],
    ['an entry with a key that is there twice', 'services:\n  a: ./a.js\n  a: ./b.js\n', 'a.js'],
  ])('%s', async (_, text, path) => {
    const files = {
      'servers.json': SERVERS,
      'broken.json': '{"far":{"command":"node","args":["near.js"]},}}',
      'there.txt': '',
    };
    expect((await pathsAfter(text, files)).paths).toContain(path);
  });
});

it('an error protects no free data, addresses, roots or the folder of the configuration beside it', async () => {
  const folders = ['work', 'data', 'meta', '..', '.'];
  const { paths, folder, isRead } = await pathsAfter(
    JSON.stringify({
      sources: {
        s: { module: './own.js', options: { dir: './data' }, settings: { file: './meta' }, odd: '..', other: '.' },
      },
      executors: { shell: { rots: ['./work'] } },
      server: { hosts: 'example.com/x', odd: 'https://example.com/x' },
    }),
  );
  expect(isRead).toBe(false);
  expect(paths).toContain('own.js');
  for (const name of folders) expect(paths).not.toContain(name);
  expect(paths).not.toContain(folder);
  expect(paths.join()).not.toContain('https:');
});

it('files of secrets are recognized in an entry with an error', async () => {
  const text =
    'sources: { s: { mcp: { command: node, envFile: s.env }, odd: 1 } }\nsecrets: { a: { file: a.txt, odd: 1 } }';
  const { named, folder } = await pathsAfter(text);
  const secret = named.filter(({ holds }) => holds === 'secrets').map(({ path }) => path);
  for (const name of ['s.env', 'a.txt']) expect(secret).toContain(join(folder, name));
});

it('paths of a configuration before an edit stay protected, since one of its sources may still run', async () => {
  const folder = newFolder();
  const env = {};
  const load = () => loadConfig({ cwd: folder, env });
  const edit = (text: string) => writeFileSync(join(folder, 'toolcrib.yaml'), text);
  edit('sources: { s: { modules: ./before } }');
  const first = await load();
  const named = await createWrittenPaths(() => first, { env, secrets: undefined });
  edit('sources: { s: { modules: ./after } }');
  await named.follow(load, { cwd: folder });
  const paths = () => named.list().map(({ path }) => path);
  for (const name of ['before', 'after']) expect(paths()).toContain(join(folder, name));
  edit('services: ./mistaken.js');
  await expect(named.follow(load, { cwd: folder })).rejects.toThrow('services');
  for (const name of ['before', 'after', 'mistaken.js']) expect(paths()).toContain(join(folder, name));
  edit('{}');
  await named.follow(load, { cwd: folder });
  expect(paths()).not.toContain(join(folder, 'mistaken.js'));
});
