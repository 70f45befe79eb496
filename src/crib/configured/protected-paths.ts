import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { HiddenPaths } from '../../config/records.ts';
import { namedInVariables } from '../../kinds/shell/own-code.ts';
import { stateFolders } from '../../store/state-folder.ts';
import { sqliteFileOf } from '../../store/store-url.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import { CONFIG_FILE_NAMES, type LoadedConfig } from '../config/loaded-config.ts';
import { aroundModule, programFolders, runningCode } from '../loaded-code.ts';
import type { NamedPath } from './named-paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Names next to a configuration that decide what code is loaded. */
const BESIDE = [...CONFIG_FILE_NAMES, 'package.json', 'node_modules', '.npmrc', '.venv'];

/** Every path that decides what the crib runs, so no command may write it. `named` are the paths in the configuration. */
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
    ...namedInVariables(env, { base: process.cwd(), around: folder }),
    ...named.map(({ path }) => path),
  ];
  return [...new Set(paths)];
}

/** Caches with compiled code of the command line, which the next start runs. */
function compiledCode({ XDG_CACHE_HOME = '', HOME, NODE_COMPILE_CACHE }: Environment): readonly string[] {
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME || homedir(), '.cache');
  return [join(cache, 'toolcrib'), ...(NODE_COMPILE_CACHE ? [resolve(NODE_COMPILE_CACHE)] : [])];
}

/** Options for finding the hidden paths of a crib. */
interface KeptAt {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Possible URLs of the store. */
  readonly storeUrls: readonly unknown[];
  readonly secrets: Readonly<Record<string, SecretDeclaration>>;
  /** Paths that decide what the crib runs. */
  readonly readOnly: readonly string[];
}

/** Suffixes of the files of an SQLite database. */
const OF_SQLITE = ['', '-wal', '-shm', '-journal'];

/** The paths to hide from commands: state folders with keys and tokens, also those of the user's other configurations, the database, and files with secrets. */
export function hiddenPaths({ folder, env, storeUrls, secrets, readOnly }: KeptAt): HiddenPaths {
  const { beside, states } = stateFolders(folder, env);
  const databases = storeUrls.flatMap((url) => (typeof url === 'string' ? (sqliteFileOf(url) ?? []) : []));
  const kept = Object.values(secrets).flatMap((secret) => ('file' in secret ? [resolve(folder, secret.file)] : []));
  const files = databases.flatMap((file) => OF_SQLITE.map((end) => `${resolve(folder, file)}${end}`));
  return { folders: [beside, states], files: [...files, ...kept], readOnly };
}
