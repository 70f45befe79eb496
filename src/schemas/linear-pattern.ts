import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { WorkLimit } from './work-limit.ts';

/** A regular expression that runs in linear time. */
interface LinearPattern {
  test(text: string): boolean;
  /** The identity of the pattern for Ajv. */
  toString(): string;
}

/** Returns the compiled pattern of a schema, cached; or a string with the reason why it cannot be used. */
export type LinearPatterns = (pattern: string) => LinearPattern | string;

const MAX_PATTERNS = 1000;
const MAX_LENGTH = 2000;
const MAX_SIZE = 2000;
const MAX_NATIVE_COST = 200;

interface Engine {
  /** Maximum units of work per character of the text. */
  readonly cost: number;
  test(text: string): boolean;
}

/** Compiles patterns for a linear engine and charges their cost to `work`. */
export function createLinearPatterns(work: WorkLimit): LinearPatterns {
  const known = new Map<string, LinearPattern | string>();
  return function linearPattern(pattern) {
    const found = known.get(pattern);
    if (found !== undefined) return found;
    const engine = compile(pattern);
    const made = typeof engine === 'string' ? engine : toLinearPattern(pattern, engine, work);
    if (known.size >= MAX_PATTERNS) known.clear();
    known.set(pattern, made);
    return made;
  };
}

function toLinearPattern(pattern: string, engine: Engine, work: WorkLimit): LinearPattern {
  return {
    test(text) {
      work.spend(text.length * engine.cost);
      return engine.test(text);
    },
    toString: () => pattern,
  };
}

function compile(pattern: string): Engine | string {
  if (pattern.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  const native = compileNative(pattern);
  if (native === undefined) return 'is not a valid JavaScript regular expression';
  const tokens = patternTokens(pattern);
  const cost = nativeCost(tokens);
  if (cost !== undefined) return { cost, test: (text) => native.test(text) };
  if (patternSize(tokens) > MAX_SIZE) return 'is too large to run';
  const translated = translatePattern(tokens);
  const linear = translated === undefined ? undefined : compileLinear(translated);
  if (linear === undefined) return 'cannot be run in linear time';
  return { cost: linear.programSize(), test: (text) => linear.test(text) };
}

// JSON Schema requires the `u` flag. Many patterns were written without it (`\-`); they are read without it, unless they
// contain an escape whose meaning differs.
function compileNative(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    if (/\\(?:[pPk]|u\{)/.test(pattern)) return undefined;
  }
  try {
    return new RegExp(pattern);
  } catch {
    return undefined;
  }
}

function compileLinear(translated: string): RE2JS | undefined {
  const module = createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }; // the exports of this package
  try {
    return module.RE2JS.compile(translated);
  } catch {
    return undefined;
  }
}

// The built-in engine is also linear if it can hardly backtrack: no groups, no alternatives, at most one part of variable
// length, and anchored at the start. Most patterns are like that (`^[a-z0-9-]{1,64}$`); for them the built-in engine is
// faster and needs no translation.
function nativeCost(tokens: readonly string[]): number | undefined {
  let variable = 0;
  let optional = 0;
  let after = 0;
  for (const token of tokens) {
    if (token === '|' || token.startsWith('(')) return undefined;
    const quantifier = /^(?:([*+]|\{\d+,\d*\})|(\?)|\{(\d+)\})\??$/.exec(token);
    if (quantifier === null) after += 1;
    else if (quantifier[1] !== undefined) {
      variable += 1;
      after = 0;
    } else if (quantifier[2] !== undefined) optional += 1;
    else after += Number(quantifier[3]);
  }
  const anchored = tokens[0] === '^';
  if (variable > 1 || (!anchored && variable + optional > 0)) return undefined;
  const cost = anchored && variable + optional === 0 ? 1 : (1 + after) * 2 ** optional;
  return cost > MAX_NATIVE_COST ? undefined : cost;
}

const SURROGATE_PAIR = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const ESCAPE = String.raw`\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)`;
const CLASS = String.raw`\[(?:\\.|[^\]\\])*\]`;
const GROUP = String.raw`\((?:\?(?:<?[=!]|<[^>]*>|[a-z-]*:))?`;
const QUANTIFIER = String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??`;

const TOKEN = new RegExp([CLASS, SURROGATE_PAIR, ESCAPE, GROUP, QUANTIFIER, '.'].join('|'), 'gsu');
const CLASS_TOKEN = new RegExp([SURROGATE_PAIR, ESCAPE, '.'].join('|'), 'gsu');

// In RE2, \s, \S and the dot only cover ASCII; these are JavaScript's.
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NOT_SPACE = String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const DOT = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** Splits a valid JavaScript pattern into classes, escapes, groups, quantifiers and single characters. */
function patternTokens(pattern: string): readonly string[] {
  return pattern.match(TOKEN) ?? [];
}

/** Estimates the size of a pattern with its counted repetitions (`a{100}`) written out, as RE2 does. */
function patternSize(tokens: readonly string[]): number {
  const outer: number[] = [];
  let size = 0;
  let repeatable = 0;
  for (const token of tokens) {
    const count = /^\{(?:\d+,)?(\d+),?\}/.exec(token);
    if (token.startsWith('(')) {
      outer.push(size);
      size = 0;
    } else if (token === ')') {
      repeatable = size;
      size += outer.pop() ?? 0;
    } else if (count !== null) {
      size += repeatable * (Number(count[1]) - 1);
    } else {
      repeatable = 1;
      size += 1;
    }
  }
  return size;
}

/** Translates a valid JavaScript pattern to RE2's syntax; undefined if RE2 has no equivalent. */
function translatePattern(tokens: readonly string[]): string | undefined {
  let out = '';
  for (const token of tokens) {
    const translated = translateToken(token);
    if (translated === undefined) return undefined;
    out += translated;
  }
  return out;
}

function translateToken(token: string): string | undefined {
  if (token === '.') return DOT;
  if (token === '{' || token === '}' || token === ']') return `\\${token}`;
  if (token === '(' || token === '(?:') return token;
  // RE2 has no look-around, and inline flags are not translated; the name of a group does not matter for a test.
  if (token.startsWith('(')) return /^\(\?<[^=!]/.test(token) ? '(' : undefined;
  if (token.startsWith('[')) return translateClass(token);
  if (token === '\\s') return `[${SPACE}]`;
  if (token === '\\S') return `[^${SPACE}]`;
  if (token.length > 1 && token.startsWith('\\')) return translateEscape(token);
  return token;
}

function translateClass(token: string): string | undefined {
  const negated = token.startsWith('[^');
  const inner = token.slice(negated ? 2 : 1, -1);
  if (inner === '') return negated ? String.raw`[\x00-\x{10ffff}]` : String.raw`[^\x00-\x{10ffff}]`;
  let out = negated ? '[^' : '[';
  for (const part of inner.match(CLASS_TOKEN) ?? []) {
    const translated = translateClassPart(part);
    if (translated === undefined) return undefined;
    out += translated;
  }
  return `${out}]`;
}

function translateClassPart(part: string): string | undefined {
  if (part === '\\s') return SPACE;
  if (part === '\\S') return NOT_SPACE;
  if (part === '\\b') return String.raw`\x08`;
  if (part === '[' || part === '^') return `\\${part}`;
  if (part.length > 1 && part.startsWith('\\')) return translateEscape(part);
  return part;
}

function translateEscape(token: string): string | undefined {
  const rest = token.slice(2);
  switch (token[1]) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 'b':
    case 'B':
    case 'n':
    case 'r':
    case 't':
    case 'v':
    case 'f':
      return token;
    case '0':
      return String.raw`\x00`;
    case 'x':
      return rest === '' ? undefined : token;
    case 'c':
      return rest === '' ? undefined : hex(rest.charCodeAt(0) % 32);
    case 'u':
      return translateUnicode(rest);
    case 'p':
    case 'P':
      return rest === '' ? undefined : `\\${token[1]}${rest.replace(/\{(?:sc|Script|gc|General_Category)=/, '{')}`;
    default:
      // Back-references, and letters that mean something else to RE2 (\A, \Q, \z).
      return /[A-Za-z0-9]/.test(token[1] ?? '') ? undefined : token;
  }
}

function translateUnicode(rest: string): string | undefined {
  if (rest === '') return undefined;
  if (rest.startsWith('{')) return `\\x${rest}`;
  if (rest.length === 4) return `\\x{${rest}}`;
  const high = Number.parseInt(rest.slice(0, 4), 16);
  const low = Number.parseInt(rest.slice(6), 16);
  return hex((high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000);
}

function hex(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`;
}
