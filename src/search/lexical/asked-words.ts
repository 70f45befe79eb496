import { createKnownWords, createWordScan, OTHER_LETTERS, ownText } from './scan-words.ts';
import { eachWord } from './split-words.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A word in a request. */
interface AskedWord {
  readonly word: string;
  /** Undefined for a stop word. */
  readonly term: string | undefined;
  /** The number of its term; undefined if no tool contains it. */
  readonly number: number | undefined;
}

/** Calls `visit` with each word of a request, or of a part of it, of at most `MAX_REQUEST_LENGTH` characters. */
export type EachAskedWord = (request: string, visit: (asked: AskedWord, isWhole: boolean) => void) => void;

/** Longer requests are cut, because they add nothing about which tool is meant. */
export const MAX_REQUEST_LENGTH = 10_000;
const REMEMBERED_WORDS = 20_000;
const NEVER = -1;

/** Looks up the words of requests in a vocabulary. Results are cached, because requests repeat words. */
export function createAskedWords(vocabulary: Vocabulary): EachAskedWord {
  const scan = createWordScan(MAX_REQUEST_LENGTH);
  const known = createKnownWords();
  // By the number in `known`.
  const words: Remembered[] = [];
  const others = new Map<string, Remembered>();

  function learn(place: number): Remembered {
    if (words.length >= REMEMBERED_WORDS) {
      known.clear();
      words.length = 0;
    }
    const made = toRemembered(scan.word(place));
    known.note(scan, place, words.length);
    words.push(made);
    return made;
  }

  function otherWord(word: string): Remembered {
    const found = others.get(word);
    if (found !== undefined) return found;
    if (others.size >= REMEMBERED_WORDS) others.clear();
    const made = toRemembered(ownText(word));
    others.set(made.word, made);
    return made;
  }

  function upToDate(asked: Remembered): AskedWord {
    if (asked.asOf === vocabulary.changes) return asked;
    asked.number = asked.term === undefined ? undefined : vocabulary.find(asked.term);
    asked.asOf = vocabulary.changes;
    return asked;
  }

  return (request, visit) => {
    const count = scan.scan(request);
    if (count === OTHER_LETTERS) eachWord(request, (word, isWhole) => visit(upToDate(otherWord(word)), isWhole));
    for (let place = 0; place < count; place += 1) {
      const found = known.find(scan, place);
      const asked = found === undefined ? learn(place) : (words[found] as Remembered); // `learn` stores each number with its word
      visit(upToDate(asked), scan.wholes[place] === 1);
    }
  };
}

/** A cached word, with the version of the vocabulary at its lookup. */
interface Remembered extends AskedWord {
  number: number | undefined;
  asOf: number;
}

function toRemembered(word: string): Remembered {
  return { word, term: termOf(word), number: undefined, asOf: NEVER };
}
