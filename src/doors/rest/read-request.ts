import type { JsonSchema } from '../../core/json.ts';
import type { Issue } from '../../core/tool-error.ts';
import { type Answer, refuse } from './answers.ts';
import { object } from './schema-builders.ts';

/** Checks a value by a schema; what is wrong with it, or nothing. */
export type Check = (schema: JsonSchema, value: unknown) => readonly Issue[];

type Members = Readonly<Record<string, unknown>>;

/** What was read of a request, or why it cannot be used. */
export type Read = { readonly value: Members } | { readonly refusal: Answer };

/** Reads parameters after the question mark by their schemas. */
export function createQueryReader(members: Readonly<Record<string, JsonSchema>>, check: Check): (url: URL) => Read {
  const schema = object(members);
  const types = new Map(Object.entries(members).map(([key, { type }]) => [key.replace(/\?$/, ''), type]));
  return ({ searchParams }) => {
    const given = [...new Set(searchParams.keys())].map(
      (key) => [key, meaningOf(searchParams.getAll(key), types.get(key))] as const,
    );
    const value: Members = Object.fromEntries(given);
    const issues = check(schema, value);
    return issues.length === 0
      ? { value }
      : { refusal: invalid('The parameters of the address are not valid.', issues) };
  };
}

/** What the texts of one parameter mean. What means nothing stays as it is, for the schema to say so. */
function meaningOf(texts: readonly string[], type: unknown): unknown {
  if (type === 'array') return texts;
  const [text = ''] = texts;
  if (texts.length > 1) return texts;
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

/** Reads a body by its schema; none at all is an empty object. */
export function readBody(text: string, type: string | null, { schema, check }: BodyRules): Read {
  if (text.trim() === '') return checked({}, { schema, check });
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type ?? ''))
    return { refusal: invalid('The body must be JSON: send "Content-Type: application/json".') };
  try {
    return checked(JSON.parse(text), { schema, check });
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return { refusal: invalid('The body is not JSON.') }; // not the words of the parser, which repeat what was sent
  }
}

interface BodyRules {
  readonly schema: JsonSchema;
  readonly check: Check;
}

function checked(value: unknown, { schema, check }: BodyRules): Read {
  const issues = check(schema, value);
  if (issues.length > 0) return { refusal: invalid('The body is not valid.', issues) };
  return { value: value as Members }; // an object, as every schema of a body demands
}

function invalid(message: string, issues?: readonly Issue[]): Answer {
  return refuse(400, { code: 'invalid_input', message, retryable: false, ...(issues !== undefined && { issues }) });
}
