import { createKnownWords } from './known-words.ts';
import { ownText } from './own-text.ts';
import { createWordScan, OTHER_LETTERS } from './scan-words.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';
import { eachWord } from './words.ts';

/** A word that requests use. */
interface AskedWord {
  readonly word: string;
  /** Undefined where it says nothing. */
  readonly term: string | undefined;
  /** The number of its term; undefined where no tool says it. */
  readonly number: number | undefined;
}

/** Calls `visit` with each word of a request. */
export type EachAskedWord = (request: string, visit: (asked: AskedWord, isWhole: boolean) => void) => void;

/** A longer request says nothing new about which tool is meant. */
const MAX_REQUEST_LENGTH = 10_000;
const REMEMBERED_WORDS = 20_000;
const NEVER = -1;

/** Looks the words of requests up in a vocabulary. They are remembered: requests use the same ones again and again. */
export function createAskedWords(vocabulary: Vocabulary): EachAskedWord {
  const scan = createWordScan(MAX_REQUEST_LENGTH);
  const known = createKnownWords();
  // By the number under which they are known.
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
    const text = request.slice(0, MAX_REQUEST_LENGTH);
    const count = scan.scan(text);
    if (count === OTHER_LETTERS) eachWord(text, (word, isWhole) => visit(upToDate(otherWord(word)), isWhole));
    for (let place = 0; place < count; place += 1) {
      const found = known.find(scan, place);
      const asked = found === undefined ? learn(place) : (words[found] as Remembered); // noted with its number
      visit(upToDate(asked), scan.wholes[place] === 1);
    }
  };
}

/** A word, and at which change of the vocabulary its number was looked up. */
interface Remembered extends AskedWord {
  number: number | undefined;
  asOf: number;
}

function toRemembered(word: string): Remembered {
  return { word, term: termOf(word), number: undefined, asOf: NEVER };
}
