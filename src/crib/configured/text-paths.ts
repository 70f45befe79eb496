import { existsSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { SchemaNode } from '../../config/schema-node.ts';
import { isScriptName } from '../../kinds/shell/own-code.ts';
import { findProgram } from '../../kinds/shell/surroundings.ts';
import { isInside } from '../../kinds/shell/trace-path.ts';
import { aroundModule } from '../loaded-code.ts';

const MAX_PATH_LENGTH = 4096;

/** The context of strings in a configuration. */
export interface TextPlace {
  /** Base of relative paths. */
  readonly base: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The paths in a string of the configuration, according to its schema node. */
export function pathsOf(node: SchemaNode, text: string, place: TextPlace): readonly string[] {
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
      return isAbsolute(text) ? withSurroundings(withoutFragment(text)) : []; // else a package
    default:
      return [];
  }
}

/** The program of a command line and the files in its arguments. */
export function pathsOfCommandLine([program = '', ...args]: readonly string[], place: TextPlace): readonly string[] {
  return [...programsIn(program, place), ...args.flatMap((text) => filesIn(text, place))];
}

/** The path that a string without a schema seems to be, except folders that contain the configuration: those are work folders. */
export function guessPath(text: string, path: string, folder: string): readonly string[] {
  if (text.length > MAX_PATH_LENGTH || /^[a-z][a-z\d+.-]*:|[\0\n]/i.test(text)) return [];
  const named = withoutFragment(path);
  const looksLikeOne = /^(\.{0,2}|~)[/\\]/.test(text) || (/[/\\]/.test(text) && !/\s/.test(text));
  return (looksLikeOne || existsSync(named)) && !isInside(folder, named) ? withSurroundings(named) : [];
}

/** A program or the folder of a virtual environment. A bare name is looked up on the PATH. */
function programsIn(text: string, { base, env }: TextPlace): readonly string[] {
  if (/[/\\]/.test(text)) return [resolve(base, text)];
  const found = findProgram(text, { path: env.PATH, cwd: base });
  return found === undefined ? [] : [found];
}

/** A module path with the paths that decide which packages it imports. */
function withSurroundings(path: string): readonly string[] {
  return [path, ...aroundModule(path)];
}

/** The files in an argument, alone or after `=`, including scripts that do not exist yet. Folders are work folders and do not count. */
function filesIn(text: string, { base }: TextPlace): readonly string[] {
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
    return false; // the path is too long, or below a file
  }
}

function isMissingScript(path: string): boolean {
  return isScriptName(path) && !isFolder(path);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return true; // the path is too long, or below a file: nothing can be created there
  }
}

/** The path without the name of an export behind `#` of its last part. */
function withoutFragment(path: string): string {
  const last = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
  const at = path.indexOf('#', last);
  return at < 0 ? path : path.slice(0, at);
}
