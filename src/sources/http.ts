import { hash } from 'node:crypto';
import type { MaybePromise } from '../core/json.ts';
import { describe, readOptions } from '../core/known-keys.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { type AllowPrivate, type FetchedResponse, guardedFetch } from '../runtime/fetch/guarded-fetch.ts';
import { oneAtATime } from '../runtime/one-at-a-time.ts';
import { repeat } from '../runtime/repeat.ts';
import { formatOfType, MAX_BYTES } from '../runtime/specs/spec-format.ts';
import { describeProblems, keepKnown } from '../runtime/specs/spec-list.ts';
import { createListing } from '../runtime/specs/spec-listing.ts';
import { readSpecText } from '../runtime/specs/spec-text.ts';

/** Where a list of specs is fetched from. */
export interface HttpOptions {
  readonly name: string;
  /** A function is asked before each request, so that what is secret in it is held no longer than needed. */
  readonly url: string | (() => MaybePromise<string>);
  readonly headers?: Headers | (() => MaybePromise<Headers>);
  /** How often the list is fetched again; default 60 s. */
  readonly refreshMs?: number;
  /** How long a request may take; default 8 s. */
  readonly timeoutMs?: number;
  /** Default 5 MB; of YAML never more than 1 MB. */
  readonly maxBytes?: number;
  /** Which private hosts may be reached; default: the one of `url` itself, but no redirect. */
  readonly allowPrivate?: AllowPrivate;
  readonly trust?: boolean;
  readonly bundle?: string | false;
  /** Default: `http` alone. */
  readonly kinds?: readonly string[];
}

type Headers = Readonly<Record<string, string>>;
type Settings = Pick<HttpOptions, 'name' | 'url' | 'headers' | 'refreshMs' | 'timeoutMs' | 'maxBytes' | 'allowPrivate'>;

const KEYS = [
  'name',
  'url',
  'headers',
  'refreshMs',
  'timeoutMs',
  'maxBytes',
  'allowPrivate',
  'trust',
  'bundle',
  'kinds',
] as const;

/** The source of a list of specs at an address. A list that cannot be fetched any more stays as it was. */
export function http(given: HttpOptions): Source {
  const { trust, bundle, kinds = ['http'], ...settings } = readOptions<HttpOptions>(given, KEYS, 'http()');
  const { name, url } = settings;
  if (typeof url !== 'function' && !isWebAddress(url))
    throw new ToolcribError('invalid_option', `http(): url is an http or https address, not ${describe(url)}.`);
  return {
    name,
    kinds,
    ...(trust !== undefined && { trust }),
    ...(bundle !== undefined && { bundle }),
    start: (context) => startHttp(settings, context),
  };
}

async function startHttp(settings: Settings, context: SourceContext): Promise<LiveSource> {
  const { name, refreshMs = 60_000 } = settings;
  const listing = createListing();
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const told = new Set<string>();
  const warn = (trouble: string): void => {
    if (!told.has(trouble)) context.warn(`${name}: ${trouble}`);
    told.add(trouble);
  };
  let last: LastList | undefined;

  const update = oneAtATime(async () => {
    try {
      last = await fetchList(settings, last, signal);
    } catch (cause) {
      // Whatever it is, an address or header that cannot be made too: the last list stays.
      if (signal.aborted) return;
      listing.fail(messageOf(cause));
      warn(messageOf(cause));
      return;
    }
    told.clear(); // what is mended and breaks again is told again
    for (const trouble of last.leftOut) warn(trouble);
    listing.show(last.specs, { leftOut: last.leftOut[0] });
  });

  await update();
  const stop = repeat(refreshMs, update);
  const { specs, onChange, status } = listing;
  return {
    specs,
    onChange,
    status,
    refresh: update,
    async close() {
      stop();
      closing.abort();
      listing.close();
    },
  };
}

/** The last list that came whole, and how to ask whether it is still the same. */
interface LastList {
  readonly specs: readonly ToolSpec[];
  readonly leftOut: readonly string[];
  readonly validators: Headers;
  readonly hash: string;
}

async function fetchList(settings: Settings, last: LastList | undefined, signal: AbortSignal): Promise<LastList> {
  const { url, headers = {}, timeoutMs = 8000, maxBytes = MAX_BYTES.json, allowPrivate = 'first' } = settings;
  const response = await guardedFetch(typeof url === 'function' ? await url() : url, {
    headers: { ...ACCEPT, ...(typeof headers === 'function' ? await headers() : headers), ...last?.validators },
    signal,
    timeoutMs,
    headerTimeoutMs: timeoutMs,
    maxBytes,
    allowPrivate,
  });
  if (response.status === 304 && last !== undefined) return last;
  const { host } = response.url;
  if (response.status !== 200) throw new ToolcribError('upstream', `${host} answered with status ${response.status}.`);
  const now = hash('sha256', response.bytes);
  if (now === last?.hash) return { ...last, validators: validatorsOf(response) };
  return readList(response, settings.name, now, last);
}

function readList(response: FetchedResponse, source: string, now: string, last: LastList | undefined): LastList {
  const { url, headers, bytes } = response;
  const type = headers['content-type'];
  const format = formatOfType(type, url.pathname);
  if (format === undefined)
    throw new ToolcribError(
      'upstream',
      `${url.host} answered with ${type?.slice(0, 80) ?? 'no type'}, not with JSON or YAML.`,
    );
  if (format === 'yaml' && bytes.length > MAX_YAML_BYTES)
    throw new ToolcribError(
      'upstream',
      `${url.host} answered with more than ${MAX_YAML_BYTES} bytes of YAML; use JSON.`,
    );
  const reading = readSpecText(bytes, { source, format, file: url.host });
  if (!reading.ok)
    throw new ToolcribError('upstream', `The answer of ${url.host} is no list of tools: ${reading.reason}.`);
  return {
    specs: keepKnown(last?.specs ?? [], reading),
    leftOut: describeProblems(reading.problems),
    validators: validatorsOf(response),
    hash: now,
  };
}

/** Less than of a file here: a stranger's YAML must not keep this process busy for seconds. */
const MAX_YAML_BYTES = 1_000_000;

const ACCEPT = { accept: 'application/json, application/yaml, application/x-ndjson;q=0.9, text/*;q=0.5' };

function validatorsOf({ headers: { etag, 'last-modified': modified } }: FetchedResponse): Headers {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(modified !== undefined && { 'if-modified-since': modified }),
  };
}

function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
