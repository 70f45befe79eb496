import { STOP_WORDS } from './lexical/terms.ts';

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
