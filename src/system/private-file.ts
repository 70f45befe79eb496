import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../core/tool-error.ts';
import { createFolder } from './create-folder.ts';

/** Requirements for a file that holds a secret. */
interface PrivateFileOptions {
  /** Mode bits that the file may not have. */
  readonly forbidden: number;
  /** The size of the largest file that is read. The beginning of a larger one counts for nothing. */
  readonly maxBytes: number;
}

/** Forbidden mode bits of secret files: our own are for their owner only; a configured one may be readable by a group, as orchestrators set it up. */
export const FORBIDDEN = { own: 0o077, named: 0o027 } as const;

/** Reads a private file, or returns the reason why it is refused. Rejects on system errors. */
export async function readPrivateFile(
  path: string,
  { forbidden, maxBytes }: PrivateFileOptions,
): Promise<{ readonly text: string } | { readonly problem: 'not a file' | 'open to others' | 'too large' }> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // without O_NONBLOCK, a named pipe would block
  try {
    const found = await file.stat();
    if (!found.isFile()) return { problem: 'not a file' };
    if (process.platform !== 'win32' && (found.mode & forbidden) !== 0) return { problem: 'open to others' };
    if (found.size > maxBytes) return { problem: 'too large' };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return { text: buffer.toString('latin1', 0, bytesRead) };
  } finally {
    await file.close();
  }
}

/** Creates a file atomically. False if it exists already: if several processes start at once, the first wins. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    createFolder(dirname(path));
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw cause;
  } finally {
    await rm(draft, { force: true });
  }
}
