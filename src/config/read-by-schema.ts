import { describe, didYouMean } from '../core/read-options.ts';
import { compileSelector, type Selector } from '../core/selector.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { hideLogin } from '../core/visible-text.ts';
import { isDelicate, MAX_MISTAKES, type Mistake, type Path, toPathText } from './config-text.ts';
import { expandVariables, readText, type TextSurroundings } from './read-text.ts';
import { type JsonType, NAME_SAYS, type SchemaNode } from './schema-node.ts';

/** The current path while reading a configuration, and the mistakes found so far. */
export interface ConfigSpot {
  readonly path: Path;
  readonly surroundings: TextSurroundings;
  readonly mistakes: Mistake[];
}

const MAX_DEPTH = 100;

/**
 * Reads a value by schema: checks it, expands variables and resolves paths in one walk. The result is valid only
 * without mistakes. It does not use Ajv, which takes longer to load than the whole command line may take to
 * start and does not support variables.
 */
export function readBySchema(node: SchemaNode, value: unknown, at: ConfigSpot): unknown {
  const spot: ConfigSpot = node.use === 'spec' ? { ...at, surroundings: { ...at.surroundings, asWritten: true } } : at;
  if (spot.path.length > MAX_DEPTH) return report(spot, `is nested deeper than ${MAX_DEPTH} levels.`);
  const filled = typeof value === 'string' ? fillIn(node, value, spot) : { value };
  if (filled === undefined) return undefined;
  if (node.anyOf !== undefined) return readEither(node.anyOf, filled.value, spot);
  if (!accepts(node, filled.value)) return report(spot, wrongType(node, value, spot.path));
  const read = readAccepted(node, filled.value, spot);
  if (node.use === 'selector' && read !== undefined) checkSelector(read, spot);
  return read;
}

/** Adds a mistake. The path is put in front of the message. */
export function report(spot: ConfigSpot, message: string, at: Mistake['at'] = 'value'): undefined {
  const { mistakes, path } = spot;
  if (mistakes.length < MAX_MISTAKES) mistakes.push({ path, at, message: `${toPathText(path)} ${message}` });
}

/** The spot of a member or item. */
export function inside(spot: ConfigSpot, key: string | number): ConfigSpot {
  return { ...spot, path: [...spot.path, key] };
}

/** Expands variables; the result may be a number or a boolean. Undefined if a variable is missing. */
function fillIn(node: SchemaNode, raw: string, spot: ConfigSpot): { readonly value: unknown } | undefined {
  if (!raw.includes('${') || node.use === 'secretName') return { value: raw };
  const { parts, isFilled, mistakes } = expandVariables(raw, spot.surroundings);
  for (const mistake of mistakes) report(spot, mistake);
  if (mistakes.length > 0) return undefined;
  if (!isFilled || parts.some((part) => typeof part !== 'string')) return { value: raw };
  const scalars = (node.anyOf ?? [node]).map((one) => toScalar(one, parts.join('')));
  return { value: scalars.find((scalar) => scalar !== undefined) ?? raw };
}

function toScalar(node: SchemaNode, text: string): unknown {
  if (node.type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (node.type !== 'number' && node.type !== 'integer') return undefined;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function readAccepted(node: SchemaNode, value: unknown, spot: ConfigSpot): unknown {
  if (typeof value === 'string') return readString(node, value, spot);
  if (typeof value === 'number') return checkNumber(node, value, spot);
  if (Array.isArray(value)) return readList(node, value, spot);
  if (typeof value === 'object' && value !== null) return readObject(node, value, spot);
  if (typeof value !== 'boolean' || node.enum === undefined || node.enum.includes(value)) return value;
  return report(spot, `must be ${node.enum.join(' or ')}.`);
}

function readString(node: SchemaNode, raw: string, spot: ConfigSpot): unknown {
  const { path, surroundings } = spot;
  const note = (message: string) => surroundings.note(`${toPathText(path)} ${message}`);
  const reading = readText(node, raw, { ...surroundings, note });
  if (reading.ok) return reading.value;
  const seen = isDelicate(path) || raw === '' ? '' : `, got ${hideLogin(describe(raw))}`;
  for (const mistake of reading.mistakes) report(spot, mistake.endsWith('.') ? mistake : `${mistake}${seen}.`);
  return undefined;
}

function checkNumber(node: SchemaNode, value: number, spot: ConfigSpot): unknown {
  if (!Number.isFinite(value)) return report(spot, `is ${value}, which JSON cannot represent.`);
  const { minimum = -Infinity, maximum = Infinity } = node;
  if (value >= minimum && value <= maximum) return value;
  return report(spot, `must be ${value < minimum ? `at least ${minimum}` : `at most ${maximum}`}, got ${value}.`);
}

function readList(node: SchemaNode, list: readonly unknown[], spot: ConfigSpot): unknown {
  if (list.length < (node.minItems ?? 0)) return report(spot, 'must not be empty.');
  return list.map((item, index) => readBySchema(node.items ?? node, item, inside(spot, index)));
}

function readObject(node: SchemaNode, value: object, spot: ConfigSpot): unknown {
  const missing = (node.required ?? []).filter((key) => !Object.hasOwn(value, key));
  if (missing.length > 0) report(spot, `needs ${quoted(missing)}.`, 'key');
  const names = node.propertyNames === undefined ? undefined : new RegExp(node.propertyNames.pattern);
  const members = Object.entries(value).map(([key, member]) => {
    const inner = inside(spot, key);
    const known = childOf(node, key, member);
    if (known === undefined) return [key, report(inner, unknownKey(node, key, spot.path), 'key')];
    if (names?.test(key) === false) return [key, report(inner, `is not a name: use ${NAME_SAYS}.`, 'key')];
    return [key, readBySchema(known, member, inner)];
  });
  return Object.fromEntries(members);
}

function childOf(node: SchemaNode, key: string, member: unknown): SchemaNode | undefined {
  const { properties = {}, additionalProperties: others } = node;
  if (Object.hasOwn(properties, key)) return properties[key];
  if (others === false) return undefined;
  if (others === undefined) return {}; // no schema: any JSON is accepted at every depth
  // A custom name that lacks its required keys and resembles a known one is a misspelling of it.
  const isWhole = others.required?.every((need) => typeof member === 'object' && member !== null && need in member);
  return isWhole === false && didYouMean(key, Object.keys(properties)) !== '' ? undefined : others;
}

function readEither(branches: readonly SchemaNode[], value: unknown, spot: ConfigSpot): unknown {
  const fitting = branches.filter((branch) => accepts(branch, value));
  const [only, ...others] = fitting;
  if (only === undefined) return report(spot, wrongType({ anyOf: branches }, value, spot.path));
  if (others.length === 0) return readBySchema(only, value, spot);
  return readByKey(fitting, value as object, spot); // only maps have several shapes
}

/** Selects the shape of a map by the key that only this shape requires. */
function readByKey(branches: readonly SchemaNode[], value: object, spot: ConfigSpot): unknown {
  const isShared = (key: string) => branches.every((branch) => branch.required?.includes(key));
  const telling = branches.map((branch) => branch.required?.find((key) => !isShared(key)) ?? '');
  const present = telling.filter((key) => Object.hasOwn(value, key));
  if (present.length > 1) return report(spot, `has ${quoted(present)}; keep one of them.`, 'key');
  const branch = branches.find((_, index) => telling[index] === present[0]);
  if (branch !== undefined) return readBySchema(branch, value, spot);
  const guesses = Object.keys(value).map((key) => didYouMean(key, telling));
  return report(spot, `needs one of ${telling.join(', ')}.${guesses.find((guess) => guess !== '') ?? ''}`, 'key');
}

function checkSelector(selector: unknown, spot: ConfigSpot): void {
  try {
    compileSelector(selector as Selector); // throws for an invalid selector
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    report(spot, `is not a valid selector: ${error.message}`);
  }
}

function accepts(node: SchemaNode, value: unknown): boolean {
  switch (node.type) {
    case undefined:
      return true;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === node.type;
  }
}

const MANY_KEYS = 20;

function unknownKey(node: SchemaNode, key: string, path: Path): string {
  const known = Object.keys(node.properties ?? {});
  const guess = didYouMean(key, known);
  const all = guess === '' && known.length <= MANY_KEYS ? ` Known keys: ${known.join(', ')}.` : guess;
  return `is not known: ${toPathText(path)} has no ${describe(key)}.${all}`;
}

function wrongType(node: SchemaNode, value: unknown, path: Path): string {
  if (value === null && typeof path.at(-1) === 'number') {
    return 'is empty: YAML reads "#" as the start of a comment; put the entry in quotes, or remove it.';
  }
  if (value === null) return `is empty; it must be ${phrase(node)}.`;
  const seen = typeof value === 'string' && isDelicate(path) ? 'a string' : describe(value);
  return `must be ${phrase(node)}, got ${seen}${hintFor(node, value)}.`;
}

/** `"a" and "b"`. */
function quoted(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(' and ');
}

function hintFor(node: SchemaNode, value: unknown): string {
  const nodes = node.anyOf ?? [node];
  const takes = (type: JsonType) => nodes.some((one) => one.type === type);
  if ((typeof value === 'number' || typeof value === 'boolean') && takes('string')) return '; put it in quotes';
  if (typeof value !== 'string') return '';
  if (takes('boolean') && /^(yes|no|on|off|y|n)$/i.test(value)) return '; YAML 1.2 accepts only true and false';
  if ((takes('number') || takes('integer')) && /^[\d._-]+$/.test(value)) return '; remove the quotes';
  return '';
}

const PHRASES: Readonly<Record<JsonType, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

function phrase(node: SchemaNode): string {
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(phrase))].join(' or ');
  if (node.enum !== undefined) return node.enum.length === 1 ? String(node.enum[0]) : `one of ${node.enum.join(', ')}`;
  return node.type === undefined ? 'something' : PHRASES[node.type];
}
