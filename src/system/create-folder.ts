import { codeOf } from '../core/tool-error.ts';

// Not imported: an import statement reads all exports of a module of Node, which loads a large part of Node.
const { existsSync, mkdirSync, statSync } = process.getBuiltinModule('node:fs');
const { dirname } = process.getBuiltinModule('node:path');

/**
 * Creates a folder and the missing ones above it, for their owner only; an existing one stays as it is. The option
 * `recursive` of Node never returns where a folder says of all new ones that they do not exist, as those in /proc do.
 */
export function createFolder(path: string): void {
  const failure = tryToCreate(path);
  if (failure === undefined) return;
  const parent = dirname(path);
  if (codeOf(failure) !== 'ENOENT' || existsSync(parent)) throw failure;
  createFolder(parent);
  const again = tryToCreate(path);
  if (again !== undefined) throw again;
}

function tryToCreate(path: string): unknown {
  try {
    mkdirSync(path, { mode: 0o700 });
    return undefined;
  } catch (cause) {
    const isThere = codeOf(cause) !== 'ENOENT' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return isThere ? undefined : cause;
  }
}
