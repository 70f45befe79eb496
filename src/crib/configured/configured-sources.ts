import { join } from 'node:path';
import type {
  CustomSourceConfig,
  McpSourceConfig,
  ModulesSourceConfig,
  OpenApiSourceConfig,
  PackagesSourceConfig,
} from '../../config/types/sources.ts';
import { canonicalJson, type MaybePromise } from '../../core/json.ts';
import type { Source } from '../../core/source.ts';
import { listOf } from '../../core/text/names.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { McpServers } from '../../kinds/mcp/mcp-servers.ts';
import type { PythonWorkers } from '../../kinds/python/python-workers.ts';
import { code } from '../../sources/code.ts';
import { importExport } from '../../system/modules/import-export.ts';
import { isThere } from '../../system/placeholders.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import type { Config, SourceConfig } from '../config/loaded-config.ts';
import { inWords, type LoadedConfig } from '../config/loaded-config.ts';
import { connectionText, withSettings } from '../sources/source-settings.ts';
import { pythonSource } from './configured-python.ts';
import { fetched, filesOf, inlineOf, stored } from './configured-specs.ts';
import type { LazyStore } from './lazy-store.ts';
import { keptList } from './list-cache.ts';
import type { SourceSecrets } from './source-secrets.ts';

/** What sources of a configuration are made with. */
export interface SourceSurroundings {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: LazyStore;
  readonly secrets: Secrets;
  /** What of secrets and files the entries use. */
  readonly used: SourceSecrets;
  /** Whether edits are noticed as they happen. */
  readonly watch: boolean;
  /** Where tools of MCP servers find theirs. */
  readonly servers: McpServers;
  /** What looks at Python files. */
  readonly python: PythonWorkers;
  /** Whether servers are asked for tools that are not known after everything else has started. */
  readonly background: boolean;
}

/** Makes the sources of a configuration. An entry that did not change stays the same object, so that it goes on running. */
export type ConfiguredSources = (loaded: LoadedConfig) => Promise<readonly Source[]>;

type Maker = (name: string, config: SourceConfig, surroundings: SourceSurroundings) => MaybePromise<Source | undefined>;

/** How each kind of entry becomes a source; the key that names the kind tells them apart. Its code is loaded only then. */
const MAKERS: readonly Maker[] = [
  (name, config, surroundings) => ('files' in config ? filesOf(name, config, surroundings) : undefined),
  (name, config, { watch }) =>
    'modules' in config ? modulesOf(name, requireOne(config.modules, name), { ...config, watch }) : undefined,
  (name, config, { folder }) => ('packages' in config ? packagesOf(name, folder, config) : undefined),
  (name, config, { folder }) => ('module' in config ? custom(name, config, folder) : undefined),
  (name, config, surroundings) => ('http' in config ? fetched(name, config, surroundings) : undefined),
  (name, config, surroundings) => {
    if (!('database' in config)) return undefined;
    return config.database ? stored(name, config, surroundings) : { ...code([]), name };
  },
  (name, config, surroundings) => ('mcp' in config ? served(name, config, surroundings) : undefined),
  (name, config, surroundings) => ('openapi' in config ? described(name, config, surroundings) : undefined),
  (name, config, surroundings) => {
    if (!('python' in config)) return undefined;
    const path = requireOne(config.python, name);
    return pythonSource({ name, path, config, kept: keptList(name, path, surroundings.store) }, surroundings);
  },
];

export function createConfiguredSources(surroundings: SourceSurroundings): ConfiguredSources {
  const known: Known = new Map();
  const keep: Keep = async ({ name, from = name, text, make }) => {
    const before = known.get(name);
    if (before?.text === text) return before.source;
    const source = await make();
    known.set(name, { text, source, from });
    return source;
  };
  return async (loaded) => {
    const { sources, tools = [] } = loaded.config;
    await surroundings.used.look(sources);
    // Specs are judged by the secrets they name: with other secrets they are read again.
    const { names } = surroundings.secrets;
    const written = loaded.declared.flatMap(({ name, from }) => {
      const entry = sources[name];
      if (entry === undefined) return standIns({ name, from }, loaded, known).map((source) => Promise.resolve(source));
      const more = [surroundings.used.markOf(entry), bringsSpecs(entry) ? names : null];
      const make = () => toSource(name, entry, { ...surroundings, connection: () => connectionText(entry, more) });
      return [keep({ name, from, text: canonicalJson([entry, more]), make })];
    });
    const inline = { name: 'inline', text: canonicalJson([tools, names]), make: () => inlineOf(loaded, surroundings) };
    const specs = tools.length === 0 ? [] : [keep(inline)];
    const all = await Promise.all([...specs, ...written, ...discovered(sources, surroundings, keep)]);
    const named = new Set(all.map(({ name }) => name));
    for (const name of known.keys()) if (!named.has(name)) known.delete(name); // what was taken out does not come back
    return all;
  };
}

type Known = Map<string, { readonly text: string; readonly source: Source; readonly from: string }>;

/** The sources from before that go on for an entry that cannot be read: its own, or those of a file of servers. */
function standIns({ name, from }: { name: string; from: string }, loaded: LoadedConfig, known: Known) {
  const problem = loaded.problems.find(({ source }) => source === name);
  if (problem === undefined) return [];
  return [...known.values()]
    .filter(({ source, from: home }) => source.name === name || (home === name && from === name))
    .map(({ source }) => source)
    .filter((source) => source.onChange !== 'stop' && source.mayStay?.() !== false)
    .map((source): Source => ({ ...source, mistake: inWords(problem) }));
}

function bringsSpecs(config: SourceConfig): boolean {
  return 'files' in config || 'http' in config || 'database' in config || 'openapi' in config;
}

/** A source that is made once for each text. */
interface Kept {
  readonly name: string;
  /** The entry that it comes from. */
  readonly from?: string;
  readonly text: string;
  make(): Promise<Source>;
}

type Keep = (kept: Kept) => Promise<Source>;

type Making = SourceSurroundings & Pick<Source, 'connection'>;

async function toSource(name: string, config: SourceConfig, { connection, ...surroundings }: Making): Promise<Source> {
  for (const make of MAKERS) {
    const source = await make(name, config, surroundings);
    if (source === undefined) continue;
    const made = withSettings(source, withDefaultPrefix(name, config));
    return { ...made, ...(connection && { connection }), mayStay: surroundings.used.stillHas(name, config) };
  }
  throw new ToolcribError('invalid_config', `The source "${name}" is of no known kind.`);
}

async function modulesOf(
  name: string,
  path: string,
  { watch, initTimeoutMs }: Pick<SourceSurroundings, 'watch'> & Pick<ModulesSourceConfig, 'initTimeoutMs'>,
): Promise<Source> {
  const { modules } = await import('../../sources/modules/modules.ts');
  return modules({ name, path, watch, ...(initTimeoutMs !== undefined && { importTimeoutMs: initTimeoutMs }) });
}

async function packagesOf(
  name: string,
  folder: string,
  { packages: meant, initTimeoutMs }: Pick<PackagesSourceConfig, 'packages' | 'initTimeoutMs'>,
): Promise<Source> {
  const { packages } = await import('../../sources/modules/packages.ts');
  const only = meant === false ? [] : meant;
  return packages({
    name,
    folder,
    ...(only !== true && { only }),
    ...(initTimeoutMs !== undefined && { importTimeoutMs: initTimeoutMs }),
  });
}

/** Tools of MCP servers and OpenAPI documents bear their source's name, so that two servers do not clash. */
function withDefaultPrefix(name: string, config: SourceConfig): SourceConfig {
  if (!('openapi' in config)) return 'mcp' in config ? { prefix: name, ...config } : config;
  const { include: _include, exclude: _exclude, ...rest } = config; // by method and path, which the source alone knows
  return { prefix: name, ...rest };
}

/** What nobody has to write down: a folder named by the environment, and installed packages. */
function discovered(
  sources: Config['sources'],
  { env, folder, watch }: SourceSurroundings,
  keep: Keep,
): readonly Promise<Source>[] {
  const path = env.TOOLCRIB_PLUGINS_DIR;
  const plugins =
    path && sources.plugins === undefined
      ? [keep({ name: 'plugins', text: path, make: () => modulesOf('plugins', path, { watch }) })]
      : [];
  const said = Object.values(sources).some((config) => 'packages' in config) || sources.packages !== undefined;
  // Where nothing can be installed, nothing is looked for: not even the code that looks is loaded.
  const isProject = ['package.json', 'node_modules'].some((name) => isThere(join(folder, name)));
  return said || !isProject
    ? plugins
    : [
        keep({ name: 'packages', text: folder, make: () => packagesOf('packages', folder, { packages: true }) }),
        ...plugins,
      ];
}

async function served(name: string, config: McpSourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { configuredMcp } = await import('./configured-mcp.ts');
  return configuredMcp(name, config, { ...surroundings, kept: keptList(name, config.mcp, surroundings.store) });
}

async function described(name: string, config: OpenApiSourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { configuredOpenApi } = await import('./configured-openapi.ts');
  return configuredOpenApi(name, config, { ...surroundings, kept: keptList(name, config.openapi, surroundings.store) });
}

function requireOne(paths: string | readonly string[], name: string): string {
  const [path, ...more] = listOf(paths);
  if (path !== undefined && more.length === 0) return path;
  throw new ToolcribError('invalid_config', `The source "${name}" takes one folder; write a source for each.`);
}

/** A source of somebody's own: the module exports one, or makes one of the entry's options. */
function custom(name: string, config: CustomSourceConfig, folder: string): Source {
  const { module, options, initTimeoutMs } = config;
  return {
    name,
    ...(initTimeoutMs !== undefined && { startTimeoutMs: initTimeoutMs }),
    async start(context) {
      const exported = await importExport(module, folder);
      const source: unknown = typeof exported === 'function' ? await exported({ name, ...options }) : exported;
      if (typeof source !== 'object' || source === null || !('start' in source) || typeof source.start !== 'function') {
        throw new ToolcribError('invalid_config', `${module} does not export a source, nor a function that makes one`);
      }
      return source.start(context);
    },
  };
}
