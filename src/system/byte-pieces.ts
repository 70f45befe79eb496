/** Collects the chunks of a stream. */
export interface BytePieces {
  add(chunk: Uint8Array): void;
  /** The number of bytes. Not a getter: V8 keeps a hidden class for each object that is made with one. */
  length(): number;
  /** All bytes, without a copy if they are one chunk. Collecting begins again. */
  take(): Buffer<ArrayBuffer>;
}

/** Chunks are joined when there are this many: each one costs hundreds of bytes, and a sender may choose chunks of one byte. */
const JOINED = 256;

/** Creates a collection whose memory depends on the number of bytes, not on the number of chunks. */
export function createBytePieces(): BytePieces {
  let joined: Uint8Array[] = [];
  let newest: Uint8Array[] = [];
  let length = 0;
  return {
    add(chunk) {
      length += chunk.length;
      newest.push(chunk);
      if (newest.length < JOINED) return;
      joined.push(Buffer.concat(newest));
      newest = [];
    },
    length: () => length,
    take() {
      const all = [...joined, ...newest];
      const [only] = all;
      const isOne = all.length === 1 && only?.buffer instanceof ArrayBuffer;
      const bytes = isOne ? Buffer.from(only.buffer, only.byteOffset, only.length) : Buffer.concat(all, length);
      [joined, newest, length] = [[], [], 0];
      return bytes;
    },
  };
}
