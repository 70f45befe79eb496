import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { HiddenPaths } from '../../config/records.ts';
import { stateFolders } from '../../store/state-folder.ts';
import { sqliteFileOf } from '../../store/store-url.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import { CONFIG_FILE_NAMES, type LoadedConfig } from '../config/loaded-config.ts';
import { aroundModule, namedInVariables, programFolders, runningCode } from '../loaded-code.ts';
import type { NamedPath } from './named-paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What lies beside a configuration and decides what code is loaded. */
const BESIDE = [...CONFIG_FILE_NAMES, 'package.json', 'node_modules', '.npmrc', '.venv'];

/** Every path that decides what the crib runs: no command may write it. `named` are those that the configuration names. */
export function protectedPaths(
  { folder, files }: Pick<LoadedConfig, 'folder' | 'files'>,
  named: readonly NamedPath[],
  env: Environment,
): readonly string[] {
  const plugins = env.TOOLCRIB_PLUGINS_DIR;
  const paths = [
    ...files,
    ...BESIDE.map((name) => join(folder, name)),
    ...aroundModule(folder),
    ...(plugins ? [resolve(plugins)] : []),
    ...compiledCode(env),
    ...programFolders(env.PATH),
    ...runningCode(),
    ...namedInVariables(env, process.cwd(), folder),
    ...named.map(({ path }) => path),
  ];
  return [...new Set(paths)];
}

/** Where compiled code of the command line is kept: the next start runs it. */
function compiledCode({ XDG_CACHE_HOME = '', HOME, NODE_COMPILE_CACHE }: Environment): readonly string[] {
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME || homedir(), '.cache');
  return [join(cache, 'toolcrib'), ...(NODE_COMPILE_CACHE ? [resolve(NODE_COMPILE_CACHE)] : [])];
}

/** Where a crib keeps what no program that it runs may see. */
interface KeptAt {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Addresses that the store may have, as far as they can be told. */
  readonly storeUrls: readonly unknown[];
  readonly secrets: Readonly<Record<string, SecretDeclaration>>;
  /** What decides what the crib runs. */
  readonly readOnly: readonly string[];
}

/** What SQLite keeps beside a database. */
const OF_SQLITE = ['', '-wal', '-shm', '-journal'];

/** Hidden are the state folders with keys and tokens, those of other configurations of this user as well, the database, and files that hold secrets. */
export function hiddenPaths({ folder, env, storeUrls, secrets, readOnly }: KeptAt): HiddenPaths {
  const { beside, states } = stateFolders(folder, env);
  const databases = storeUrls.flatMap((url) => (typeof url === 'string' ? (sqliteFileOf(url) ?? []) : []));
  const kept = Object.values(secrets).flatMap((secret) => ('file' in secret ? [resolve(folder, secret.file)] : []));
  const files = databases.flatMap((file) => OF_SQLITE.map((end) => `${resolve(folder, file)}${end}`));
  return { folders: [beside, states], files: [...files, ...kept], readOnly };
}
