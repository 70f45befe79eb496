const MAX_REQUEST_LENGTH = 10_000;
/** A request of so few words that one of them may be a name, whatever it looks like. */
const FEW_WORDS = 2;

/** The names that a request may mean: words that look like identifiers, stand in quotes, or are called a tool. Lower case. */
export function namesMentioned(request: string): ReadonlySet<string> {
  const text = request.slice(0, MAX_REQUEST_LENGTH);
  const names = new Set<string>();
  const words = text.split(/[\s,;:!?()[\]{}"'`<>]+/u).filter((word) => word !== '');
  for (const word of words) {
    const bare = word.replace(/\.+$/, '');
    if (words.length <= FEW_WORDS || looksLikeName(bare)) names.add(bare.toLowerCase());
  }
  for (const [, quoted = ''] of text.matchAll(/["'`]([\w.-]{2,64})["'`]/g)) names.add(quoted.toLowerCase());
  for (const [, before = '', after = ''] of text.matchAll(/\b([\w.-]{2,64}) tool\b|\btool ([\w.-]{2,64})\b/gi))
    names.add((before || after).toLowerCase());
  return names;
}

/** True for what nobody writes but as a name: `read_file`, `readFile`, `read-file`, `files.read`. */
function looksLikeName(word: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(word) && (/[_.-]/.test(word) || /\p{Ll}\p{Lu}/u.test(word));
}
