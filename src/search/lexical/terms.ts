const ENGLISH = /^[a-z]{3,}$/;

/** The indexed form of a word; undefined for a stop word. */
export function termOf(word: string): string | undefined {
  if (STOP_WORDS.has(word)) return undefined;
  return ENGLISH.test(word) ? stem(word) : word;
}

/** The stem of a lower-case English word by the Porter2 rules: `created`, `creating` and `creates` have the same. */
export function stem(word: string): string {
  if (word.length < 3) return word;
  const known = EXCEPTIONS.get(word);
  if (known !== undefined) return known;
  const marked = markConsonantY(word);
  const r1 = PREFIX.exec(marked)?.[0].length ?? regionAfter(marked, 0);
  const r2 = regionAfter(marked, r1);
  let text = withoutPlural(withoutPossessive(marked));
  if (STOPS_AFTER_PLURAL.has(text)) return text;
  text = withFinalI(withoutPastOrGerund(text, r1));
  text = replaceEnding(text, DERIVATIONS, { r1, r2 });
  text = replaceEnding(text, ADJECTIVES, { r1, r2 });
  text = replaceEnding(text, SUFFIXES, { r1, r2 });
  text = withoutFinal(text, r1, r2);
  return text.includes('Y') ? text.replaceAll('Y', 'y') : text;
}

const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word) => [word, word] as const),
]);

const STOPS_AFTER_PLURAL: ReadonlySet<string> = new Set(
  'inning outing canning herring earring evening proceed exceed succeed'.split(' '),
);

/** After these prefixes the first region begins at once: `general` and `generate` must not share a stem. */
const PREFIX = /^(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)/;

function isVowel(text: string, index: number): boolean {
  const letter = text[index];
  return (
    letter === 'e' || letter === 'a' || letter === 'i' || letter === 'o' || letter === 'u' || letter === 'y' // Y is not a vowel
  );
}

function hasVowelBefore(text: string, end: number): boolean {
  for (let index = 0; index < end; index += 1) if (isVowel(text, index)) return true;
  return false;
}

/** Writes a `y` at the start of a word or after a vowel as `Y`, because it counts as a consonant. */
function markConsonantY(word: string): string {
  return word.includes('y') ? word.replace(/^y/, 'Y').replace(/([aeiouy])y/g, '$1Y') : word;
}

/** The start of the region after the first consonant that follows a vowel, searched from `start`. */
function regionAfter(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (!isVowel(text, index) && isVowel(text, index - 1)) return index + 1;
  }
  return text.length;
}

/** True if `text` ends in a short syllable, like `rap`, `bed` and `ow`. */
function endsShort(text: string): boolean {
  const last = text.length - 1;
  if (text === 'past') return true;
  if (last < 1 || isVowel(text, last) || !isVowel(text, last - 1)) return false;
  if (last === 1) return true;
  return !isVowel(text, last - 2) && !'wxY'.includes(text[last] ?? '');
}

function withoutPossessive(text: string): string {
  return text.includes("'") ? text.replace(/'(?:s'?)?$/, '') : text;
}

function withoutPlural(text: string): string {
  if (text.endsWith('sses')) return text.slice(0, -2);
  if (text.endsWith('ied') || text.endsWith('ies')) return text.slice(0, text.length > 4 ? -2 : -1);
  if (!text.endsWith('s') || text.endsWith('us') || text.endsWith('ss')) return text;
  return hasVowelBefore(text, text.length - 2) ? text.slice(0, -1) : text;
}

function withoutPastOrGerund(text: string, r1: number): string {
  const ending = /(?:eedly|eed|edly|ed|ingly|ing)$/.exec(text)?.[0];
  if (ending === undefined) return text;
  const start = text.length - ending.length;
  const rest = text.slice(0, start);
  if (ending.startsWith('ee')) return start >= r1 && !KEEPS_EED.has(rest) ? `${rest}ee` : text;
  if (ending === 'ing' && start === 2 && rest.endsWith('y') && !isVowel(rest, 0)) return `${rest[0]}ie`;
  if (!hasVowelBefore(text, start)) return text;
  if (rest.endsWith('at') || rest.endsWith('bl') || rest.endsWith('iz')) return `${rest}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return /^[aeo]..$/.test(rest) ? rest : rest.slice(0, -1);
  return rest.length <= r1 && endsShort(rest) ? `${rest}e` : rest;
}

const KEEPS_EED: ReadonlySet<string> = new Set(['proc', 'exc', 'succ']);

function withFinalI(text: string): string {
  const last = text.length - 1;
  if (last < 2 || (text[last] !== 'y' && text[last] !== 'Y') || isVowel(text, last - 1)) return text;
  return `${text.slice(0, last)}i`;
}

/** A rule: an ending, its replacement, a condition on the text before it, and whether it must be in the second region. */
interface Rule {
  readonly ending: string;
  readonly becomes: string;
  readonly after?: RegExp;
  readonly inR2?: true;
}

interface Regions {
  readonly r1: number;
  readonly r2: number;
}

function rules(
  lines: Readonly<Record<string, string>>,
  more: readonly Rule[] = [],
): ReadonlyMap<string, readonly Rule[]> {
  const all = Object.entries(lines).flatMap(([becomes, endings]) =>
    endings.split(' ').map((ending): Rule => ({ ending, becomes })),
  );
  // The longest ending decides, even if its condition then fails.
  const sorted = [...all, ...more].sort((a, b) => b.ending.length - a.ending.length);
  return Map.groupBy(sorted, ({ ending }) => ending.slice(-1));
}

const DERIVATIONS = rules(
  {
    tion: 'tional',
    ence: 'enci',
    ance: 'anci',
    able: 'abli',
    ent: 'entli',
    ize: 'izer ization',
    ate: 'ational ation ator',
    al: 'alism aliti alli',
    ful: 'fulness fulli',
    ous: 'ousli ousness',
    ive: 'iveness iviti',
    ble: 'biliti bli',
    og: 'ogist',
    less: 'lessli',
  },
  [
    { ending: 'ogi', becomes: 'og', after: /l$/ },
    { ending: 'li', becomes: '', after: /[cdeghkmnrt]$/ },
  ],
);

const ADJECTIVES = rules({ tion: 'tional', ate: 'ational', al: 'alize', ic: 'icate iciti ical', '': 'ful ness' }, [
  { ending: 'ative', becomes: '', inR2: true },
]);

const SUFFIXES = rules({}, [
  ...'al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize'
    .split(' ')
    .map((ending): Rule => ({ ending, becomes: '', inR2: true })),
  { ending: 'ion', becomes: '', after: /[st]$/, inR2: true },
]);

function replaceEnding(text: string, table: ReadonlyMap<string, readonly Rule[]>, { r1, r2 }: Regions): string {
  const rule = table.get(text.slice(-1))?.find(({ ending }) => text.endsWith(ending));
  if (rule === undefined) return text;
  const start = text.length - rule.ending.length;
  if (start < (rule.inR2 ? r2 : r1)) return text;
  const rest = text.slice(0, start);
  return rule.after === undefined || rule.after.test(rest) ? rest + rule.becomes : text;
}

function withoutFinal(text: string, r1: number, r2: number): string {
  const start = text.length - 1;
  const rest = text.slice(0, -1);
  if (text.endsWith('l')) return start >= r2 && rest.endsWith('l') ? rest : text;
  if (!text.endsWith('e')) return text;
  return start >= r2 || (start >= r1 && !endsShort(rest)) ? rest : text;
}

/** English words that say nothing about which tool is meant, in requests and in tool texts. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the this that these those some any',
    'i me my we us our you your he she it its they them their',
    'is are was were be been being am do does did have has had',
    'can could will would shall should may might must',
    'and or but if then so as of in on at by for from to with into about than',
    'what which who how when where there here',
    'please want need help let like also just',
    's t d m ll re ve don didn doesn isn',
  ].flatMap((line) => line.split(' ')),
);
