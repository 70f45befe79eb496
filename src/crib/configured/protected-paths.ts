import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { CONFIG_FILE_NAMES } from '../config/load-config.ts';
import type { LoadedConfig } from '../config/loaded-config.ts';
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
