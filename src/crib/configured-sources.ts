import { join } from 'node:path';
import { listOf } from '../core/bundle.ts';
import { canonicalJson, type MaybePromise } from '../core/json.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { McpServers } from '../runtime/mcp/mcp-servers.ts';
import { importExport } from '../runtime/modules/import-export.ts';
import { isThere } from '../runtime/placeholders.ts';
import { describePython } from '../runtime/python/described-source.ts';
import type { PythonWorkers } from '../runtime/python/python-workers.ts';
import { hostOf, type SecretText, secretsIn } from '../runtime/secrets/secret-template.ts';
import type { Secrets } from '../runtime/secrets/secrets.ts';
import type { Config } from './config/config.ts';
import type { LoadedConfig } from './config/loaded-config.ts';
import type {
  CustomSourceConfig,
  DatabaseSourceConfig,
  FilesSourceConfig,
  GrantedSecrets,
  HttpSourceConfig,
  McpSourceConfig,
  OpenApiSourceConfig,
  SourceConfig,
} from './config/source-config.ts';
import { pythonSource } from './configured-python.ts';
import { keptList } from './kept-list-of.ts';
import type { LazyStore } from './lazy-store.ts';
import { createRunTexts, type RunTexts } from './run-texts.ts';
import { withSettings } from './source-settings.ts';

/** What sources of a configuration are made with. */
export interface SourceSurroundings {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: LazyStore;
  readonly secrets: Secrets;
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
    'modules' in config ? modulesOf(name, requireOne(config.modules, name), watch) : undefined,
  (name, config, { folder }) => ('packages' in config ? packagesOf(name, folder) : undefined),
  (name, config, { folder }) => ('module' in config ? custom(name, config, folder) : undefined),
  (name, config, surroundings) => ('http' in config ? fetched(name, config, surroundings) : undefined),
  (name, config, surroundings) => ('database' in config ? stored(name, config, surroundings) : undefined),
  (name, config, surroundings) => ('mcp' in config ? served(name, config, surroundings) : undefined),
  (name, config, surroundings) => ('openapi' in config ? described(name, config, surroundings) : undefined),
  (name, config, surroundings) => {
    if (!('python' in config)) return undefined;
    const path = requireOne(config.python, name);
    return pythonSource({ name, path, config, kept: keptList(name, path, surroundings.store) }, surroundings);
  },
];

export function createConfiguredSources(surroundings: SourceSurroundings): ConfiguredSources {
  const known = new Map<string, { readonly text: string; readonly source: Source }>();
  const keep: Keep = async (name, config, make) => {
    const text = canonicalJson(config);
    const before = known.get(name);
    if (before?.text === text) return before.source;
    const source = await make();
    known.set(name, { text, source });
    return source;
  };
  return async (loaded) => {
    const { sources, tools = [] } = loaded.config;
    // Specs are judged by the secrets they name: with other secrets they are read again.
    const { names } = surroundings.secrets;
    const written = Object.entries(sources).map(([name, entry]) =>
      keep(name, bringsSpecs(entry) ? [entry, names] : entry, () => toSource(name, entry, surroundings)),
    );
    const specs = tools.length === 0 ? [] : [keep('inline', [tools, names], () => inlineOf(loaded, surroundings))];
    return Promise.all([...specs, ...written, ...discovered(sources, surroundings, keep)]);
  };
}

function bringsSpecs(config: SourceConfig): boolean {
  return 'files' in config || 'http' in config || 'database' in config || 'openapi' in config;
}

function runTextsOf({ env, secrets }: SourceSurroundings): RunTexts {
  return createRunTexts({ env, secretNames: new Set(secrets.names) });
}

/** The names of secrets that an entry grants. */
function namesOf(granted: GrantedSecrets = []): readonly string[] {
  return [granted].flat().flatMap(secretsIn);
}

type Keep = (name: string, config: unknown, make: () => Promise<Source>) => Promise<Source>;

async function toSource(name: string, config: SourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  for (const make of MAKERS) {
    const source = await make(name, config, surroundings);
    if (source !== undefined) return withSettings(source, withDefaultPrefix(name, config));
  }
  throw new ToolcribError('invalid_config', `The source "${name}" is of no known kind.`);
}

async function filesOf(name: string, config: FilesSourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { files } = await import('../sources/files.ts');
  const { watch, store, python } = surroundings;
  // Whatever copies every spec parses every line, so that an index would save nothing.
  const isCopied = config.trust === false || Boolean(config.prefix) || config.settings !== undefined;
  const source = files({
    name,
    path: config.files,
    watch,
    readRunText: runTextsOf(surroundings).local,
    ...(!isCopied && { indexes: store.indexes }),
  });
  return describePython(source, { workers: python, kept: keptList(`${name}:python`, '', store) });
}

async function modulesOf(name: string, path: string, watch: boolean): Promise<Source> {
  const { modules } = await import('../sources/modules.ts');
  return modules({ name, path, watch });
}

async function packagesOf(name: string, folder: string): Promise<Source> {
  const { packages } = await import('../sources/packages.ts');
  return packages({ name, folder });
}

async function inlineOf(loaded: LoadedConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { inline } = await import('../sources/inline.ts');
  const placeOf = (index: number) => {
    const line = loaded.locate(['tools', index])?.line;
    return loaded.file === undefined ? `tools[${index}]` : `${loaded.file}, line ${line}, tools[${index}]`;
  };
  const { folder, python, store } = surroundings;
  const specs = loaded.config.tools ?? [];
  const source = inline({ specs, folder, placeOf, readRunText: runTextsOf(surroundings).local });
  return describePython(source, { workers: python, kept: keptList('inline:python', '', store) });
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
    path && sources.plugins === undefined ? [keep('plugins', { path }, () => modulesOf('plugins', path, watch))] : [];
  const said = Object.values(sources).some((config) => 'packages' in config) || sources.packages !== undefined;
  // Where nothing can be installed, nothing is looked for: not even the code that looks is loaded.
  const isProject = ['package.json', 'node_modules'].some((name) => isThere(join(folder, name)));
  return said || !isProject
    ? plugins
    : [keep('packages', { folder }, () => packagesOf('packages', folder)), ...plugins];
}

/** Secrets of the address and the headers are filled in for each request, for the host of the address and no other. */
async function fetched(
  name: string,
  { http: url, headers = {}, refreshMs, secrets: granted }: HttpSourceConfig,
  surroundings: SourceSurroundings,
): Promise<Source> {
  const { http } = await import('../sources/http.ts');
  const { secrets } = surroundings;
  const fill = (text: SecretText) => secrets.fill(text, { host: hostOf(url) });
  const filled = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(headers).map(async ([key, text]) => [key, await fill(text)] as const)),
    );
  return http({
    name,
    url: typeof url === 'string' ? url : () => fill(url),
    headers: filled,
    readRunText: runTextsOf(surroundings).remote({ source: name, secrets: namesOf(granted) }),
    kept: keptList(name, url, surroundings.store),
    ...(refreshMs !== undefined && { refreshMs }),
  });
}

async function served(name: string, config: McpSourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { configuredMcp } = await import('./configured-mcp.ts');
  return configuredMcp(name, config, { ...surroundings, kept: keptList(name, config.mcp, surroundings.store) });
}

async function described(name: string, config: OpenApiSourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { configuredOpenApi } = await import('./configured-openapi.ts');
  return configuredOpenApi(name, config, { ...surroundings, kept: keptList(name, config.openapi, surroundings.store) });
}

async function stored(
  name: string,
  { refreshMs, secrets: granted }: DatabaseSourceConfig,
  surroundings: SourceSurroundings,
): Promise<Source> {
  const { database } = await import('../sources/database.ts');
  const { specs } = surroundings.store;
  const readRunText = runTextsOf(surroundings).remote({ source: name, secrets: namesOf(granted) });
  return database({ name, specs, readRunText, ...(refreshMs !== undefined && { refreshMs }) });
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
