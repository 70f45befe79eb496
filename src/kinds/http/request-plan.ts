import { namesIn, readTemplate, type Template } from '../../specs/template.ts';
import { type Address, readAddress } from './address.ts';
import { type FillBody, readBody } from './fill-body.ts';
import {
  BadArgument,
  type Encoding,
  encode,
  type Filling,
  fillText,
  listText,
  type Parameter,
  readParameters,
} from './fill-text.ts';
import type { HttpAuth, HttpRun } from './http-run.ts';
import { readSelect, type Selection } from './read-answer.ts';

/** A compiled run; a call only fills it in. */
export interface RequestPlan {
  readonly method: string;
  readonly address: Address;
  readonly query: readonly Parameter[];
  readonly headers: NamedTemplates;
  readonly cookies: NamedTemplates;
  readonly fillBody: FillBody;
  /** The names of all secrets used in the plan. */
  readonly secrets: readonly string[];
  readonly isBodySecret: boolean;
  /** True if the request carries any secret. */
  readonly isSecret: boolean;
  readonly auth: readonly HttpAuth[];
  readonly select: Selection | undefined;
  readonly response: HttpRun['response'];
  readonly maxBytes: number;
}

const MAX_BYTES = 10_000_000;

/** Compiles a run. */
export function planRequest(run: HttpRun): RequestPlan {
  const address = readAddress(run);
  const credentials = listAuth(run.auth);
  const secrets = [...new Set(templatesOf(run).flatMap(secretNames))];
  const keys = credentials.flatMap((one) =>
    'apiKey' in one && one.apiKey.in === 'query' ? encode(one.apiKey.name) : [],
  );
  const { method = 'GET', query = {}, body, select, response, maxResponseBytes = MAX_BYTES } = run;
  return {
    method: method.toUpperCase(),
    address,
    query: readParameters(query, [...address.query.map(({ name }) => encode(decoded(name))), ...keys]),
    headers: readNamed(run.headers),
    cookies: readNamed(run.cookies),
    fillBody: readBody(run),
    secrets,
    isSecret: secrets.length > 0 || credentials.length > 0,
    isBodySecret: textsIn(body).some((text) => secretNames(readTemplate(text)).length > 0),
    auth: credentials,
    select: select === undefined ? undefined : readSelect(select),
    response,
    maxBytes: maxResponseBytes,
  };
}

/** The name of a parameter that was written into a URL. */
function decoded(name: string): string {
  return new URLSearchParams(name).keys().next().value ?? '';
}

/** All templates of a run. */
export function templatesOf({ url, baseUrl, query, headers, cookies, body }: HttpRun): readonly Template[] {
  return textsIn([url, baseUrl, query, headers, cookies, body]).map(readTemplate);
}

/** The credentials of a run as a list. */
export function listAuth(auth: HttpRun['auth'] = []): readonly HttpAuth[] {
  return Array.isArray(auth) ? auth : [auth as HttpAuth]; // a single entry
}

/** The texts of credentials. They may hold secrets, but never arguments. */
export function authTexts(auth: HttpAuth): readonly string[] {
  return textsIn(Object.values(auth));
}

/** Every text in a value, at any depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function secretNames({ parts }: Template): readonly string[] {
  return parts.flatMap((part) => (typeof part === 'object' && 'secret' in part ? part.secret : []));
}

/** Headers or cookies by name, ready to be filled. */
export type NamedTemplates = readonly (readonly [name: string, value: Template])[];

/** Compiles the headers or cookies of a run. */
function readNamed(given: Readonly<Record<string, string | number | boolean>> = {}): NamedTemplates {
  return Object.entries(given).map(([name, value]) => [name, readTemplate(String(value))]);
}

// What HTTP can carry in a header: no line ends, no control characters, nothing beyond latin1.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are refused
const UNSENDABLE = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

const HEADER: Encoding = {
  literal: (text) => text,
  value: (value) => listText(value, (text) => text),
  secret: (text) => text,
};

/** The headers of a request, by lower-case name. A header that uses an absent argument is left out. */
export function fillHeaders(headers: NamedTemplates, filling: Filling): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const [name, template] of headers) {
    const text = fillText(template, filling, HEADER);
    if (text === undefined) continue;
    const [argument] = namesIn(template);
    if (argument !== undefined && UNSENDABLE.test(text))
      throw new BadArgument(argument, 'is used in a header, which allows no line breaks and only latin1 characters');
    filled[name.toLowerCase()] = text;
  }
  return filled;
}

const COOKIE: Encoding = { literal: (text) => text, value: (value) => listText(value, encode), secret: encode };

/** Cookies as `name=value` pairs. */
export function fillCookies(cookies: NamedTemplates, filling: Filling): readonly string[] {
  return cookies.flatMap(([name, template]) => {
    const text = fillText(template, filling, COOKIE);
    return text === undefined ? [] : `${name}=${text}`;
  });
}
