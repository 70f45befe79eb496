import { describe, didYouMean } from './read-options.ts';
import { ToolcribError } from './tool-error.ts';
import { EFFECT_KEYS, kindOf, type ToolSpec } from './tool-spec.ts';
import { compileGlob } from './visible-text.ts';

/** Conditions on a tool; all must hold. Any boolean of `meta` or `effects` can be used by its name, too. */
export interface Criteria {
  /** All of these. */
  readonly tags?: string | readonly string[];
  /** Any of these. */
  readonly tagsAny?: string | readonly string[];
  readonly category?: string;
  /** A glob over the whole name, or a `RegExp`. */
  readonly namePattern?: string | RegExp;
  readonly kind?: string;
  readonly source?: string;
  readonly bundle?: string;
  /** Words in name, title or description, ignoring case. */
  readonly text?: string;
  readonly [flag: string]: unknown;
}

/** A name or glob; `bundle:` `tag:` `source:` `category:` `kind:` with a glob; or criteria. */
export type Selector = string | Criteria;

/** True if a tool is selected; `bundles` are the names of the bundles it is in. */
export type Matches = (spec: ToolSpec, bundles: readonly string[]) => boolean;

const PREFIXES = ['bundle', 'tag', 'source', 'category', 'kind'] as const;
const CRITERIA = ['tags', 'tagsAny', 'category', 'namePattern', 'kind', 'source', 'bundle', 'text'] as const;

/** Compiles a selector into a test; throws if it is invalid. */
export function compileSelector(selector: Selector): Matches {
  if (typeof selector === 'object' && selector !== null) return compileCriteria(selector);
  if (typeof selector !== 'string' || selector.trim() === '') {
    throw new ToolcribError(
      'invalid_selector',
      `${describe(selector)} is not a selector: write a name, a glob, or an object of criteria.`,
    );
  }
  const colon = selector.indexOf(':');
  if (colon < 0) {
    const matches = compileGlob(requireNameGlob(selector));
    return (spec) => matches(spec.name);
  }
  const prefix = selector.slice(0, colon);
  if (colon === selector.length - 1) {
    throw new ToolcribError(
      'invalid_selector',
      `"${selector}" selects nothing: write a name or a glob after the colon.`,
    );
  }
  const matches = compileGlob(selector.slice(colon + 1));
  switch (prefix) {
    case 'bundle':
      return (_, bundles) => bundles.some(matches);
    case 'tag':
      return (spec) => spec.tags.some(matches);
    case 'source':
      return (spec) => matches(spec.source);
    case 'category':
      return (spec) => spec.category !== undefined && matches(spec.category);
    case 'kind':
      return (spec) => matches(kindOf(spec));
    default:
      throw new ToolcribError(
        'invalid_selector',
        `"${prefix}:" in "${selector}" is not a selector prefix; known are ${PREFIXES.join(', ')}.${didYouMean(prefix, PREFIXES)}`,
      );
  }
}

/** Compiles criteria into a test. `flags`, if given, lists the boolean names that exist; other names throw. */
export function compileCriteria(criteria: Criteria, flags?: ReadonlySet<string>): Matches {
  if (typeof criteria !== 'object' || criteria === null || Array.isArray(criteria)) {
    throw new ToolcribError('invalid_criterion', `Criteria must be an object, got ${describe(criteria)}.`);
  }
  const tests = Object.entries(criteria)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => compileCriterion(key, value, flags));
  return (spec, bundles) => tests.every((matches) => matches(spec, bundles));
}

function compileCriterion(key: string, value: unknown, flags: ReadonlySet<string> | undefined): Matches {
  if (key === 'namePattern' && value instanceof RegExp)
    return (spec) => new RegExp(value, value.flags.replace(/[gy]/g, '')).test(spec.name);
  if (key === 'tags' || key === 'tagsAny') {
    const wanted = typeof value === 'string' ? [value] : value;
    if (!Array.isArray(wanted) || !wanted.every((tag) => typeof tag === 'string'))
      throw wrongValue(key, 'a string or a list of strings');
    return (spec) =>
      key === 'tags' ? wanted.every((tag) => spec.tags.includes(tag)) : wanted.some((tag) => spec.tags.includes(tag));
  }
  if (isCriterion(key)) {
    if (typeof value !== 'string' || value === '')
      throw wrongValue(key, key === 'namePattern' ? 'a glob or a RegExp' : 'a string');
    if (key === 'namePattern') return compileSelector(requireNameGlob(value));
    return key === 'text' ? compileText(value) : compileSelector(`${key}:${value}`);
  }
  const isFlag = flags?.has(key) ?? EFFECT_KEYS.some((known) => known === key);
  if (isFlag && typeof value !== 'boolean') throw wrongValue(key, 'true or false');
  if (typeof value !== 'boolean' || (flags !== undefined && !flags.has(key))) {
    const known = [...CRITERIA, ...(flags ?? EFFECT_KEYS)];
    throw new ToolcribError('unknown_criterion', `"${key}" is not a criterion.${didYouMean(key, known)}`);
  }
  return (spec) => flagsOf(spec).get(key) === value;
}

/** True for the name of a criterion that is not a flag. */
export function isCriterion(key: string): boolean {
  return CRITERIA.some((known) => known === key);
}

/** The booleans of a tool's `meta` and `effects`. */
export function flagsOf(spec: ToolSpec): ReadonlyMap<string, boolean> {
  const entries = [...Object.entries(spec.meta ?? {}), ...Object.entries(spec.effects)];
  return new Map(entries.filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'));
}

function compileText(words: string): Matches {
  const wanted = words.toLowerCase().split(/\s+/);
  return (spec) => {
    const text = `${spec.name} ${spec.title ?? ''} ${spec.description}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}

function requireNameGlob(glob: string): string {
  if (/^[A-Za-z0-9_*?-]+$/.test(glob)) return glob;
  throw new ToolcribError(
    'invalid_selector',
    `"${glob}" is neither a tool name nor a glob of one ("*" any characters, "?" one); for a regular expression pass a RegExp as namePattern.`,
  );
}

function wrongValue(key: string, expected: string): ToolcribError {
  return new ToolcribError('invalid_criterion', `The criterion "${key}" takes ${expected}.`);
}
