import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../core/tool-error.ts';

/** What is expected of a file that holds a secret. */
interface PrivateFileOptions {
  /** Bits of its mode that it may not have. */
  readonly forbidden: number;
  /** No more than this is read. */
  readonly maxBytes: number;
}

/** Modes of files that hold secrets: our own are for their owner only; a named one may be shared with a group, as orchestrators do. */
export const FORBIDDEN = { own: 0o077, named: 0o027 } as const;

/** The text of a file that nobody else can read, or why it is not taken. Rejects where the system does. */
export async function readPrivateFile(
  path: string,
  { forbidden, maxBytes }: PrivateFileOptions,
): Promise<{ readonly text: string } | { readonly problem: 'not a file' | 'open to others' }> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe would wait for ever
  try {
    const found = await file.stat();
    if (!found.isFile()) return { problem: 'not a file' };
    if (process.platform !== 'win32' && (found.mode & forbidden) !== 0) return { problem: 'open to others' };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return { text: buffer.toString('latin1', 0, bytesRead) };
  } finally {
    await file.close();
  }
}

/** Gives the name to a file that is whole. False if there is one already: of processes that come at once the first wins. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
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
