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
