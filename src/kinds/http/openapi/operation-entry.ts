import { hash } from 'node:crypto';
import type { JsonSchema } from '../../../core/json.ts';
import { type Effects, toToolName } from '../../../core/tool-spec.ts';
import type { HttpRun } from '../http-run.ts';
import { createArguments } from './arguments.ts';
import type { Fields } from './description.ts';
import type { NamedOperation } from './operations.ts';
import { readParameters } from './parameters.ts';
import type { Reading } from './reading.ts';
import { readBody } from './request-body.ts';
import { outputOf } from './schemas/response-schema.ts';
import { authOf } from './security.ts';
import { baseUrlOf } from './servers.ts';
import { shortText } from './short-text.ts';

/** A tool of an API as an entry of a list of specs. */
export interface OperationEntry {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly effects: Effects;
  readonly tags: readonly string[];
  readonly run: HttpRun;
}

/** An operation as a tool. Throws for one that cannot be called. */
export function toEntry(operation: NamedOperation, reading: Reading): OperationEntry {
  const { method, fields } = operation;
  const baseUrl = baseUrlOf(operation, reading);
  const given = createArguments();
  const { url, query, headers, cookies } = readParameters(operation, given, reading);
  const { headers: bodyHeaders, ...body } = readBody(operation, given, reading);
  const auth = authOf(operation, baseUrl, reading);
  const run = {
    kind: 'http',
    method,
    baseUrl,
    url,
    ...unlessEmpty('query', query),
    ...unlessEmpty('headers', { ...headers, ...bodyHeaders, ...lowerCase(reading.settings.headers) }),
    ...unlessEmpty('cookies', cookies),
    ...body,
    ...(auth.length > 0 && { auth }),
  } as const;
  const title = shortText(fields.summary, MAX_TITLE);
  const output = reading.settings.outputSchemas ? outputOf(operation, reading) : undefined;
  return {
    name: toToolName(operation.name, (text) => hash('sha256', text)),
    ...(title !== '' && { title }),
    description: describeOperation(operation),
    input: given.schema(reading.requests),
    ...(output !== undefined && { output }),
    effects: EFFECTS[method] ?? {},
    tags: tagsOf(fields),
    run,
  };
}

const MAX_TITLE = 120;
const MAX_DESCRIPTION = 1000;
const MAX_TAGS = 20;

/** What HTTP says about its methods. */
const EFFECTS: Readonly<Record<string, Effects>> = {
  GET: { readOnly: true, idempotent: true, openWorld: true },
  HEAD: { readOnly: true, idempotent: true, openWorld: true },
  PUT: { readOnly: false, idempotent: true, openWorld: true },
  DELETE: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  POST: { readOnly: false, openWorld: true },
  PATCH: { readOnly: false, openWorld: true },
};

function describeOperation({ method, path, fields }: NamedOperation): string {
  const summary = shortText(fields.summary, MAX_DESCRIPTION);
  const more = shortText(fields.description, MAX_DESCRIPTION);
  const isSaid = more.toLowerCase().startsWith(summary.toLowerCase());
  const said = [isSaid ? '' : `${summary.replace(/[.\s]+$/, '')}.`, more].filter((text) => text !== '').join(' ');
  const text = shortText(said, MAX_DESCRIPTION) || `${method} ${path.slice(0, 200)}`;
  return fields.deprecated === true ? `Deprecated. ${text}` : text;
}

function tagsOf({ tags }: Fields): readonly string[] {
  const words = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string' && tag !== '') : [];
  return [...new Set<string>(words)].slice(0, MAX_TAGS).map((tag) => tag.slice(0, 64));
}

function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function unlessEmpty<Key extends string, Value extends object>(
  key: Key,
  value: Value,
): { readonly [K in Key]?: Value } {
  return Object.keys(value).length === 0 ? {} : ({ [key]: value } as { readonly [K in Key]: Value }); // one key, one value
}
