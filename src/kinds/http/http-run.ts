import type { JsonSchema, JsonValue } from '../../core/json.ts';
import type { Run } from '../../core/tool-spec.ts';

/**
 * The `run` of a tool of the kind `http`. In every text `{name}` is an argument, encoded for its place, `{{` and `}}`
 * are braces, and `${secret:NAME}` is a secret; in `auth` only secrets are allowed. A text that uses an absent
 * argument is left out.
 */
export interface HttpRun extends Run {
  readonly kind: 'http';
  /** GET if absent. */
  readonly method?: string;
  /** `https://host/path/{id}?fixed=1`, or only the path if `baseUrl` is set. */
  readonly url: string;
  /** Prefix of the path, without arguments: `https://host/v1`. */
  readonly baseUrl?: string;
  readonly query?: Readonly<Record<string, HttpParameter>>;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
  readonly cookies?: Readonly<Record<string, string | number | boolean>>;
  /** A template: a text that is exactly `"{name}"` becomes the argument itself, with its type. */
  readonly body?: JsonValue;
  /** Encoding of the body. If absent, a text is sent as `text`, everything else as `json`. */
  readonly bodyType?: HttpBodyType;
  /** If it is a list, all entries are sent. */
  readonly auth?: HttpAuth | readonly HttpAuth[];
  /** Selects the result from a JSON answer: a JSON pointer (`/items/0/id`) or a path (`items[*].id`). */
  readonly select?: string;
  /** The type of the answer; overrides its content type. */
  readonly response?: 'json' | 'text' | 'bytes';
  /** Size limit of an answer; 10 MB if absent. */
  readonly maxResponseBytes?: number;
}

/** `json` and `text`; `form` and `multipart` take an object of parameters or parts; `base64` takes a text that is decoded. */
export type HttpBodyType = 'json' | 'form' | 'multipart' | 'text' | 'base64';

/** One or several values. Without a style, a list is repeated and an object is JSON. */
export type HttpParameter = HttpText | readonly HttpText[] | StyledParameter;
type HttpText = string | number | boolean;

/** A parameter in one of the styles of OpenAPI; `json` is the value as JSON text. */
export interface StyledParameter {
  readonly value: HttpText | readonly HttpText[];
  /** `form` if absent. */
  readonly style?: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json';
  /** True if a list is repeated and an object is spread; default true for `form` and `deepObject`. */
  readonly explode?: boolean;
}

/** A part of a `multipart` body; a list becomes several parts. */
export type HttpPart = HttpText | HttpFilePart;
export interface HttpFilePart {
  readonly value: HttpText;
  /** The encoding of the value; text if absent. */
  readonly encoding?: 'text' | 'base64' | 'json';
  readonly filename?: string;
  readonly contentType?: string;
}

/** Credentials of a request. */
export type HttpAuth =
  | { readonly bearer: string }
  | { readonly basic: { readonly username: string; readonly password: string } }
  | { readonly apiKey: { readonly in: 'header' | 'query' | 'cookie'; readonly name: string; readonly value: string } }
  | { readonly clientCredentials: HttpClientCredentials };

/** The OAuth 2 client credentials grant. The token is cached until shortly before it expires. */
export interface HttpClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string;
}

const text = { type: 'string' };
const someText = { type: 'string', minLength: 1 };
const plain = { type: ['string', 'number', 'boolean'] };
const closed = (properties: JsonSchema, required: readonly string[]) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const;

const HEADER_NAME = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
const byName = (value: JsonSchema, pattern?: string) =>
  ({
    type: 'object',
    additionalProperties: value,
    propertyNames: { minLength: 1, ...(pattern !== undefined && { pattern }) },
  }) as const;

const parameter = {
  type: ['string', 'number', 'boolean', 'array', 'object'],
  items: plain,
  properties: {
    value: { type: ['string', 'number', 'boolean', 'array'], items: plain },
    style: { enum: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json'] },
    explode: { type: 'boolean' },
  },
  required: ['value'],
  additionalProperties: false,
};

const auth = {
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  properties: {
    bearer: someText,
    basic: closed({ username: text, password: text }, ['username', 'password']),
    apiKey: closed({ in: { enum: ['header', 'query', 'cookie'] }, name: someText, value: someText }, [
      'in',
      'name',
      'value',
    ]),
    clientCredentials: closed({ tokenUrl: someText, clientId: someText, clientSecret: text, scope: text }, [
      'tokenUrl',
      'clientId',
      'clientSecret',
    ]),
  },
  additionalProperties: false,
};

/** Allowed methods, in any case. */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The schema of a `run` of the kind `http`. */
export const HTTP_RUN_SCHEMA: JsonSchema = closed(
  {
    kind: { const: 'http' },
    method: text,
    url: someText,
    baseUrl: someText,
    query: byName(parameter),
    headers: byName(plain, HEADER_NAME),
    cookies: byName(plain, HEADER_NAME),
    body: true,
    bodyType: { enum: ['json', 'form', 'multipart', 'text', 'base64'] },
    auth: { ...auth, type: ['object', 'array'], items: auth },
    select: text,
    response: { enum: ['json', 'text', 'bytes'] },
    maxResponseBytes: { type: 'integer', minimum: 1, maximum: 100_000_000 },
  },
  ['url'],
);
