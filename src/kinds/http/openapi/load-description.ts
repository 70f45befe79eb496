import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { isRecord, type MaybePromise } from '../../../core/json.ts';
import type { StoredList } from '../../../core/ports/store.ts';
import { describe } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { type FetchHeaders, fetchTimeoutMs, headersIn, validatorsOf } from '../../../specs/fetched-list.ts';
import { readWhole } from '../../../specs/file-reading.ts';
import { type AllowPrivate, guardedFetch } from '../../../system/fetch/guarded-fetch.ts';
import { createWork, type Work } from './local-refs.ts';
import { convertSwagger, isSwagger2 } from './swagger.ts';

/** Facts for checking whether a description has changed. */
export interface KnownDescription {
  readonly hash: string;
  readonly validators: FetchHeaders;
}

/** A loaded description. */
export interface LoadedDescription extends KnownDescription {
  readonly description: Description;
}

/** The location of a description. */
export type DescriptionPlace =
  | { readonly file: string }
  | {
      readonly url: string;
      /** Called for each request, so that secrets are held no longer than needed. */
      readonly headers: (() => MaybePromise<FetchHeaders>) | undefined;
      readonly timeoutMs: number | undefined;
      readonly allowPrivate: AllowPrivate;
    };

/** Loads a description; undefined if it has not changed. Throws if it cannot be loaded. */
export async function loadDescription(
  place: DescriptionPlace,
  last: KnownDescription | undefined,
  signal: AbortSignal,
): Promise<LoadedDescription | undefined> {
  return 'file' in place ? loadFile(place.file, last) : fetchDescription(place, last, signal);
}

async function loadFile(file: string, last: KnownDescription | undefined): Promise<LoadedDescription | undefined> {
  const reading = await readWhole(file, MAX_DESCRIPTION_BYTES.json);
  if (!reading.ok) throw new ToolcribError('invalid_description', `${file}: ${reading.reason}.`);
  if (reading.hash === last?.hash) return undefined;
  const description = await readBytes(reading.bytes, file, MAX_DESCRIPTION_BYTES.yaml);
  return { description, hash: reading.hash, validators: {} };
}

type Address = Extract<DescriptionPlace, { readonly url: string }>;

async function fetchDescription(
  { url, headers, timeoutMs: given, allowPrivate }: Address,
  last: KnownDescription | undefined,
  signal: AbortSignal,
): Promise<LoadedDescription | undefined> {
  const timeoutMs = fetchTimeoutMs(given, last);
  const response = await guardedFetch(url, {
    headers: { ...ACCEPT, ...(await headers?.()), ...last?.validators },
    signal,
    timeoutMs,
    headerTimeoutMs: timeoutMs,
    maxBytes: MAX_DESCRIPTION_BYTES.json,
    allowPrivate,
  });
  if (response.status === 304 && last !== undefined) return undefined;
  const { host } = response.url;
  if (response.status !== 200) throw new ToolcribError('upstream', `${host} answered with status ${response.status}.`);
  const now = hash('sha256', response.bytes);
  if (now === last?.hash) return undefined;
  const description = await readBytes(response.bytes, `The answer of ${host}`, MAX_DESCRIPTION_BYTES.remoteYaml);
  return { description, hash: now, validators: validatorsOf(response) };
}

const ACCEPT = { accept: 'application/json, application/yaml, application/vnd.oai.openapi+json, text/*;q=0.5' };
/** The first byte of JSON: a brace or a bracket. */
const JSON_STARTS: readonly (number | undefined)[] = [0x7b, 0x5b];

/** Content types and file names are unreliable, so the first byte decides the format. */
async function readBytes(bytes: Buffer, what: string, maxYamlBytes: number): Promise<Description> {
  const first = bytes.subarray(0, 1000).find((byte) => byte > 0x20 && byte < 0x80);
  const format = JSON_STARTS.includes(first) ? 'json' : 'yaml';
  try {
    if (format === 'yaml' && bytes.length > maxYamlBytes)
      throw new ToolcribError('invalid_description', `it is YAML and has more than ${maxYamlBytes} bytes; use JSON`);
    return await readDescription(bytes, format);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    throw new ToolcribError('invalid_description', `${what}: ${messageOf(cause)}.`, { cause });
  }
}

/** Reads a stored description with the same checks as a fetched one; undefined if it is invalid. */
export function toLoaded(stored: StoredList | undefined): LoadedDescription | undefined {
  if (typeof stored?.hash !== 'string' || !Array.isArray(stored.specs)) return undefined;
  try {
    const description = toDescription(stored.specs[0]);
    return { description, hash: stored.hash, validators: headersIn(stored.about?.validators) };
  } catch (cause) {
    if (cause instanceof ToolcribError) return undefined;
    throw cause;
  }
}

/** Any object of a description; read with care, since it is untrusted. */
export type Fields = Readonly<Record<string, unknown>>;

/** A parsed OpenAPI description. Keywords of 3.0 are understood in every version. */
export interface Description {
  readonly root: Fields;
  /** The original document, if `root` was converted; references point into it. */
  readonly written?: Fields;
  /** The work of reading it, which each reading counts anew. */
  readonly work: Work;
  /** Parts that could not be converted, as sentences. */
  readonly problems?: readonly string[];
}

type DescriptionFormat = 'json' | 'yaml';

/** Size limits. Parsing 5 MB of YAML takes seconds; remote YAML gets a lower limit. */
const MAX_DESCRIPTION_BYTES = { json: 25_000_000, yaml: 5_000_000, remoteYaml: 1_000_000 } as const;

/** Parses a description. Throws with the reason if the bytes are not one. */
async function readDescription(bytes: Uint8Array, format: DescriptionFormat): Promise<Description> {
  if (!isUtf8(bytes)) throw new ToolcribError('invalid_description', 'it is not UTF-8 text');
  const text = new TextDecoder().decode(bytes);
  const root = format === 'json' ? parseJson(text) : await parseYaml(text);
  return toDescription(root);
}

/** Checks a parsed document and converts Swagger 2.0. */
function toDescription(root: unknown): Description {
  if (!isRecord(root))
    throw new ToolcribError('invalid_description', `it is ${describe(root)}, not an OpenAPI description`);
  if (isSwagger2(root)) return { ...convertSwagger(root), written: root, work: createWork() };
  if (root.swagger !== undefined) {
    throw new ToolcribError(
      'invalid_description',
      `its Swagger version is ${describe(root.swagger)}; only Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are supported`,
    );
  }
  if (typeof root.openapi !== 'string' || !/^3\.[0-2](\.|$)/.test(root.openapi)) {
    const said = root.openapi === undefined ? 'no "openapi" at its top' : `"openapi" ${describe(root.openapi)}`;
    throw new ToolcribError(
      'invalid_description',
      `it has ${said}; only Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are supported`,
    );
  }
  return { root, work: createWork() };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToolcribError('invalid_description', `it is not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Limits how far aliases may expand the document. */
const LIMITS = { maxAliasCount: 100 };

/** Parsing time grows with the square of the depth. */
const MAX_YAML_DEPTH = 500;

/** True for implausibly deep brackets, or dashes in one line. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > MAX_YAML_DEPTH) return true;
  }
  return /^[ \t]*(?:[-?][ \t]+){100}/m.test(text);
}

async function parseYaml(text: string): Promise<unknown> {
  if (isTooDeep(text)) throw new ToolcribError('invalid_description', 'it is nested too deeply');
  const { parseDocument } = await import('yaml');
  try {
    // The parser's own check for duplicate keys compares each key with every other.
    const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false });
    const [error] = document.errors;
    if (error === undefined) return document.toJS(LIMITS);
    const [line = ''] = error.message.split('\n', 1); // the following lines quote the document
    throw new ToolcribError('invalid_description', `it is not YAML: ${line.replace(/:$/, '')}`);
  } catch (cause) {
    if (cause instanceof ToolcribError) throw cause;
    // The yaml package has no error class for too many aliases, an unresolved alias or a full stack.
    const reason = cause instanceof RangeError ? 'it is nested too deeply' : messageOf(cause);
    throw new ToolcribError('invalid_description', `it cannot be read as YAML: ${reason}`, { cause });
  }
}
