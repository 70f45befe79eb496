import type { JsonSchema } from '../../core/json.ts';
import { argumentAt, headerText, type ParamHeader, paramHeadersOf } from '../../formats/mcp-headers.ts';

const TYPES = ['string', 'integer', 'number', 'boolean'];

/** Cache by schema; schemas are immutable. */
const known = new WeakMap<JsonSchema, readonly ParamHeader[]>();

/** The arguments of a tool that headers repeat. An invalid declaration counts as none, as in clients. */
export function declaredHeaders(input: JsonSchema): readonly ParamHeader[] {
  const before = known.get(input);
  if (before !== undefined) return before;
  const found = paramHeadersOf(input, TYPES);
  const declared = typeof found === 'string' ? [] : found;
  known.set(input, declared);
  return declared;
}

/** The first difference between the headers and the arguments of a call; undefined if they match. */
export function headerMismatch(input: JsonSchema, given: unknown, headers: Pick<Headers, 'get'>): string | undefined {
  for (const { path, header } of declaredHeaders(input)) {
    const value = argumentAt(path, given);
    const text = headerText(value);
    if (text === undefined) continue; // a header cannot hold this value
    const name = `Mcp-Param-${header}`;
    const sent = headers.get(name);
    const read = sent === null ? undefined : decode(sent);
    if (sent === null) return `the argument ${path.join('.')} is not repeated in the header ${name}`;
    if (read === undefined) return `the header ${name} is not valid Base64`;
    const isSame =
      read === text || (typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(read) && Number(read) === value);
    if (!isSame) return `the header ${name} and the argument ${path.join('.')} differ`;
  }
  return undefined;
}

/** Decodes a header value that is marked as Base64; undefined if it is not valid Base64. */
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
