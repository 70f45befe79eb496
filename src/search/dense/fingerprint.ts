/** Where the fingerprint of every word begins. */
export const FINGERPRINT_START = 0x811c9dc5;

/** 32 bits that stand for a word in the model file. Part of the format: another formula needs another version. */
export function fingerprint(word: string): number {
  let hash = FINGERPRINT_START;
  for (let index = 0; index < word.length; index++) hash = takeCharacter(hash, word.charCodeAt(index));
  return finishFingerprint(hash);
}

/** The fingerprint with one more character; to be finished. */
export function takeCharacter(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** The last characters would leave the high bits as they are; this spreads them. */
export function finishFingerprint(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
