import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';

const MEMORY: readonly string[] = ['memory:', 'sqlite::memory:', 'sqlite://:memory:'];
const FORMS = "'memory', a path such as './crib.db', or a URL (sqlite:PATH, postgres://...)";

/** True for every URL of a store in memory. */
export function isMemoryUrl(url: string): boolean {
  return MEMORY.includes(url);
}

/** The file that a URL names; undefined if it does not name one. */
export function sqliteFileOf(url: string): string | undefined {
  if (!url.startsWith('sqlite:') || isMemoryUrl(url)) return undefined;
  return url.slice('sqlite:'.length).replace(/^\/\//, '') || undefined;
}

/** The URL of a store named in code: `memory`, a path from the working directory, or a URL. Throws for anything else, without repeating what may be a password. */
export function readStoreUrl(written: string): string {
  if (written === 'memory' || written === ':memory:' || isMemoryUrl(written)) return 'memory:';
  if (written.trim() === '') throw invalid(`createCrib: store is empty; use ${FORMS}.`);
  // A path with an address in it would become folders whose names hold the password of the address.
  if (/^\s|\s$/.test(written) || written.replace(/^[a-z]+:\/\//i, '').includes('://'))
    throw invalid(`createCrib: store is neither a path nor a URL; use ${FORMS}.`);
  const scheme = /^[a-z][a-z0-9+.-]+:/i.exec(written)?.[0]; // at least two letters: C: is a drive
  if (scheme === undefined) return `sqlite:${readPath(written)}`;
  if (scheme === 'file:') return `sqlite:${readPath(readFileUrl(written))}`;
  if (/^postgres(ql)?:\/\//.test(written) || (scheme === 'sqlite:' && sqliteFileOf(written) !== undefined))
    return written;
  throw invalid(`createCrib: store starts with "${scheme}"; use ${FORMS}.`);
}

function readPath(written: string): string {
  if (written.includes('\0')) throw invalid('createCrib: the path of the store contains a NUL character; remove it.');
  if (!/[./\\]/.test(written))
    throw invalid(`createCrib: store ${describe(written)} is neither a path nor a URL; use ${FORMS}.`);
  const path = resolve(written);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  throw invalid(`createCrib: store ${path} is a folder; name a file in it, such as ${join(path, 'crib.db')}.`);
}

function readFileUrl(written: string): string {
  try {
    return fileURLToPath(written);
  } catch (cause) {
    throw new ToolcribError('invalid_store', 'createCrib: store is a file: URL that does not name a local file.', {
      cause,
    });
  }
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_store', message);
}
