import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Crib, Extension, ToolSpec } from '../../../src/index.ts';
import { withPrograms } from '../../kinds/shell/shell-shop.ts';
import { ALICE, outcomeOf, type Place, type Row, showCrib, type Written } from './rows.ts';
import { api, SPECS } from './upstream.ts';

const SLOW = "import timers from 'node:timers/promises';\nawait timers.setTimeout(60);\n";
const tools = (before = '') => `${before}
const tool = (name) => ({ name, description: 'Says ' + name, tags: ['talk'], input: { type: 'object' }, execute: () => name });
export const echo = tool('echo');
export const other = tool('other');
export const where = ${JSON.stringify(SPECS[2])};
`;
const source = (before = '') => `${tools(before)}
export default () => ({ name: 'own', start: async () => {
  await new Promise((resolve) => setTimeout(resolve, ${before === '' ? 0 : 700}));
  return { specs: () => [echo, other, where], onChange: () => () => {}, status: () => ({ state: 'ready' }), close: async () => {} };
} });
`;
const manifest = (name: string) =>
  JSON.stringify({
    name,
    type: 'module',
    main: './index.js',
    toolcrib: { tools: { echo: './index.js#echo', other: './index.js#other', where: './index.js#where' } },
  });

const FILES: Readonly<Record<string, string>> = {
  'specs.json': JSON.stringify({ tools: SPECS }),
  'modules/tools.mjs': tools(),
  'slow-modules/tools.mjs': tools(SLOW),
  'source.mjs': source(),
  'slow-source.mjs': source(SLOW),
  'package.json': JSON.stringify({ name: 'project', dependencies: { quick: '*', slow: '*' } }),
  'node_modules/quick/package.json': manifest('quick'),
  'node_modules/quick/index.js': tools(),
  'node_modules/slow/package.json': manifest('slow'),
  'node_modules/slow/index.js': tools(SLOW),
  'python/tools.py':
    'def echo():\n    """Says it."""\n    return "echo"\n\ndef other():\n    """Other."""\n    return 1\n',
  'api.json': JSON.stringify(api('SERVER')),
};

/** The entries of a kind of source: a normal one, and one that starts slowly. */
interface Kind {
  readonly usual: Written;
  readonly slow?: Written;
  /** Its tools are trusted unless it says otherwise. */
  readonly isTrusted?: true;
  /** It can bring commands. */
  readonly hasCommands?: true;
  /** The begin of the path where its list is read again. */
  readonly refreshed?: Written;
}

const PATIENT = { initTimeoutMs: 60_000 };
const PYTHON = { python: './python', ...PATIENT };
const REMOTE = { kinds: ['http', 'task', 'shell'] };
const KINDS: Readonly<Record<string, Kind>> = {
  mcp: { usual: { mcp: { url: 'SERVER/mcp' } }, slow: { mcp: { url: 'SERVER/mcp?slow' } } },
  files: { usual: { files: './specs.json' }, isTrusted: true, hasCommands: true },
  modules: {
    usual: { modules: './modules', ...PATIENT },
    slow: { modules: './slow-modules' },
    isTrusted: true,
    hasCommands: true,
  },
  packages: {
    usual: { packages: ['quick'], ...PATIENT },
    slow: { packages: ['slow'] },
    isTrusted: true,
    hasCommands: true,
  },
  python: { usual: PYTHON, slow: PYTHON, isTrusted: true },
  openapi: { usual: { openapi: './api.json' }, slow: { openapi: 'SERVER/api.json?slow' }, isTrusted: true },
  http: {
    usual: { http: 'SERVER/specs', ...REMOTE },
    slow: { http: 'SERVER/specs?slow', ...REMOTE },
    hasCommands: true,
  },
  database: { usual: { database: true, ...REMOTE }, hasCommands: true },
  module: { usual: { module: './source.mjs' }, slow: { module: './slow-source.mjs' }, hasCommands: true },
  mcpFile: { usual: { mcpFile: 'FILE' }, slow: { mcpFile: 'FILE?slow' } },
};

/** Before and after, for each setting that every kind has. */
function settingsOf(
  { isTrusted, hasCommands, slow, usual }: Kind,
  name: string,
): Readonly<Record<string, readonly [Written, Written]>> {
  return {
    control: [{}, {}],
    bundle: [{}, { bundle: 'together' }],
    overrides: [{}, { overrides: { '*echo': { title: 'Other' } } }],
    ...(!('python' in usual) && { trust: [{}, { trust: isTrusted !== true }] }),
    prefix: [{}, { prefix: `p_${name}` }],
    kinds: [{}, { kinds: ['http', 'task'].slice('http' in usual || 'database' in usual ? 0 : 1, 1) }],
    include: [{}, { include: 'openapi' in usual ? 'GET /pets/other' : 'other' }],
    exclude: [{}, { exclude: 'openapi' in usual ? 'GET /pets' : 'echo' }],
    settings: [{}, { settings: { calendar: 'work' } }],
    onChange: [{}, { onChange: 'stop' }],
    runOn: [{}, { runOn: 'worker' }], // refused: the store of these rows is in memory
    ...(hasCommands && { sandbox: [{}, { sandbox: 'preferred' }] }),
    ...(slow && { initTimeoutMs: [{ initTimeoutMs: 60_000 }, { initTimeoutMs: 1 }] }),
  };
}

/** One source of each kind for each setting: they do not get into each other's way. */
const plans = Object.entries(KINDS).flatMap(([kind, given]) =>
  Object.entries(settingsOf(given, kind)).map(([setting, sides]) => {
    const name = `${kind}_${setting}`;
    const usual = setting === 'initTimeoutMs' ? (given.slow ?? {}) : given.usual;
    const base = kind === 'mcpFile' ? { mcpFile: `./${name}.json` } : usual;
    const isSlow = kind === 'mcpFile' && setting === 'initTimeoutMs';
    const server = { mcpServers: { [name]: { url: isSlow ? 'SERVER/mcp?slow' : 'SERVER/mcp' } } };
    const [before, after] = sides;
    const entry = { prefix: name, ...base };
    const file = JSON.stringify(server);
    const key = `sources.*(${kind}).${setting}`;
    const entryName = kind === 'mcpFile' ? `file_${setting}` : name;
    return { key, name, entryName, kind, file, before: { ...entry, ...before }, after: { ...entry, ...after } };
  }),
);

const rest = { executors: { http: { allowPrivate: '127.0.0.1' } }, profiles: { default: {} } };
const sourcesOf = (kind: string, side: 'before' | 'after') =>
  Object.fromEntries(plans.filter((plan) => plan.kind === kind).map((plan) => [plan.entryName, plan[side]]));
const files = {
  ...FILES,
  ...Object.fromEntries(plans.filter(({ kind }) => kind === 'mcpFile').map(({ name, file }) => [`${name}.json`, file])),
};

/** The settings that calls were made with, by tool. */
const settingsSeen = new Map<string, unknown>();
const watcher: Extension = {
  name: 'watcher',
  priority: 500,
  wrap: (call, next) => {
    settingsSeen.set(call.spec.name, call.settings);
    return next(call);
  },
};

/** The tools of each source, their answers, and what remains after an invalid edit. */
async function show({ crib, folder }: Place): Promise<Readonly<Record<string, unknown>>> {
  await vi.waitUntil(() => crib.sources().every(({ state }) => state !== 'starting')); // a busy machine starts none of them quickly
  const atFirst = new Map(crib.sources().map(({ name, state }) => [name, state]));
  for (const spec of SPECS) await crib.store?.specs.put(spec, 'ann');
  await crib.reloadStored();
  const chest = await crib.open(undefined, ALICE);
  const shown = await Promise.all(
    crib.sources().map(async ({ name }) => {
      const specs = crib.catalog.specs.filter((spec) => spec.source === name);
      const results = specs.filter(({ origin }) => ['echo', 'where'].includes(origin)).map((spec) => call(chest, spec));
      return [
        name,
        {
          atFirst: atFirst.get(name),
          ...stateOf(crib, name),
          specs,
          bundles: bundlesOf(crib, specs),
          results: await Promise.all(results),
        },
      ];
    }),
  );
  return Object.fromEntries([...shown, ...(await afterEdit(crib, folder))]);
}

async function call(chest: Awaited<ReturnType<Crib['open']>>, { name, origin }: ToolSpec): Promise<unknown> {
  const result = await chest.call(name, origin === 'echo' && name.startsWith('mcp') ? { text: 'hi' } : {});
  const outcome = outcomeOf(result);
  return [outcome, settingsSeen.get(name)];
}

function stateOf(crib: Crib, name: string): object {
  const { state, toolCount, reason } = crib.sources().find((report) => report.name === name) ?? {};
  return { state, toolCount, reason };
}

function bundlesOf(crib: Crib, specs: readonly ToolSpec[]): unknown {
  return specs.map(({ name }) => crib.bundles.of(name).map((bundle) => bundle.name));
}

/** Entries whose `onChange` differs get a key that does not exist. */
async function afterEdit(crib: Crib, folder: string): Promise<readonly (readonly [string, unknown])[]> {
  const file = join(folder, 'toolcrib.yaml');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { sources: Record<string, Written> };
  const edited = plans.filter(({ key, entryName }) => key.endsWith('.onChange') && entryName in config.sources);
  for (const { entryName } of edited) config.sources[entryName] = { ...config.sources[entryName], unheardOf: true };
  writeFileSync(file, JSON.stringify(config));
  await crib.reload();
  return edited.map(({ name }) => [name, stateOf(crib, name)]);
}

/** One row for each setting of each kind; the rows of a kind share their cribs. */
export const settingRows: readonly (Row & { readonly part: string })[] = plans
  .filter(({ name }) => !name.endsWith('_control'))
  .map(({ key, name, before, after, kind }) => ({
    key,
    before: { sources: { [name]: before } },
    after: { sources: { [name]: after } },
    part: name,
    show,
    ...(kind === 'mcpFile' && { readAs: key.replace('(mcpFile)', '(mcp)') }),
  }));

export const KINDS_OF_SOURCES = Object.keys(KINDS);

/** The tools of the sources of a kind, each with another setting. */
export async function showKind(kind: string, side: 'before' | 'after') {
  if (KINDS[kind]?.hasCommands) withPrograms(['bwrap']); // without a sandbox it shows what may run without one
  const written = { ...rest, sources: sourcesOf(kind, side) };
  const { text, read } = await showCrib(written, { show, files, options: { extensions: [watcher] }, key: kind });
  return { parts: JSON.parse(text) as Readonly<Record<string, unknown>>, read };
}
