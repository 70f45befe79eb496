import type { Readable } from 'node:stream';

/** How much of what a child says is kept. */
const KEPT_BYTES = 65_536;

/** The end of what was said, for whoever looks why something does not work. */
export interface OutputTail {
  /** Reads a stream to its end. */
  follow(stream: Readable): void;
  add(chunk: Buffer): void;
  text(): string;
}

/** Keeps the last 64 kB, however much is said. */
export function createOutputTail(keptBytes: number = KEPT_BYTES): OutputTail {
  let chunks: Buffer[] = [];
  let length = 0;
  let isCut = false;
  const add = (chunk: Buffer): void => {
    chunks.push(chunk.length > keptBytes ? Buffer.from(chunk.subarray(-keptBytes)) : chunk);
    length += Math.min(chunk.length, keptBytes);
    isCut ||= length > keptBytes || chunk.length > keptBytes;
    if (length <= 2 * keptBytes && chunks.length < 1024) return;
    // Twice as much at most, so that a flood of small pieces is not copied with each of them.
    const kept = Buffer.concat(chunks).subarray(-keptBytes);
    chunks = [Buffer.from(kept)];
    length = kept.length;
  };
  return {
    add,
    follow(stream) {
      stream.on('data', add);
      stream.on('error', () => {}); // whoever said it is gone
    },
    text() {
      const kept = Buffer.concat(chunks).subarray(-keptBytes);
      // A character that was cut in half is no character.
      const start = isCut ? kept.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
      return kept.toString('utf8', Math.max(0, start));
    },
  };
}
