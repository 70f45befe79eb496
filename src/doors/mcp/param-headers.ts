import type { JsonSchema } from '../../core/json.ts';
import { argumentAt, headerText, type ParamHeader, paramHeadersOf } from '../../formats/mcp-headers.ts';

const TYPES = ['string', 'integer', 'number', 'boolean'];

/** What a schema asks for never changes. */
const known = new WeakMap<JsonSchema, readonly ParamHeader[]>();

/** The arguments of a tool that headers repeat. Clients ignore a schema that asks for a header where there can be none, and so do we. */
export function declaredHeaders(input: JsonSchema): readonly ParamHeader[] {
  const before = known.get(input);
  if (before !== undefined) return before;
  const found = paramHeadersOf(input, TYPES);
  const declared = typeof found === 'string' ? [] : found;
  known.set(input, declared);
  return declared;
}

/** Why headers and arguments of a call do not say the same; undefined if they do. */
export function headerMismatch(input: JsonSchema, given: unknown, headers: Headers): string | undefined {
  for (const { path, header } of declaredHeaders(input)) {
    const value = argumentAt(path, given);
    const text = headerText(value);
    if (text === undefined) continue; // nothing there that a header could hold
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
