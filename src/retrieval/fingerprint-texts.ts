import { crc32 } from 'node:zlib';
import { FIELDS, type SearchTexts } from './search-texts.ts';

/** A number that tells one tool's texts from others'; equal texts, equal numbers. */
export function fingerprintTexts(texts: SearchTexts): number {
  let text = '';
  let lengths = 0;
  for (const field of FIELDS) {
    const part = texts[field];
    lengths = Math.imul(lengths ^ part.length, 0x9e3779b1); // where a field ends counts
    if (part !== '') text += part;
  }
  // Done by the machine at once, which a start with ten thousand tools would wait for otherwise.
  return (lengths >>> 11) * 2 ** 32 + crc32(text);
}
