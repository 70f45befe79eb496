import { THINGS } from './translated-things.ts';
import { VERBS } from './translated-verbs.ts';
import { WORDS } from './translated-words.ts';

/** The words of other languages whose English is known. */
export interface ForeignWords {
  /** True for a word that is in the table as it stands. */
  has(word: string): boolean;
  /** The English of a word in lower case: as it stands, by its parts at a hyphen or apostrophe, by another form of it, or by its parts. */
  english(word: string): readonly string[];
  /** The English of East Asian words, which are not separated in a request. */
  within(request: string): readonly string[];
}

export const EAST_ASIAN = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** Endings of German, French and Spanish verbs, nouns and adjectives. */
const ENDING =
  /(?:ieren|ierst|iere|iert|iendo|ando|ados|idos|adas|idas|ado|ido|ada|ida|ame|eme|melo|nos|ons|ent|ées|és|ée|ten|ez|er|es|en|em|st|te|ar|ir|as|os|me|le|lo|la|é|e|s|n|t|a|o)$/;
const LATIN = /^[a-z\u00df-\u024f]+$/;
const LEAST_LETTERS = 4;
/** A shorter word is not a compound. */
const LEAST_OF_COMPOUND = 8;

type English = ReadonlyMap<string, readonly string[]>;

/** Reads the tables. */
export function readForeignWords(): ForeignWords {
  const words = new Map<string, string[]>();
  const parts: (readonly [string, string])[] = [];
  for (const line of `${VERBS}${THINGS}${WORDS}`.trim().split(/\n+/)) {
    const [english = '', others = ''] = line.split(': ');
    for (const other of others.normalize('NFC').split(' ')) {
      if (EAST_ASIAN.test(other)) parts.push([other, english]);
      else words.set(other, [...(words.get(other) ?? []), english]);
    }
  }
  const forms = formsOf(words);
  const find = (word: string) => words.get(word) ?? (LATIN.test(word) ? forms.get(stemOf(word)) : undefined);

  function english(word: string): readonly string[] {
    const whole = words.get(word);
    if (whole !== undefined) return whole;
    const joined = word.split(/['’-]/);
    if (joined.length > 1) return joined.flatMap(english);
    return find(word) ?? englishOfCompound(word, find);
  }

  return {
    has: (word) => words.has(word),
    english,
    within: (request) => parts.filter(([part]) => request.includes(part)).map(([, meant]) => meant),
  };
}

/** The English by stem, for forms of a word that are not in the table. */
function formsOf(words: English): English {
  const forms = new Map<string, readonly string[]>();
  for (const [word, english] of words) {
    const stem = stemOf(word);
    if (LATIN.test(word)) forms.set(stem, [...new Set([...(forms.get(stem) ?? []), ...english])]);
  }
  return forms;
}

function stemOf(word: string): string {
  const stem = word.replace(ENDING, '');
  return stem.length >= LEAST_LETTERS ? stem : word;
}

/** The English of the parts of a German compound: of its longest known end and what is before it, or else of its longest known beginning. */
function englishOfCompound(word: string, find: (word: string) => readonly string[] | undefined): readonly string[] {
  if (word.length < LEAST_OF_COMPOUND || !LATIN.test(word)) return NONE;
  for (let at = LEAST_LETTERS; at <= word.length - LEAST_LETTERS; at += 1) {
    const last = find(word.slice(at));
    if (last !== undefined) return [...(find(word.slice(0, at)) ?? NONE), ...last];
  }
  for (let at = word.length - 1; at >= LEAST_LETTERS; at -= 1) {
    const first = find(word.slice(0, at));
    if (first !== undefined) return first;
  }
  return NONE;
}

const NONE: readonly string[] = [];
