import { crc32 } from 'node:zlib';

const MAGIC = 0x53424354; // "TCBS"
const HEAD_WORDS = 4;
const ALIGNMENT = 8;

/** Several pieces of bytes as one: each aligned for views on it, all of them under a checksum and a note of how they were made. */
export function writeSections(note: number, sections: readonly Uint8Array[]): Uint8Array {
  const head = (HEAD_WORDS + sections.length) * 4;
  let total = aligned(head);
  for (const section of sections) total += aligned(section.byteLength);
  const bytes = new Uint8Array(total);
  const words = new Uint32Array(bytes.buffer, 0, HEAD_WORDS + sections.length);
  words[0] = MAGIC;
  words[2] = note;
  words[3] = sections.length;
  let at = aligned(head);
  sections.forEach((section, index) => {
    words[HEAD_WORDS + index] = section.byteLength;
    bytes.set(section, at);
    at += aligned(section.byteLength);
  });
  words[1] = crc32(bytes.subarray(8));
  return bytes;
}

/** The pieces as views; undefined where the bytes are damaged or were made in another way. */
export function readSections(note: number, given: Uint8Array): readonly Uint8Array[] | undefined {
  if (given.byteLength < HEAD_WORDS * 4) return undefined;
  // Views of words need an aligned start, which bytes out of a pool need not have; `slice` of a Buffer makes no copy.
  const bytes = given.byteOffset % ALIGNMENT === 0 ? given : new Uint8Array(given);
  const [magic, checksum, madeBy, count = 0] = new Uint32Array(bytes.buffer, bytes.byteOffset, HEAD_WORDS);
  if (magic !== MAGIC || madeBy !== note || checksum !== crc32(bytes.subarray(8))) return undefined;
  const head = (HEAD_WORDS + count) * 4;
  if (bytes.byteLength < head) return undefined;
  const lengths = new Uint32Array(bytes.buffer, bytes.byteOffset + HEAD_WORDS * 4, count);
  const sections: Uint8Array[] = [];
  let at = aligned(head);
  for (const length of lengths) {
    if (at + length > bytes.byteLength) return undefined;
    sections.push(bytes.subarray(at, at + length));
    at += aligned(length);
  }
  return sections;
}

/** A section as 32-bit words; a view, not a copy. */
export function wordsIn(section: Uint8Array): Uint32Array {
  return new Uint32Array(section.buffer, section.byteOffset, section.byteLength >>> 2);
}

/** A section as 64-bit floats; a view, not a copy. */
export function floatsIn(section: Uint8Array): Float64Array {
  return new Float64Array(section.buffer, section.byteOffset, section.byteLength >>> 3);
}

/** The bytes of numbers; a view, not a copy. */
export function bytesOf(numbers: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

type Numbers = Uint8Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** A copy of so many numbers, at least as many as there are; those that are new are nought. */
export function grown<T extends Numbers>(numbers: T, length: number): T {
  const Kind = numbers.constructor as new (length: number) => T; // as the numbers were made
  const larger = new Kind(length);
  larger.set(numbers);
  return larger;
}

/** One text after the other as bytes: asking a string for each of its characters takes as long as all that is done with them. */
export interface TextBytes {
  readonly bytes: Buffer;
  /** Writes a text of at most so many characters as there is room for, and noughts behind it; returns where it ends. */
  write(text: string): number;
}

/** In UTF-8, at most; characters that take four are two of a string. */
const BYTES_PER_CHARACTER = 3;
/** Noughts behind a text: who looks two bytes ahead still finds its end. */
const BEYOND = 2;

/** Room for texts of so many characters. */
export function createTextBytes(maxLength: number): TextBytes {
  const encoder = new TextEncoder();
  const bytes = Buffer.alloc(maxLength * BYTES_PER_CHARACTER + BEYOND);
  return {
    bytes,
    write(text) {
      const { written } = encoder.encodeInto(text, bytes);
      bytes[written] = bytes[written + 1] = 0; // `fill` would take longer than a short text
      return written;
    },
  };
}

/** How many bytes a dash, quotation mark, ellipsis or space beyond ASCII takes (U+2000 to U+205F); nought for what is none. They stand in many a text that is ASCII but for them. */
export function punctuationLength(bytes: Uint8Array, index: number): number {
  const second = bytes[index + 1] ?? 0;
  if (bytes[index] !== 0xe2 || second < 0x80 || second > 0x81) return 0;
  return second === 0x81 && (bytes[index + 2] ?? 0) >= 0xa0 ? 0 : BYTES_PER_CHARACTER;
}
