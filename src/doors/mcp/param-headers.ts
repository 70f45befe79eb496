import type { JsonSchema } from '../../core/json.ts';

/** An argument that a client of the newest era repeats in a header, so that whoever stands between need not read the body. */
interface Declaration {
  readonly path: readonly string[];
  readonly header: string;
  readonly isNumber: boolean;
}

const KEYWORD = 'x-mcp-header';
const MAX_DEPTH = 100;

/** What a schema asks for never changes. */
const known = new WeakMap<JsonSchema, readonly Declaration[]>();

/** Why headers and arguments of a call do not say the same; undefined if they do. */
export function headerMismatch(input: JsonSchema, given: unknown, headers: Headers): string | undefined {
  for (const { path, header, isNumber } of declarationsOf(input)) {
    const value = path.reduce<unknown>(memberOf, given);
    const text = toText(value);
    if (text === undefined) continue; // nothing there that a header could hold
    const name = `Mcp-Param-${header}`;
    const sent = headers.get(name);
    const read = sent === null ? undefined : decode(sent);
    if (sent === null) return `the argument ${path.join('.')} is not repeated in the header ${name}`;
    if (read === undefined) return `the header ${name} is not valid Base64`;
    const isSame = read === text || (isNumber && /^-?\d+(\.\d+)?$/.test(read) && Number(read) === value);
    if (!isSame) return `the header ${name} and the argument ${path.join('.')} differ`;
  }
  return undefined;
}

/** The headers that repeat arguments of a call. */
export function toParamHeaders(input: JsonSchema, given: unknown): Readonly<Record<string, string>> {
  const entries = declarationsOf(input).flatMap(({ path, header }) => {
    const text = toText(path.reduce<unknown>(memberOf, given));
    return text === undefined ? [] : [[`mcp-param-${header}`, toFieldValue(text)] as const];
  });
  return Object.fromEntries(entries);
}

/** What a header can hold as it is, or Base64 that says so. */
export function toFieldValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** A schema that asks for a header where there can be none is invalid: clients leave it alone, and so do we. */
function declarationsOf(input: JsonSchema): readonly Declaration[] {
  const before = known.get(input);
  if (before !== undefined) return before;
  const mentions = JSON.stringify(input).split(`"${KEYWORD}":`).length - 1;
  const found = mentions === 0 ? [] : collect(input, []);
  const declarations = found.length === mentions ? found : [];
  known.set(input, declarations);
  return declarations;
}

/** Only what is reached by `properties` alone has one place among the arguments. */
function collect(schema: unknown, path: readonly string[]): readonly Declaration[] {
  if (typeof schema !== 'object' || schema === null || path.length > MAX_DEPTH) return [];
  const { [KEYWORD]: header, type, properties } = schema as Readonly<Record<string, unknown>>; // an object
  const isNumber = type === 'integer' || type === 'number';
  const isHeld = path.length > 0 && typeof header === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(header);
  const own = isHeld && (isNumber || type === 'string' || type === 'boolean') ? [{ path, header, isNumber }] : [];
  const inner = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  return [...own, ...inner.flatMap(([name, property]) => collect(property, [...path, name]))];
}

function memberOf(at: unknown, name: string): unknown {
  const isObject = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
  return isObject ? (at as Readonly<Record<string, unknown>>)[name] : undefined; // its own member, as was checked
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return typeof value === 'number' && !Number.isInteger(value) && Number.isFinite(value) ? String(value) : undefined;
}

/** A value in Base64 says so; undefined if it says so and is none. */
function decode(value: string): string | undefined {
  const [, coded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (coded === undefined) return value;
  const bytes = Buffer.from(coded, 'base64');
  if (bytes.toString('base64') !== coded) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
