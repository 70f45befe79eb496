import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { listOf } from '../core/bundle.ts';
import { canonicalJson, type MaybePromise } from '../core/json.ts';
import type { Source } from '../core/source.ts';
import { notAvailable, ToolcribError } from '../core/tool-error.ts';
import { importExport } from '../runtime/modules/import-export.ts';
import { hostOf, type SecretText } from '../runtime/secrets/secret-template.ts';
import type { Secrets } from '../runtime/secrets/secrets.ts';
import type { Config } from './config/config.ts';
import type {
  CustomSourceConfig,
  DatabaseSourceConfig,
  FilesSourceConfig,
  HttpSourceConfig,
  OverrideConfig,
  SourceConfig,
} from './config/source-config.ts';
import type { LazyStore } from './lazy-store.ts';
import { withSettings } from './source-settings.ts';

/** What sources of a configuration are made with. */
export interface SourceSurroundings {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: LazyStore;
  readonly secrets: Secrets;
  /** Whether edits are noticed as they happen. */
  readonly watch: boolean;
}

/** Makes the sources of a configuration. An entry that did not change stays the same object, so that it goes on running. */
export type ConfiguredSources = (config: Config) => Promise<readonly Source[]>;

type Maker = (name: string, config: SourceConfig, surroundings: SourceSurroundings) => MaybePromise<Source | undefined>;

/** How each kind of entry becomes a source; the key that names the kind tells them apart. Its code is loaded only then. */
const MAKERS: readonly Maker[] = [
  (name, config, { watch }) => ('files' in config ? filesOf(name, config, watch) : undefined),
  (name, config, { watch }) =>
    'modules' in config ? modulesOf(name, requireOne(config.modules, name), watch) : undefined,
  (name, config, { folder }) => ('packages' in config ? packagesOf(name, folder) : undefined),
  (name, config, { folder }) => ('module' in config ? custom(name, config, folder) : undefined),
  (name, config, { secrets }) => ('http' in config ? fetched(name, config, secrets) : undefined),
  (name, config, { store }) => ('database' in config ? stored(name, config, store) : undefined),
  (name, config) => ('mcp' in config ? later(name, 'An MCP server') : undefined),
  (name, config) => ('openapi' in config ? later(name, 'An OpenAPI document') : undefined),
  (name, config) => ('python' in config ? later(name, 'A folder of Python') : undefined),
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
  return async ({ sources, tools = [] }) => {
    const written = Object.entries(sources).map(([name, entry]) =>
      keep(name, entry, () => toSource(name, entry, surroundings)),
    );
    const specs = tools.length === 0 ? [] : [keep('inline', tools, () => inlineOf(tools, surroundings.folder))];
    return Promise.all([...specs, ...written, ...discovered(sources, surroundings, keep)]);
  };
}

type Keep = (name: string, config: unknown, make: () => Promise<Source>) => Promise<Source>;

async function toSource(name: string, config: SourceConfig, surroundings: SourceSurroundings): Promise<Source> {
  // A tool whose argument should have been fixed must not be offered with that argument open.
  const isNarrowed = ({ hiddenArguments, fixedArguments }: OverrideConfig) =>
    hiddenArguments !== undefined || fixedArguments !== undefined;
  if (Object.values(config.overrides ?? {}).some(isNarrowed)) return later(name, 'Hiding or fixing arguments');
  for (const make of MAKERS) {
    const source = await make(name, config, surroundings);
    if (source !== undefined) return withSettings(source, withDefaultPrefix(name, config));
  }
  throw new ToolcribError('invalid_config', `The source "${name}" is of no known kind.`);
}

async function filesOf(name: string, config: FilesSourceConfig, watch: boolean): Promise<Source> {
  const { files } = await import('../sources/files.ts');
  return files({ name, path: config.files, watch });
}

async function modulesOf(name: string, path: string, watch: boolean): Promise<Source> {
  const { modules } = await import('../sources/modules.ts');
  return modules({ name, path, watch });
}

async function packagesOf(name: string, folder: string): Promise<Source> {
  const { packages } = await import('../sources/packages.ts');
  return packages({ name, folder });
}

async function inlineOf(specs: readonly unknown[], folder: string): Promise<Source> {
  const { inline } = await import('../sources/inline.ts');
  return inline({ specs, folder });
}

/** Tools of MCP servers and OpenAPI documents bear their source's name, so that two servers do not clash. */
function withDefaultPrefix(name: string, config: SourceConfig): SourceConfig {
  return 'mcp' in config || 'openapi' in config ? { prefix: name, ...config } : config;
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
  const isProject = ['package.json', 'node_modules'].some((name) => existsSync(join(folder, name)));
  return said || !isProject
    ? plugins
    : [keep('packages', { folder }, () => packagesOf('packages', folder)), ...plugins];
}

/** Secrets of the address and the headers are filled in for each request, for the host of the address and no other. */
async function fetched(
  name: string,
  { http: url, headers = {}, refreshMs }: HttpSourceConfig,
  secrets: Secrets,
): Promise<Source> {
  const { http } = await import('../sources/http.ts');
  const fill = (text: SecretText) => secrets.fill(text, { host: hostOf(url) });
  const filled = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(headers).map(async ([key, text]) => [key, await fill(text)] as const)),
    );
  return http({
    name,
    url: typeof url === 'string' ? url : () => fill(url),
    headers: filled,
    ...(refreshMs !== undefined && { refreshMs }),
  });
}

async function stored(name: string, { refreshMs }: DatabaseSourceConfig, { specs }: LazyStore): Promise<Source> {
  const { database } = await import('../sources/database.ts');
  return database({ name, specs, ...(refreshMs !== undefined && { refreshMs }) });
}

function requireOne(paths: string | readonly string[], name: string): string {
  const [path, ...more] = listOf(paths);
  if (path !== undefined && more.length === 0) return path;
  throw new ToolcribError('invalid_config', `The source "${name}" takes one folder; write a source for each.`);
}

/** A source of somebody's own: the module exports one, or makes one of the entry's options. */
function custom(name: string, { module, options }: CustomSourceConfig, folder: string): Source {
  return {
    name,
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

/** A source whose part is not here yet: it is listed, and says so. */
function later(name: string, what: string): Source {
  return {
    name,
    start: async () => {
      throw notAvailable(what, 'the source is listed without tools');
    },
  };
}
