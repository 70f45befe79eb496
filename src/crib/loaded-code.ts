import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { foldersAbove, isInside } from '../kinds/shell/trace-path.ts';

/** The paths that decide which packages a module imports and how Node loads it, in all folders above it. */
export function aroundModule(path: string): readonly string[] {
  const paths = foldersAbove(path).flatMap((folder) => [join(folder, 'node_modules'), join(folder, 'package.json')]);
  return paths.filter((one) => !paths.some((other) => other !== one && isInside(one, other)));
}

/** Adds the folders in which Python files look for imports, except folders that contain `around`: those are work folders. */
export function withPythonFolders(paths: readonly string[], around: string): readonly string[] {
  const folders = paths.filter((path) => /\.pyw?$/i.test(path)).map((path) => dirname(path));
  return [...new Set([...paths, ...folders.filter((folder) => !isInside(around, folder))])];
}

/** System folders, which every sandbox mounts read-only. */
const SYSTEM = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'];

/** The folders of the PATH. A new file there can replace a program, for example bubblewrap. */
export function programFolders(path = ''): readonly string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !SYSTEM.includes(resolve(folder)));
}

/** The code of this process and the packages that it imports, which the next start runs again. */
export function runningCode(): readonly string[] {
  const [, main] = process.argv;
  const code = [dirname(import.meta.dirname), ...(main !== undefined && isAbsolute(main) ? [main] : [])];
  return [process.execPath, ...code, ...code.flatMap(aroundModule)];
}
