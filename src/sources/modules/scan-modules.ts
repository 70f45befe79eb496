import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';

export interface ScanOptions {
  /** Hears of every folder in which modules may appear, before it is read. */
  onFolder(folder: string): void;
  /** Hears of what had to be left out. */
  warn(message: string): void;
}

const MODULE = /\.(?:js|mjs|cjs|ts|mts)$/;
const NO_MODULE = /\.d\.m?ts$|\.test\.[^.]+$/;

/** The modules in a folder and the folders below it, or the one file that `path` is, in the order of their names. Throws if there is nothing. */
export async function scanModules(path: string, { onFolder, warn }: ScanOptions): Promise<readonly string[]> {
  if ((await stat(path).catch(describeMissing(path))).isFile()) {
    onFolder(dirname(path));
    if (MODULE.test(path)) return [path];
    throw new ToolcribError('invalid_option', `${path} is no module; it ends in none of .js, .mjs, .cjs, .ts, .mts`);
  }
  const files: string[] = [];
  const seen = new Set<string>();

  const isNew = async (found: string): Promise<boolean> => {
    const real = await realpath(found);
    if (seen.has(real)) return false; // a link to what was found already, or into a circle
    seen.add(real);
    return true;
  };
  const walk = async (folder: string): Promise<void> => {
    if (!(await isNew(folder))) return;
    onFolder(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.filter(isOfInterest).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const found = join(folder, entry.name);
      try {
        const kind = entry.isSymbolicLink() ? await stat(found) : entry;
        if (kind.isDirectory()) await walk(found);
        else if (kind.isFile() && isModule(found) && (await isNew(found))) files.push(found);
      } catch (cause) {
        warn(`${found} is left out: it cannot be read: ${messageOf(cause)}.`);
      }
    }
  };
  await walk(path);
  return files;
}

function isOfInterest({ name }: Dirent): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

function isModule(path: string): boolean {
  return MODULE.test(path) && !NO_MODULE.test(basename(path));
}

function describeMissing(path: string): (cause: unknown) => never {
  return (cause) => {
    throw new ToolcribError('not_found', `there is nothing to read at ${path}: ${messageOf(cause)}`, { cause });
  };
}
