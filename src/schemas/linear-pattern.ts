import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { patternSize, patternTokens, translatePattern } from './translate-pattern.ts';
import type { WorkLimit } from './work-limit.ts';

/** A regular expression that cannot hang. */
interface LinearPattern {
  test(text: string): boolean;
  /** Ajv tells patterns apart by this. */
  toString(): string;
}

/** The patterns of schemas, compiled once; a string is the reason why one cannot be used. */
export type LinearPatterns = (pattern: string) => LinearPattern | string;

const MAX_PATTERNS = 1000;
const MAX_LENGTH = 2000;
const MAX_SIZE = 2000;
const MAX_NATIVE_COST = 200;

interface Engine {
  /** How many units of work a character of the text may cost. */
  readonly cost: number;
  test(text: string): boolean;
}

/** Compiles patterns for a linear engine and charges their work to `work`. */
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
  if (native === undefined) return 'is not a regular expression of JavaScript';
  const tokens = patternTokens(pattern);
  const cost = nativeCost(tokens);
  if (cost !== undefined) return { cost, test: (text) => native.test(text) };
  if (patternSize(tokens) > MAX_SIZE) return 'is too large to be run';
  const translated = translatePattern(tokens);
  const linear = translated === undefined ? undefined : compileLinear(translated);
  if (linear === undefined) return 'cannot be run in linear time';
  return { cost: linear.programSize(), test: (text) => linear.test(text) };
}

// JSON Schema asks for the `u` flag. Many patterns were written without it (`\-`); they get their older meaning,
// unless they hold an escape that means something else in it.
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
  const module = createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }; // what this package exports
  try {
    return module.RE2JS.compile(translated);
  } catch {
    return undefined;
  }
}

// The built-in engine is linear too where it can hardly go back: no groups, no alternatives, one thing of variable
// length at most, and the pattern tied to the start. Most patterns are like that (`^[a-z0-9-]{1,64}$`), and there
// the built-in engine is faster and needs no translation.
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
