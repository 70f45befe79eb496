import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

const ENGLISH = /^[a-z]{3,}$/;

/** The form under which a word is kept; undefined for one that says nothing. */
export function termOf(word: string): string | undefined {
  if (STOP_WORDS.has(word)) return undefined;
  return ENGLISH.test(word) ? stem(word) : word;
}
