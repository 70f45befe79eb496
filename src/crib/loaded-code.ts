import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { foldersAbove, isInside } from '../kinds/shell/trace-path.ts';

/** What decides which packages a module finds and how it is read: Node looks in every folder above it. */
export function aroundModule(path: string): readonly string[] {
  return foldersAbove(path).flatMap((folder) => [join(folder, 'node_modules'), join(folder, 'package.json')]);
}

/** Paths of code with the folders in which Python would look for what its files import. One that contains `around` is what programs work on. */
export function withPythonFolders(paths: readonly string[], around: string): readonly string[] {
  const folders = paths.filter((path) => /\.pyw?$/i.test(path)).map((path) => dirname(path));
  return [...new Set([...paths, ...folders.filter((folder) => !isInside(around, folder))])];
}

/** Folders of the system, which every sandbox shows read-only. */
const SYSTEM = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'];

/** The folders where programs are looked for, bubblewrap among them: a new file there can take the place of a program. */
export function programFolders(path = ''): readonly string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !SYSTEM.includes(resolve(folder)));
}

/** The code of this very process, which the next start runs again. */
export function runningCode(): readonly string[] {
  const [, main] = process.argv;
  const own = dirname(import.meta.dirname);
  return [process.execPath, own, ...(main !== undefined && isAbsolute(main) ? [main] : [])];
}

/** Variables that say what code a program loads. */
const CODE_VARIABLE =
  /^(NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONHOME|PYTHONSTARTUP|BASH_ENV|LD_PRELOAD|LD_LIBRARY_PATH|RUBYLIB|RUBYOPT|PERL5LIB|PERL5OPT)$/;

/** The files and folders that such variables name. A folder that contains `around` is what programs work on. */
export function namedInVariables(
  env: Readonly<Record<string, unknown>>,
  base: string,
  around: string,
): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => CODE_VARIABLE.test(name) && typeof value === 'string')
    .flatMap(([, value]) => String(value).split(/[\s=:,"']+/))
    .filter((text) => text !== '' && !text.startsWith('-') && (text.includes('/') || text.startsWith('.')))
    .map((text) => resolve(base, text))
    .filter((path) => !isInside(around, path));
}
