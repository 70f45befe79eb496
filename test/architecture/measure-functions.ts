/** A function of a source file, as far as its lines and parameters go. */
export interface Measured {
  readonly name: string;
  readonly lines: number;
  readonly parameters: number;
}

/** What begins a function with a body: a declaration, a method, an arrow function. Sources are formatted, so a function ends where its indentation is closed. */
const BEGINS: readonly RegExp[] = [
  /^(?<indent> *)(?:export )?(?:async )?function\*? (?<name>\w+)[^(]*\(/,
  /^(?<indent> *)(?:export )?const (?<name>\w+)(?:: [^=]+)? = (?:async )?(?:<[^(]*>)?\(/,
  /^(?<indent> *)(?:readonly )?(?:async |get |\*)?(?<name>[\w$]+|\[\w+\])(?:<[^(]*>)?\(/,
  /^(?<indent> *)(?<name>\w+): (?:async )?(?:<[^(]*>)?\(/,
];
const STATEMENTS = new Set(['if', 'for', 'while', 'switch', 'catch', 'return', 'function', 'await', 'with']);

/** The functions of a text whose parameters stand in parentheses and whose body stands in braces. */
export function measureFunctions(text: string): readonly Measured[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const begin = BEGINS.map((pattern) => pattern.exec(line)).find((match) => match !== null);
    const { indent = '', name = '' } = begin?.groups ?? {};
    if (begin === undefined || STATEMENTS.has(name)) return [];
    const rest = lines.slice(index).join('\n').slice(begin[0].length);
    const list = upToClosing(rest);
    if (list === undefined || !/^\)[^\n;]*?(?:=> )?\{\n|^\)(?:: [^;=]*?)?(?: =>)? \{\n/.test(rest.slice(list.length)))
      return [];
    const signature = lines[index] === undefined ? 0 : `${begin[0]}${list}`.split('\n').length - 1;
    const end = lines.findIndex((one, at) => at > index + signature && new RegExp(`^${indent}\\}[;,)]*$`).test(one));
    return end < 0 ? [] : [{ name, lines: end - index + 1, parameters: countParameters(list) }];
  });
}

/** What stands before the parenthesis that closes the list. */
function upToClosing(text: string): string | undefined {
  let depth = 1;
  for (let at = 0; at < text.length; at += 1) {
    if ('([{'.includes(text[at] ?? '')) depth += 1;
    if (')]}'.includes(text[at] ?? '')) depth -= 1;
    if (depth === 0) return text.slice(0, at);
  }
  return undefined;
}

/** Commas on the outermost level, a last one before the end not counted. */
function countParameters(list: string): number {
  const flat = list.replaceAll('=>', '');
  let depth = 0;
  let outermost = '';
  for (const letter of flat) {
    if ('([{<'.includes(letter)) depth += 1;
    if (depth === 0) outermost += letter;
    else if (outermost.at(-1) !== 'x') outermost += 'x';
    if (')]}>'.includes(letter)) depth -= 1;
  }
  return outermost.split(',').filter((part) => part.trim() !== '' && !/^\s*this\b/.test(part)).length;
}
