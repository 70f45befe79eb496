import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs';

/** A file of which the head is there, while the whole is being read by another thread. */
export interface BegunFile {
  readonly head: Uint8Array;
  /** Rejects where the file cannot be read to its end. */
  readonly whole: Promise<Uint8Array>;
}

/** Begins to read a file; throws where it cannot be opened. */
export function beginFile(path: string, headBytes: number): BegunFile {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(fstatSync(file).size);
    const head = Buffer.alloc(Math.min(headBytes, bytes.length));
    readSync(file, head, 0, head.length, 0);
    return { head, whole: readWhole(file, bytes) };
  } catch (cause) {
    closeSync(file);
    throw cause;
  }
}

// In one go: `readFile` comes back for every piece, and this thread is busy.
function readWhole(file: number, bytes: Buffer): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    read(file, bytes, 0, bytes.length, 0, (cause, count) => {
      closeSync(file);
      if (cause) reject(cause);
      else resolve(bytes.subarray(0, count));
    });
  });
}
