import { isAbsolute, resolve } from 'node:path';
import { isRecord } from '../core/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How a tool runs, with relative paths taken from the folder of the file that names them. */
export function resolveRunPaths(run: Fields, folder: string): Fields {
  const { kind, cwd, file, module, sandbox, folder: found } = run;
  return {
    ...run,
    ...(cwd !== undefined && { cwd: resolvePath(cwd, folder) }),
    ...(file !== undefined && { file: resolvePath(file, folder) }),
    // `file_tools` and `lodash` are names; only `./tools.ts` is a path.
    ...(isDotted(module) && { module: resolve(folder, module) }),
    // Modules of Python and installed packages are found by name, and from there.
    ...((kind === 'python' || (kind === 'function' && isName(module))) && {
      folder: resolvePath(found ?? '.', folder),
    }),
    ...(isRecord(sandbox) && { sandbox: resolveSandbox(sandbox, folder) }),
  };
}

function resolveSandbox(sandbox: Fields, folder: string): Fields {
  const { read, write } = sandbox;
  const resolveAll = (paths: unknown) =>
    Array.isArray(paths) ? paths.map((path) => resolvePath(path, folder)) : resolvePath(paths, folder);
  return {
    ...sandbox,
    ...(read !== undefined && { read: resolveAll(read) }),
    ...(write !== undefined && { write: resolveAll(write) }),
  };
}

// What begins with a placeholder may turn out to be absolute, and is for whoever fills it in.
function resolvePath(path: unknown, folder: string): unknown {
  if (typeof path !== 'string' || path === '' || path.startsWith('{') || isAbsolute(path)) return path;
  return resolve(folder, path);
}

function isName(module: unknown): boolean {
  return typeof module === 'string' && !isDotted(module) && !isAbsolute(module);
}

function isDotted(path: unknown): path is string {
  return typeof path === 'string' && /^\.{1,2}([/\\]|$)/.test(path);
}
