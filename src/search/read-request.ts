import { STOP_WORDS } from './lexical/terms.ts';

/** Longer than anybody describes a tool. */
const MOST_CHARACTERS = 300;
const FEWEST_WORDS = 3;

/** Numbers, questions, quotes, another sentence, another script than English is written in. */
const PARTICULAR = /[\d?!"#@]|[.;]\s+\S|[^\0-\x7f]/;
/** Who speaks, to whom, and about whom or what at hand. `US` is a country. */
const PERSONAL =
  /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Oo]urs?|us|[Yy]ou|[Yy]ours?|[Hh]e|[Ss]he|[Hh]im|[Hh]er|[Hh]is|[Tt]his|[Tt]hese|[Tt]hose|[Pp]lease)\b|n't\b|\b(?:it|that|what|who|let)'s\b/;
const WORD = /[A-Za-z]+/g;

/**
 * True for a request that says what kind of thing should be done, and not to what: "create an invoice for a customer",
 * as models and engineers ask for a tool. "Bill Acme for the 12 chairs" says the same of one case. Of the former more is
 * to be expected: it says what the descriptions of tools say. Unsure means false.
 */
export function isInGeneralTerms(request: string): boolean {
  if (request.length > MOST_CHARACTERS || PARTICULAR.test(request) || PERSONAL.test(request)) return false;
  const words = request.match(WORD) ?? [];
  if (words.length < FEWEST_WORDS) return false;
  let definite = 0;
  for (const word of words) {
    if (word === 'the' || word === 'The') definite += 1;
    else if (word === 'a' || word === 'an' || word === 'A' || word === 'An') definite -= 1;
  }
  // Rather "the door" than "a door": one that is known.
  return definite <= 0;
}

const MAX_REQUEST_LENGTH = 10_000;

/** The names that a request may mean: words that look like identifiers, stand in quotes, or are called a tool. Lower case. */
export function namesMentioned(request: string): ReadonlySet<string> {
  const text = request.slice(0, MAX_REQUEST_LENGTH);
  const names = new Set<string>();
  const isShort = !MANY_WORDS.test(text);
  if (isShort || PART_OF_NAME.test(text))
    for (const word of text.split(BETWEEN_WORDS)) {
      const bare = word.replace(/\.+$/, '');
      if (word !== '' && (isShort || looksLikeName(bare))) names.add(bare.toLowerCase());
    }
  for (const [, quoted = ''] of text.matchAll(/["'`]([\w.-]{2,64})["'`]/g)) names.add(quoted.toLowerCase());
  if (!/tool/i.test(text)) return names;
  for (const pattern of CALLED_TOOL)
    for (const [, called = ''] of text.matchAll(pattern))
      if (!STOP_WORDS.has(called.toLowerCase())) names.add(called.toLowerCase());
  return names;
}

const CALLED_TOOL = [/\b([\w.-]{2,64}) tool\b/gi, /\btool ([\w.-]{2,64})\b/gi];
const BETWEEN_WORDS = /[\s,;:!?()[\]{}"'`<>]+/u;
/** More than two words: in fewer one may be a name, whatever it looks like. */
const MANY_WORDS = /^[\s,;:!?()[\]{}"'`<>]*(?:[^\s,;:!?()[\]{}"'`<>]+[\s,;:!?()[\]{}"'`<>]+){2}[^\s,;:!?()[\]{}"'`<>]/u;
/** What a text must have somewhere for a word of it to look like a name: most have not, and need not be taken apart. */
const PART_OF_NAME = /[_-]|\.[^\s.]|\p{Ll}\p{Lu}/u;

/** True for what nobody writes but as a name: `read_file`, `readFile`, `read-file`, `files.read`. */
function looksLikeName(word: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(word) && (/[_.-]/.test(word) || /\p{Ll}\p{Lu}/u.test(word));
}
