import { hash } from 'node:crypto';
import { isRecord, type JsonSchema } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { type Effects, toToolName } from '../../../core/tool-spec.ts';
import { withoutEnd } from '../../../core/visible-text.ts';
import type { HttpRun } from '../http-run.ts';
import type { Fields } from './load-description.ts';
import { followRefs } from './local-refs.ts';
import { createArguments, readParameters } from './operation-arguments.ts';
import { isSuccess, type NamedOperation } from './operations.ts';
import { type ApiSettings, type Operation, type Reading, shortText } from './reading.ts';
import { readBody } from './request-body.ts';
import { authOf } from './security.ts';
import { toWholeSchema } from './whole-schema.ts';

/** A tool of an API as an entry of a spec list. */
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

/** Converts an operation to a tool. Throws if it cannot be called. */
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
    input: given.schema(reading),
    ...(output !== undefined && { output }),
    effects: EFFECTS[method] ?? {},
    tags: tagsOf(fields),
    run,
  };
}

const MAX_TITLE = 120;
const MAX_DESCRIPTION = 1000;
const MAX_TAGS = 20;

/** Effects of the HTTP methods by their definition. */
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
  const said = [isSaid ? '' : `${withoutEnd(summary, /[.\s]/)}.`, more].filter((text) => text !== '').join(' ');
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

/** The output schema, if the operation has exactly one successful JSON response. */
function outputOf({ fields }: Operation, { description, responses }: Reading): JsonSchema | undefined {
  if (!isRecord(fields.responses)) return undefined;
  const good = Object.entries(fields.responses).filter(([status]) => isSuccess(status));
  const [only, ...others] = good;
  if (only === undefined || others.length > 0) return undefined;
  const { content } = followRefs(description, only[1], `its response ${only[0]}`);
  const [media, ...more] = isRecord(content) ? Object.entries(content) : [];
  if (media === undefined || more.length > 0 || !/^application\/([\w.-]+\+)?json\b/i.test(media[0])) return undefined;
  const schema = isRecord(media[1]) ? media[1].schema : undefined;
  if (!isRecord(schema)) return undefined;
  const part = responses.convert(schema);
  const isTelling = Object.keys(part.schema).some((key) => key !== 'description');
  return isTelling
    ? toWholeSchema(part.schema, part.uses, { conversion: responses, work: description.work })
    : undefined;
}

/** The base URL of an operation: the configured one, or the first server of the nearest `servers` list. */
function baseUrlOf({ fields, shared }: Operation, reading: Reading): string {
  const { settings, description, url } = reading;
  if (settings.baseUrl !== undefined) return toBase(new URL(settings.baseUrl));
  const lists = [fields.servers, shared.servers, description.root.servers];
  const [server] = lists.filter(Array.isArray).find((list) => list.length > 0) ?? [];
  const written =
    isRecord(server) && typeof server.url === 'string' ? fillVariables(shortUrl(server.url), server.variables) : '/';
  const found = URL.parse(url === undefined && written.startsWith('//') ? `https:${written}` : written, url?.href);
  if (found === null) {
    throw new ToolcribError(
      'invalid_description',
      `its server "${written.slice(0, 120)}" is not a valid URL: set baseUrl`,
    );
  }
  if (!/^https?:$/.test(found.protocol) || found.username !== '' || found.password !== '') {
    throw new ToolcribError(
      'invalid_description',
      'its server is not an http or https URL without a login: set baseUrl',
    );
  }
  if (settings.staysOnHost && found.host !== url?.host) {
    const why = 'but the configured headers or auth are not bound to a host';
    throw new ToolcribError(
      'invalid_description',
      `the description names the server ${found.host}, ${why}: set baseUrl, or use \${secret:NAME} with hosts`,
    );
  }
  if (isPlainOfSafe(found, url) && sendsSomething(settings)) {
    const why = 'so that headers and auth could be read on the way';
    throw new ToolcribError(
      'invalid_description',
      `its server is ${found.origin}, although the description came over https, ${why}: set baseUrl`,
    );
  }
  return toBase(found);
}

/** A description fetched over https must not downgrade calls to plain http, not even on the same host. */
function isPlainOfSafe({ protocol }: URL, fetchedFrom: URL | undefined): boolean {
  return fetchedFrom?.protocol === 'https:' && protocol === 'http:';
}

function sendsSomething({ headers, auth }: ApiSettings): boolean {
  return Object.keys(headers).length + Object.keys(auth).length > 0;
}

const MAX_URL = 2000;

function shortUrl(url: string): string {
  if (url.length <= MAX_URL) return url;
  throw new ToolcribError('invalid_description', `its server URL is longer than ${MAX_URL} characters: set baseUrl`);
}

function fillVariables(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = isRecord(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isRecord(variable) ? variable.default : undefined;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw new ToolcribError(
      'invalid_description',
      `its server has a variable "${name}" without a default: set baseUrl`,
    );
  });
}

/** URL parsing encodes braces, so the base cannot contain an argument or a secret. */
function toBase({ origin, pathname }: URL): string {
  return `${origin}${withoutEnd(pathname, /\//)}`;
}
