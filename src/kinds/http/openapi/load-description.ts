import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { isRecord, type MaybePromise } from '../../../core/json.ts';
import type { StoredList } from '../../../core/ports/store.ts';
import { describe } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { type FetchHeaders, fetchTimeoutMs, headersIn, validatorsOf } from '../../../specs/fetched-list.ts';
import { readWhole } from '../../../specs/file-reading.ts';
import { type AllowPrivate, guardedFetch } from '../../../system/fetch/guarded-fetch.ts';
import { convertSwagger, isSwagger2 } from './swagger.ts';

/** How to ask whether a description is still the same. */
export interface KnownDescription {
  readonly hash: string;
  readonly validators: FetchHeaders;
}

/** A description that came whole. */
export interface LoadedDescription extends KnownDescription {
  readonly description: Description;
}

/** Where a description lies. */
export type DescriptionPlace =
  | { readonly file: string }
  | {
      readonly url: string;
      /** Asked before each request, so that what is secret in them is held no longer than needed. */
      readonly headers: (() => MaybePromise<FetchHeaders>) | undefined;
      readonly timeoutMs: number | undefined;
      readonly allowPrivate: AllowPrivate;
    };

/** Loads a description; nothing where it is still the last one. Throws where there is none to be had. */
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
/** What JSON begins with: a brace, or a bracket. */
const JSON_STARTS: readonly (number | undefined)[] = [0x7b, 0x5b];

/** Servers and files call descriptions anything, so it is looked at how one begins. */
async function readBytes(bytes: Buffer, what: string, maxYamlBytes: number): Promise<Description> {
  const first = bytes.subarray(0, 1000).find((byte) => byte > 0x20 && byte < 0x80);
  const format = JSON_STARTS.includes(first) ? 'json' : 'yaml';
  try {
    if (format === 'yaml' && bytes.length > maxYamlBytes)
      throw new ToolcribError('invalid_description', `it is YAML of more than ${maxYamlBytes} bytes; use JSON`);
    return await readDescription(bytes, format);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    throw new ToolcribError('invalid_description', `${what}: ${messageOf(cause)}.`, { cause });
  }
}

/** A description out of the store, judged like one that was just fetched. Nothing for what is none: somebody else wrote it. */
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

/** Any object of a description; read with care, since a stranger may have written it. */
export type Fields = Readonly<Record<string, unknown>>;

/** An OpenAPI description that was parsed. What 3.0 says in words of its own is understood in all of them. */
export interface Description {
  readonly root: Fields;
  /** What it was converted from; its references point into this. */
  readonly written?: Fields;
  /** What of it could not be converted, as sentences. */
  readonly problems?: readonly string[];
}

/** How a description is written down. */
type DescriptionFormat = 'json' | 'yaml';

/** The most that is read of a description. YAML of 5 MB takes seconds to parse; what a stranger sends may take less. */
const MAX_DESCRIPTION_BYTES = { json: 25_000_000, yaml: 5_000_000, remoteYaml: 1_000_000 } as const;

/** Reads a description. What is none throws, saying what it is instead. */
async function readDescription(bytes: Uint8Array, format: DescriptionFormat): Promise<Description> {
  if (!isUtf8(bytes)) throw new ToolcribError('invalid_description', 'it is not text in UTF-8');
  const text = new TextDecoder().decode(bytes);
  const root = format === 'json' ? parseJson(text) : await parseYaml(text);
  return toDescription(root);
}

/** What was parsed before, as a description. */
function toDescription(root: unknown): Description {
  if (!isRecord(root)) throw new ToolcribError('invalid_description', `it is ${describe(root)}, not a description`);
  if (isSwagger2(root)) return { ...convertSwagger(root), written: root };
  if (root.swagger !== undefined) {
    throw new ToolcribError(
      'invalid_description',
      `it is of Swagger ${describe(root.swagger)}, and only Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are read`,
    );
  }
  if (typeof root.openapi !== 'string' || !/^3\.[0-2](\.|$)/.test(root.openapi)) {
    const said = root.openapi === undefined ? 'no "openapi" at its top' : `"openapi" ${describe(root.openapi)}`;
    throw new ToolcribError(
      'invalid_description',
      `it has ${said}, and only Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are read`,
    );
  }
  return { root };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToolcribError('invalid_description', `it is not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** How far aliases may multiply what is written. */
const LIMITS = { maxAliasCount: 100 };

/** Parsing takes the square of the depth. */
const MAX_YAML_DEPTH = 500;

/** True for more open brackets, or dashes in a line, than anybody means. */
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
    // The parser's own search for keys that stand twice compares each with each.
    const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false });
    const [error] = document.errors;
    if (error === undefined) return document.toJS(LIMITS);
    const [line = ''] = error.message.split('\n', 1); // the lines after it show the text
    throw new ToolcribError('invalid_description', `it is not YAML: ${line.replace(/:$/, '')}`);
  } catch (cause) {
    if (cause instanceof ToolcribError) throw cause;
    // Too many aliases, an alias of nothing, or a full stack: yaml has no error of its own for these.
    const reason = cause instanceof RangeError ? 'it is nested too deeply' : messageOf(cause);
    throw new ToolcribError('invalid_description', `it cannot be read as YAML: ${reason}`, { cause });
  }
}
