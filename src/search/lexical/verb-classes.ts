import { ownText } from './scan-words.ts';
import { eachWord } from './split-words.ts';
import { termOf } from './terms.ts';

/** The classes of what a tool does, as bits; 0 if unknown. */
export const NO_VERB = 0;
const CREATE = 1;
const DELETE = 2;
const UPDATE = 4;
export const READ = 8;

const WORDS: readonly (readonly [number, string])[] = [
  [CREATE, 'create add make insert generate register new'],
  [DELETE, 'delete remove erase destroy drop purge discard trash'],
  [UPDATE, 'update edit change modify alter adjust amend revise patch rename replace set'],
  [READ, 'get list show read fetch retrieve view display search find query browse describe lookup count check'],
];

const CLASSES: ReadonlyMap<string, number> = new Map(
  WORDS.flatMap(([verb, words]) => words.split(' ').map((word) => [termOf(word) ?? word, verb] as const)),
);

/** The class of a term. */
export function verbOfTerm(term: string): number {
  return CLASSES.get(term) ?? NO_VERB;
}

/** The texts that say what a tool does to things. */
interface VerbTexts {
  readonly name: string;
  readonly title: string;
  /** A verb for the effects of the tool, or nothing. */
  readonly effect: string;
}

/** The verb of a title is mostly among its first words. */
const MOST_WORDS = 4;
const MOST_CHARACTERS = 100;
const REMEMBERED_WORDS = 5000;

/** Creates a function that finds the class of a tool: of the first verb of its title or else of its name; without one, of its effects. */
export function createVerbOfTool(): (texts: VerbTexts) => number {
  const remembered = new Map<string, number>();

  function verbOfWord(word: string): number {
    const known = remembered.get(word);
    if (known !== undefined) return known;
    const verb = verbOfTerm(termOf(word) ?? '');
    if (remembered.size < REMEMBERED_WORDS) remembered.set(ownText(word), verb);
    return verb;
  }

  function firstVerb(text: string): number {
    let [verb, count] = [NO_VERB, 0];
    eachWord(text.slice(0, MOST_CHARACTERS), (word, isWhole) => {
      if (isWhole || verb !== NO_VERB || count >= MOST_WORDS) return;
      count += 1;
      verb = verbOfWord(word);
    });
    return verb;
  }

  return ({ title, name, effect }) => firstVerb(title) || firstVerb(name) || verbOfTerm(effect);
}
