import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { isRecord } from '../core/json.ts';
import { findProgram } from '../runtime/shell/find-program.ts';
import { isScriptName } from '../runtime/shell/own-code.ts';
import { configNode } from './config/config-schema.ts';
import { CONFIG_FILE_NAMES } from './config/load-config.ts';
import type { LoadedConfig } from './config/loaded-config.ts';
import type { SchemaNode } from './config/schema-node.ts';
import { aroundModule, namedInVariables, programFolders, runningCode } from './loaded-code.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What lies beside a configuration and decides what code is loaded. */
const BESIDE = [...CONFIG_FILE_NAMES, 'package.json', 'node_modules', '.npmrc', '.venv'];

/** Every path that decides what the crib runs: no command may write it. What the schema marks as a path is found by walking it, so that no key can be forgotten. */
export function protectedPaths(
  { config, folder, files }: Pick<LoadedConfig, 'config' | 'folder' | 'files'>,
  env: Environment,
): readonly string[] {
  const place = { base: folder, env };
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
    ...pathsIn(configNode, config, place),
  ];
  return [...new Set(paths)];
}

/** Where compiled code of the command line is kept: the next start runs it. */
function compiledCode({ XDG_CACHE_HOME = '', HOME, NODE_COMPILE_CACHE }: Environment): readonly string[] {
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME || homedir(), '.cache');
  return [join(cache, 'toolcrib'), ...(NODE_COMPILE_CACHE ? [resolve(NODE_COMPILE_CACHE)] : [])];
}

interface Place {
  /** Relative paths start here. */
  readonly base: string;
  readonly env: Environment;
}

function pathsIn(node: SchemaNode, value: unknown, place: Place): readonly string[] {
  if (node.anyOf !== undefined) return node.anyOf.flatMap((branch) => pathsIn(branch, value, place));
  if (typeof value === 'string') return node.type === 'string' ? pathsOf(node, value, place) : [];
  if (Array.isArray(value)) return pathsOfList(node, value, place);
  if (!isRecord(value) || node.type !== 'object' || !(node.required ?? []).every((key) => key in value)) return [];
  const { properties = {}, additionalProperties: others } = node;
  const inside = typeof value.cwd === 'string' ? { ...place, base: resolve(place.base, value.cwd) } : place;
  const variables = isRecord(value.env) ? namedInVariables(value.env, inside.base, inside.base) : [];
  const members = Object.entries(value).flatMap(([key, member]) => {
    const child = Object.hasOwn(properties, key) ? properties[key] : others;
    return child === undefined || child === false ? [] : pathsIn(child, member, inside);
  });
  return [...variables, ...members];
}

function pathsOfList({ items, use }: SchemaNode, list: readonly unknown[], place: Place): readonly string[] {
  if (use !== 'commandLine') return items === undefined ? [] : list.flatMap((item) => pathsIn(items, item, place));
  const [program = '', ...args] = list.map(String);
  return [...programsIn(program, place), ...args.flatMap((text) => filesIn(text, place))];
}

function pathsOf(node: SchemaNode, text: string, place: Place): readonly string[] {
  if (node.decides === 'nothing') return [];
  const path = resolve(place.base, text);
  switch (node.use) {
    case 'path':
      return node.decides === 'file' && !isFile(path) ? [] : withSurroundings(path);
    case 'pathOrUrl':
      return /^https?:/i.test(text) ? [] : [path];
    case 'command':
      return programsIn(text, place);
    case 'argument':
      return filesIn(text, place);
    case 'module':
      return isAbsolute(text) ? withSurroundings(text.replace(/#[^/\\]*$/, '')) : []; // else a package
    default:
      return [];
  }
}

/** A program, or the folder of a virtual environment; a bare name is looked for on the PATH. */
function programsIn(text: string, { base, env }: Place): readonly string[] {
  if (/[/\\]/.test(text)) return [resolve(base, text)];
  const found = findProgram(text, { path: env.PATH, cwd: base });
  return found === undefined ? [] : [found];
}

/** What is imported by its path, with what decides what it imports by name. */
function withSurroundings(path: string): readonly string[] {
  return [path, ...aroundModule(path)];
}

/** The files that an argument names, alone or behind `=`, and scripts that are not there yet. Folders are what the program works on. */
function filesIn(text: string, { base }: Place): readonly string[] {
  const behind = text.indexOf('=') + 1;
  const paths = [text, ...(behind > 0 ? [text.slice(behind)] : [])];
  return paths
    .filter((path) => path !== '')
    .map((path) => resolve(base, path))
    .filter((path) => isFile(path) || isMissingScript(path))
    .flatMap((path) => (isScriptName(path) ? withSurroundings(path) : [path]));
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // too long for a path, or below a file
  }
}

function isMissingScript(path: string): boolean {
  return isScriptName(path) && !isFolder(path);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return true; // too long for a path, or below a file: nothing can be made there
  }
}
