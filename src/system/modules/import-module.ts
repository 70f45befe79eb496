import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** A module as a record of its exports. */
export type Namespace = Readonly<Record<string, unknown>>;

/**
 * The text under which each file was first imported, by path. It belongs to the process because it mirrors Node's module
 * cache, which does, too: another crib must not take an old import for a new one.
 */
const FIRST_IMPORTED = new Map<string, string>();

/**
 * Imports a file by the hash of its text, so that a changed file is read anew. The first import is the plain one, so that
 * modules which import each other mean the same objects. What a changed module imports is not read again.
 */
export async function importModule(file: string, hash: string): Promise<Namespace> {
  const path = await realpath(file);
  const url = pathToFileURL(path).href;
  const first = FIRST_IMPORTED.get(path) ?? hash;
  FIRST_IMPORTED.set(path, first);
  if (first === hash) return import(url);
  delete createRequire(url).cache[path]; // CommonJS goes by path alone and would answer with the old text
  return import(`${url}?${hash}`);
}

/** The hash of a file's text; what `importModule` tells versions apart by. */
export async function hashFile(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
