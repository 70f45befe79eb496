import { isRecord, type JsonSchema } from '../core/json.ts';

/** An argument that a modern MCP request repeats in a header, so that a proxy does not have to read the body. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly header: string;
}

const KEYWORD = 'x-mcp-header';
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
const MAX_DEPTH = 100;

/** The arguments that headers repeat, or the reason why the declaration in the schema is invalid. */
export function paramHeadersOf(input: JsonSchema, types = HEADER_TYPES): readonly ParamHeader[] | string {
  const found: ParamHeader[] = [];
  const why = collect(input, { path: [], isNamed: true, types }, found);
  if (why !== undefined) return why;
  const names = found.map(({ header }) => header.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? found : `two arguments use the header "${twice}"`;
}

interface Place {
  readonly path: readonly string[];
  /** True if only `properties` lie between this schema and the root: elsewhere an argument has no fixed place. */
  readonly isNamed: boolean;
  readonly types: readonly unknown[];
}

function collect(schema: unknown, { path, isNamed, types }: Place, found: ParamHeader[]): string | undefined {
  if (typeof schema !== 'object' || schema === null || path.length > MAX_DEPTH) return undefined;
  const { [KEYWORD]: header, properties, type, ...others } = schema as Readonly<Record<string, unknown>>; // a list has none of these members
  if (header !== undefined) {
    const where = path.length === 0 ? 'the schema itself' : `"${path.join('.')}"`;
    if (!isNamed || path.length === 0) return `${where} cannot be sent in a header`;
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${where} does not name a valid header`;
    if (!types.includes(type)) return `${where} has a type that a header cannot hold`;
    found.push({ path, header });
  }
  const named = isRecord(properties) ? properties : {};
  for (const [members, isBelowNamed] of [
    [named, isNamed],
    [others, false],
  ] as const) {
    for (const [name, inner] of Object.entries(members)) {
      const why = collect(inner, { path: [...path, name], isNamed: isBelowNamed, types }, found);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

/** The headers of one call. An argument that is absent or cannot be sent in a header is skipped. */
export function toParamHeaders(headers: readonly ParamHeader[], input: unknown): Readonly<Record<string, string>> {
  const entries = headers.flatMap(({ path, header }) => {
    const text = headerText(argumentAt(path, input));
    return text === undefined ? [] : [[`Mcp-Param-${header}`, toFieldValue(text)] as const];
  });
  return Object.fromEntries(entries);
}

/** The value of an argument. */
export function argumentAt(path: readonly string[], input: unknown): unknown {
  return path.reduce((at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined), input);
}

/** The value as header text; undefined if a header cannot hold it. */
export function headerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return typeof value === 'number' && !Number.isInteger(value) && Number.isFinite(value) ? String(value) : undefined;
}

/** The field value of a header: plain text, or marked Base64. */
export function toFieldValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
