import { isJsonObject, type JsonObject, type JsonSchema } from '../../core/json.ts';

/** An argument that a server of the newest era wants to see in a header, too. */
interface ParamHeader {
  readonly path: readonly string[];
  readonly header: string;
}

const KEYWORD = 'x-mcp-header';
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
const MAX_DEPTH = 100;

/** The arguments that are repeated in headers, or why the schema asks for that in a way that cannot be. */
export function paramHeadersOf(input: JsonSchema): readonly ParamHeader[] | string {
  const found: ParamHeader[] = [];
  const why = collect(input, { path: [], isNamed: true }, found);
  if (why !== undefined) return why;
  const names = found.map(({ header }) => header.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? found : `two arguments want the header "${twice}"`;
}

interface Place {
  readonly path: readonly string[];
  /** True while only `properties` lie between here and the root: only there an argument has one place. */
  readonly isNamed: boolean;
}

function collect(schema: unknown, { path, isNamed }: Place, found: ParamHeader[]): string | undefined {
  if (typeof schema !== 'object' || schema === null || path.length > MAX_DEPTH) return undefined;
  if (Array.isArray(schema))
    return first(schema, (item) => collect(item, { path: [...path, ''], isNamed: false }, found));
  const { [KEYWORD]: header, properties, type, ...others } = schema as Readonly<Record<string, unknown>>; // an object
  if (header !== undefined) {
    const where = path.length === 0 ? 'the schema itself' : `"${path.join('.')}"`;
    if (!isNamed || path.length === 0) return `${where} cannot stand in a header`;
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${where} names no header`;
    if (!HEADER_TYPES.includes(type)) return `${where} is not of a type that a header can hold`;
    found.push({ path, header });
  }
  return (
    first(Object.entries(isObject(properties) ? properties : {}), ([name, inner]) =>
      collect(inner, { path: [...path, name], isNamed }, found),
    ) ??
    first(Object.entries(others), ([name, inner]) => collect(inner, { path: [...path, name], isNamed: false }, found))
  );
}

function first<Item>(items: readonly Item[], look: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const why = look(item);
    if (why !== undefined) return why;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The headers for one call; an argument that is not there, or that no header can hold, has none. */
export function toParamHeaders(headers: readonly ParamHeader[], input: JsonObject): Readonly<Record<string, string>> {
  const entries = headers.flatMap(({ path, header }) => {
    const value = path.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), input);
    if (typeof value === 'number' && !Number.isSafeInteger(value)) return [];
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
    return [[`Mcp-Param-${header}`, toFieldValue(String(value))] as const];
  });
  return Object.fromEntries(entries);
}

/** What a field of HTTP can hold as it is, or Base64 that says so. */
function toFieldValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
