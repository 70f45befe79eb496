import { FIELDS, type SearchTexts } from './search-texts.ts';

/** A number that tells one tool's texts from others'; equal texts, equal numbers. */
export function fingerprintTexts(texts: SearchTexts): number {
  let low = 0x811c9dc5;
  let high = 0x9e3779b1;
  for (const field of FIELDS) {
    const text = texts[field];
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 15);
    }
    low = Math.imul(low ^ 0x1ffff, 0x01000193); // no character: where a field ends counts
    high = Math.imul(high ^ 0x1ffff, 0x85ebca6b);
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}
