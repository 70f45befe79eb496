import { crc32 } from 'node:zlib';

const MAGIC = 0x53424354; // "TCBS"
const HEAD_WORDS = 4;
const ALIGNMENT = 8;

/** Packs several sections into one byte array: each aligned for typed views, all covered by a checksum and a format number. */
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

/** The sections as views; undefined if the bytes are damaged or in another format. */
export function readSections(note: number, given: Uint8Array): readonly Uint8Array[] | undefined {
  if (given.byteLength < HEAD_WORDS * 4) return undefined;
  // Typed views need an aligned start, which pooled bytes may not have; `slice` of a Buffer does not copy.
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

/** A longer copy of an array, filled up with zeros. */
export function grown<T extends Numbers>(numbers: T, length: number): T {
  const Kind = numbers.constructor as new (length: number) => T; // the same class as the original
  const larger = new Kind(length);
  larger.set(numbers);
  return larger;
}

/** Encodes one text after another as bytes: reading a string character by character would take as long as the whole work on it. */
export interface TextBytes {
  readonly bytes: Buffer;
  /** Writes a text of at most the allocated length, followed by zeros; returns its end. */
  write(text: string): number;
}

/** Upper limit for UTF-8; characters of four bytes are two in a string. */
const BYTES_PER_CHARACTER = 3;
/** Zeros after a text, so that looking two bytes ahead still finds its end. */
const BEYOND = 2;

/** Allocates room for texts of this length. */
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

/** The length in bytes of a dash, quotation mark, ellipsis or space beyond ASCII (U+2000 to U+205F); 0 for other characters. Many texts are ASCII except for these. */
export function punctuationLength(bytes: Uint8Array, index: number): number {
  const second = bytes[index + 1] ?? 0;
  if (bytes[index] !== 0xe2 || second < 0x80 || second > 0x81) return 0;
  return second === 0x81 && (bytes[index + 2] ?? 0) >= 0xa0 ? 0 : BYTES_PER_CHARACTER;
}
