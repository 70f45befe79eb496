import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Executor } from '../../core/executor.ts';
import { canonicalJson } from '../../core/json.ts';
import type { CribContext, PrivateFolder } from '../../core/ports/crib-context.ts';
import type { Store } from '../../core/ports/store.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { readOperatorSetting } from '../../identity/operator-token.ts';
import { findFormerFolders, findPrivateFolder, storeExists } from '../../store/private-folder.ts';
import { findStateFolder } from '../../store/store-place.ts';
import { isMemoryUrl } from '../../store/store-url.ts';
import { systemClock } from '../../system/clock.ts';
import { createRedact } from '../../system/secrets/redact.ts';
import { reveal, signWith } from '../../system/secrets/secret.ts';
import { hostOf } from '../../system/secrets/secret-template.ts';
import { createSecrets, type Secrets } from '../../system/secrets/secrets.ts';
import { auditKeysOf } from '../built-ins.ts';
import { type ConfigurationView, describeConfiguration } from '../config/configuration-view.ts';
import { type ConfigPlace, loadConfig, readConfigObject } from '../config/load-config.ts';
import type { Config, LoadedConfig } from '../config/loaded-config.ts';
import type { CribDefinition } from '../crib-definition.ts';
import type { ReadCribOptions } from '../crib-options.ts';
import type { EnrichPorts } from '../enrich/enrich-tools.ts';
import { createConfigInForce, watchConfiguration } from './config-in-force.ts';
import { changedExecutors, openKinds, ownExecutors } from './configured-executors.ts';
import { createConfiguredSources } from './configured-sources.ts';
import { lazyStore } from './lazy-store.ts';
import type { NamedPath } from './named-paths.ts';
import { hiddenPaths, protectedPaths } from './protected-paths.ts';
import { createSourceSecrets } from './source-secrets.ts';
import { createDefinitionReader } from './to-definition.ts';
import { createWrittenPaths } from './written-paths.ts';

/** A configuration that can be reloaded. */
export interface Configuration {
  readonly context: CribContext;
  /** Executors of the built-in kinds and of the configuration. */
  readonly executors: readonly Executor[];
  /** Reads the definition at the start. Throws for a mistake. */
  read(): Promise<CribDefinition>;
  /** Reads the configuration again and applies it. If that throws, the previous configuration stays in force. */
  readAgain<Applied>(apply: (definition: CribDefinition) => Promise<Applied>): Promise<Applied>;
  /** The configuration in force, without secrets. */
  shown(): ConfigurationView;
  readonly enriching: EnrichPorts;
  /** Calls `onChange` after an edit of any file that was read. */
  watch(onChange: () => void, warn: (message: string) => void): void;
  close(): Promise<void>;
}

/** Replaces a loaded configuration with an equal one, or with a part of it. */
export type Observe = (config: Config) => Config;

/** Opens the configuration of the options. */
export async function openConfiguration(options: ReadCribOptions, observe?: Observe): Promise<Configuration> {
  const { env } = process;
  const load = () => loadFrom(options, env, observe);
  const inForce = createConfigInForce(await load());
  const { loaded, config } = inForce;
  const { folder } = loaded();
  const named = await createWrittenPaths(loaded, { env, secrets: options.secrets });
  const secretsOf = () => ({ ...config().secrets, ...options.secrets });
  const secrets = createSecrets(secretsOf, { env, folder });
  const redact = createRedact(secrets);
  const warn = (message: string) => process.emitWarning(redact(message), 'ToolcribWarning');
  const store = lazyStore(() => openStoreOf(loaded(), options, { secrets, warn }), redact);
  const [used, first] = [createSourceSecrets(secrets), config()];
  const executorPorts = {
    folder,
    env,
    clock: systemClock,
    secrets,
    config,
    hidden: () => {
      const storeUrls = [options.store?.url, first.store?.url, config().store?.url];
      const paths = named.list();
      const kept = { ...namedKeyFiles(loaded(), options, env), ...secretFiles(paths), ...secretsOf() };
      return hiddenPaths({ folder, env, storeUrls, secrets: kept, readOnly: protectedPaths(loaded(), paths, env) });
    },
  };
  const kinds = await openKinds({ ...executorPorts, agents: options.agents ?? {} });
  const executors = [...kinds.map(({ executor }) => executor), ...(await ownExecutors(executorPorts))];
  const ports = { folder, env, store, secrets, used, kinds, noteRefused: named.noteRefused };
  const sourcesOf = createConfiguredSources({ ...ports, ...choicesOf(options, loaded) });
  const definitionOf = createDefinitionReader(options, { sourcesOf, store, secrets });
  const readDefinition = async (): Promise<CribDefinition> => {
    secrets.noteEnvironment();
    const definition = await definitionOf(loaded());
    watching?.listen(loaded().files, used.files());
    const changed = changedExecutors(first, loaded().config).map(
      (kind) => `The executor "${kind}" was changed; restart the crib to apply it.`,
    );
    return { ...definition, problems: [...definition.problems, ...changed] };
  };
  let privateFolder: PrivateFolder | undefined;
  let watching: ReturnType<typeof watchConfiguration> | undefined;
  return {
    executors,
    context: {
      store,
      sharedRates: isPostgres(loaded(), options) ? store.rates : undefined,
      isStored: () => isStored(loaded(), options),
      isNamedInCode: options.store !== undefined,
      stateFolder: () => findStateFolder(folder, env).path,
      privateFolder: () => (privateFolder ??= findPrivateFolder(folder, env)),
      formerFolders: () => findFormerFolders(folder, env),
      ...(options.configFile !== undefined && { configuration: loaded().file ?? folder }),
      redact,
      ...usesOf(secrets),
    },
    read: readDefinition,
    enriching: { loaded, secrets, redact },
    shown: () => describeConfiguration(loaded(), redact),
    async readAgain(apply) {
      const next = await named.follow(async () => requireContent(await load(), loaded()), placeOf(options));
      inForce.tryOut(next);
      try {
        const applied = await apply(await readDefinition());
        inForce.accept();
        return applied;
      } catch (cause) {
        inForce.refuse();
        named.refuse();
        await used.look(config().sources);
        throw cause;
      }
    },
    watch(onChange, told) {
      if (options.watch === false) return;
      const isCurrent = async () => saysTheSame(await load(), loaded());
      watching = watchConfiguration({ onChange, warn: told, used, isCurrent });
      watching.listen(loaded().files, used.files());
    },
    async close() {
      watching?.close();
      await store.close();
    },
  };
}

/** The ways in which other parts of the crib use secrets. */
function usesOf(secrets: Secrets): Pick<CribContext, 'hide' | 'revealSecret' | 'sign'> {
  return {
    hide: secrets.hide,
    revealSecret: async (name, host) => reveal(await secrets.get(name), { host }),
    sign: async (name, text) => signWith(await secrets.get(name), text),
  };
}

function saysTheSame(a: LoadedConfig, b: LoadedConfig): boolean {
  return canonicalJson(saidBy(a)) === canonicalJson(saidBy(b));
}

const saidBy = ({ config, problems, examples }: LoadedConfig) => [config, problems, examples?.stamp ?? ''];

/** Rejects a missing or empty file: an editor may remove or truncate a file before it writes it. */
function requireContent(next: LoadedConfig, before: LoadedConfig): LoadedConfig {
  if (before.file === undefined || (next.file !== undefined && !next.isEmpty) || before.isEmpty) return next;
  const what = next.file === undefined ? 'is gone' : 'is empty';
  throw new ToolcribError(
    'invalid_config',
    `${before.file} ${what}, so the previous configuration stays in force. To remove all entries, write {} into the file.`,
  );
}

async function loadFrom(
  options: ReadCribOptions,
  env: NodeJS.ProcessEnv,
  observe: Observe = (config) => config,
): Promise<LoadedConfig> {
  const surroundings = { env, secretNames: Object.keys(options.secrets ?? {}) };
  const { config = {}, configFile } = options;
  const read =
    configFile !== undefined
      ? await loadConfig({ ...surroundings, ...placeOf(options) })
      : await readConfigObject(config, { ...surroundings, folder: process.cwd() });
  return { ...read, config: observe(read.config) };
}

/** Options for creating sources. Sources are discovered only if there is a configuration. */
function choicesOf(options: ReadCribOptions, loaded: () => LoadedConfig) {
  const { watch = true, background = false, config, configFile, worker = false } = options;
  const discovers = config !== undefined || configFile !== undefined;
  const isInMemory = (): boolean => {
    const url = options.store?.url ?? loaded().config.store?.url;
    return typeof url === 'string' && isMemoryUrl(url);
  };
  return { watch, background, discovers, isInMemory, ...(worker !== false && { worker }) };
}

function placeOf({ configFile = '.' }: ReadCribOptions): ConfigPlace {
  const path = resolve(configFile);
  return isFolder(path) ? { cwd: path } : { cwd: process.cwd(), file: path };
}

/** Files of the operator token and the audit key that the operator names. They are hidden from tools like other secrets. */
function namedKeyFiles(
  { config }: Pick<LoadedConfig, 'config'>,
  { extensions = [] }: ReadCribOptions,
  env: NodeJS.ProcessEnv,
) {
  const audit = config.extensions?.audit;
  const named = [audit === false ? undefined : audit?.key, auditKeysOf(extensions).key];
  const token = readOperatorSetting(env);
  const files = [...named, token].flatMap((one) => (one !== undefined && 'file' in one ? [one.file] : []));
  return Object.fromEntries(files.map((file) => [file, { file }])); // a path cannot clash with the name of a secret
}

/** Existing files of secrets and variables in the configuration. */
function secretFiles(paths: readonly NamedPath[]) {
  const there = paths.filter(({ path, holds }) => holds === 'secrets' && existsSync(path));
  return Object.fromEntries(there.map(({ path }) => [path, { file: path }]));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** True for PostgreSQL, where several processes share rate counts. */
function isPostgres({ config }: LoadedConfig, options: ReadCribOptions): boolean {
  const url = options.store?.url ?? config.store?.url;
  const begin = typeof url === 'string' ? url : url?.secretTemplate[0];
  return typeof begin === 'string' && /^postgres(ql)?:/.test(begin);
}

/** True if the store exists. A URL with a secret belongs to a database server. */
function isStored({ config, folder }: LoadedConfig, options: ReadCribOptions): boolean {
  const url = options.store?.url ?? config.store?.url;
  const isPlain = url === undefined || typeof url === 'string';
  return !isPlain || storeExists({ url, configFolder: folder, env: process.env });
}

interface Opening {
  readonly secrets: Secrets;
  warn(message: string): void;
}

async function openStoreOf(
  { config, folder }: LoadedConfig,
  options: ReadCribOptions,
  { secrets, warn }: Opening,
): Promise<Store> {
  const { openStore } = await import('../../store/open-store.ts');
  const url = options.store?.url ?? config.store?.url;
  const filled = url === undefined || typeof url === 'string' ? url : await secrets.fill(url, { host: hostOf(url) });
  return openStore({ url: filled, configFolder: folder, env: process.env, warn });
}
