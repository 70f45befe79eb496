/** A word longer than this is no word; it is cut, so that a megabyte without a space costs nothing. */
export const MAX_WORD_LENGTH = 40;

const CASE_CHANGE = /(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;

/** The words of a text in lower case; names are split at case changes, digits and punctuation. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.normalize('NFKC').replaceAll(CASE_CHANGE, '$& ').toLowerCase();
  const words = spaced.match(WORD) ?? [];
  return words.map((word) => (word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH) : word));
}
