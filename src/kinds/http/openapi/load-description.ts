import { hash } from 'node:crypto';
import type { MaybePromise } from '../../../core/json.ts';
import type { StoredList } from '../../../core/ports/store.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { type FetchHeaders, headersIn, validatorsOf } from '../../../specs/fetched-list.ts';
import { readWhole } from '../../../specs/file-reading.ts';
import { type AllowPrivate, guardedFetch } from '../../../system/fetch/guarded-fetch.ts';
import { type Description, MAX_DESCRIPTION_BYTES, readDescription, toDescription } from './description.ts';

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
      readonly timeoutMs: number;
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
  { url, headers, timeoutMs, allowPrivate }: Address,
  last: KnownDescription | undefined,
  signal: AbortSignal,
): Promise<LoadedDescription | undefined> {
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
