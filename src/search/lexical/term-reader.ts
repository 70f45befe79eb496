import { MAX_TEXT_LENGTH } from '../search-texts.ts';
import { createKnownWords } from './known-words.ts';
import { ownText } from './own-text.ts';
import { createWordScan, OTHER_LETTERS } from './scan-words.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';
import { eachWord } from './words.ts';

/** Calls `visit` with the number of each term of a text. */
export type EachTerm = (text: string, visit: (number: number, isWhole: boolean) => void) => void;

const REMEMBERED_WORDS = 20_000;
const SAYS_NOTHING = -1;

/** Reads texts by a vocabulary, and numbers new terms while `hasRoom`. Words are met again and again, and stemming costs more than remembering. */
export function createTermReader(vocabulary: Vocabulary, hasRoom: () => boolean): EachTerm {
  const scan = createWordScan(MAX_TEXT_LENGTH);
  const known = createKnownWords();
  const others = new Map<string, number>();
  let releases = 0;

  function forgetReleased(): void {
    // A released number may be another term's by now.
    if (releases === vocabulary.releases) return;
    known.clear();
    others.clear();
    releases = vocabulary.releases;
  }

  function numberOf(term: string | undefined): number {
    return (term === undefined ? undefined : vocabulary.take(term)) ?? SAYS_NOTHING;
  }

  function learn(place: number): number {
    const term = termOf(scan.word(place));
    if (!hasRoom()) return vocabulary.find(term ?? '') ?? SAYS_NOTHING;
    const number = numberOf(term);
    known.note(scan, place, number);
    return number;
  }

  function numberOfOther(word: string): number {
    const number = others.get(word);
    if (number !== undefined) return number;
    const term = termOf(word);
    if (!hasRoom()) return vocabulary.find(term ?? '') ?? SAYS_NOTHING;
    if (others.size >= REMEMBERED_WORDS) others.clear();
    const made = numberOf(term);
    others.set(ownText(word), made);
    return made;
  }

  return (text, visit) => {
    forgetReleased();
    const count = scan.scan(text);
    if (count === OTHER_LETTERS) {
      eachWord(text, (word, isWhole) => {
        const number = numberOfOther(word);
        if (number >= 0) visit(number, isWhole);
      });
      return;
    }
    for (let place = 0; place < count; place += 1) {
      const number = known.find(scan, place) ?? learn(place);
      if (number >= 0) visit(number, scan.wholes[place] === 1);
    }
  };
}
