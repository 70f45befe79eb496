import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { whyUnreadable } from '../core/tool-error.ts';

/** A hash that is good enough to notice an edit, or the reason why the file could not be read. */
export type FileReading =
  | { readonly ok: true; readonly hash: string }
  | { readonly ok: false; readonly reason: string };

/** All bytes of a file with a cryptographic hash, or the reason why it could not be read. */
export type WholeReading =
  | { readonly ok: true; readonly hash: string; readonly bytes: Buffer }
  | { readonly ok: false; readonly reason: string };

/** Receives one piece of a file. The buffer is reused afterwards. */
export type TakePiece = (piece: Buffer) => void;

const PIECE_BYTES = 1 << 20;

/** Reads a file of bounded size, piece by piece. Refuses anything but a regular file. */
export async function readPieces(path: string, maxBytes: number, take: TakePiece): Promise<FileReading> {
  return withFile(path, maxBytes, (file) => readAll(file, maxBytes, take));
}

/** Like `readPieces`, but reads the whole file at once. */
export async function readWhole(path: string, maxBytes: number): Promise<WholeReading> {
  return withFile(path, maxBytes, async (file, size) => {
    const hash = createHash('sha256');
    let bytes = Buffer.allocUnsafeSlow(size + 1); // one byte more than expected, to detect the end
    let length = 0;
    const readPiece = () => file.read(bytes, length, Math.min(PIECE_BYTES, bytes.length - length));
    let reading = readPiece();
    for (;;) {
      const { bytesRead } = await reading;
      const begin = length;
      length += bytesRead;
      if (length > maxBytes) return { ok: false, reason: tooLarge(maxBytes) };
      if (bytesRead === 0) return { ok: true, hash: `sha256:${hash.digest('hex')}`, bytes: bytes.subarray(0, length) };
      if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(PIECE_BYTES)]); // the file grows while it is read
      reading = readPiece(); // while this one is hashed
      hash.update(bytes.subarray(begin, length));
    }
  });
}

/** The current hash of a file; undefined if it cannot be read. */
export async function hashOf(path: string, maxBytes: number): Promise<string | undefined> {
  const reading = await readPieces(path, maxBytes, () => {});
  return reading.ok ? reading.hash : undefined;
}

type Refused = { readonly ok: false; readonly reason: string };

async function withFile<Reading>(
  path: string,
  maxBytes: number,
  read: (file: FileHandle, size: number) => Promise<Reading>,
): Promise<Reading | Refused> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // otherwise, opening a named pipe would wait for its writer
    const stats = await file.stat();
    const reason = refuse(stats, maxBytes);
    return reason === undefined ? await read(file, stats.size) : { ok: false, reason };
  } catch (cause) {
    return { ok: false, reason: `it ${whyUnreadable(cause)}` };
  } finally {
    await file?.close();
  }
}

function refuse(stats: Stats, maxBytes: number): string | undefined {
  if (stats.isDirectory()) return 'it is a folder';
  if (!stats.isFile()) return 'it is not a regular file';
  return stats.size > maxBytes ? tooLarge(maxBytes) : undefined;
}

// Two buffers: the next piece is read while this one is processed.
async function readAll(file: FileHandle, maxBytes: number, take: TakePiece): Promise<FileReading> {
  let hash = 0;
  let [buffer, other] = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
  let length = 0;
  let reading = file.read(buffer, 0, PIECE_BYTES);
  for (;;) {
    const { bytesRead } = await reading;
    length += bytesRead;
    if (bytesRead === 0) return { ok: true, hash: `${length}:${hash}` };
    if (length > maxBytes) return { ok: false, reason: tooLarge(maxBytes) };
    const piece = buffer.subarray(0, bytesRead);
    [buffer, other] = [other, buffer];
    reading = file.read(buffer, 0, PIECE_BYTES);
    hash = crc32(piece, hash);
    take(piece);
  }
}

function tooLarge(maxBytes: number): string {
  return `it is larger than ${maxBytes} bytes`;
}
