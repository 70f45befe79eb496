import { hash } from 'node:crypto';
import type { MaybePromise } from '../core/json.ts';
import type { ReadRunText } from '../core/ports/extension-ports.ts';
import type { StoredList } from '../core/ports/store.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { type ToolSpec, toUnconfirmed } from '../core/tool-spec.ts';
import { type AllowPrivate, type FetchedResponse, guardedFetch } from '../system/fetch/guarded-fetch.ts';
import { formatOfType, MAX_BYTES } from './entry-collector.ts';
import { createEntryReader } from './spec-entry.ts';
import { describeProblems, keepKnown } from './spec-list.ts';
import type { KeptList, SpecListing, WarnOnce } from './spec-listing.ts';
import { readSpecText } from './spec-text.ts';

/** The last complete list, with the headers that check whether it is still current. */
interface LastList {
  readonly specs: readonly ToolSpec[];
  readonly leftOut: readonly string[];
  readonly validators: FetchHeaders;
  readonly hash: string;
}

export type FetchHeaders = Readonly<Record<string, string>>;

/** The address of a list, with its limits. */
export interface ListAddress {
  /** The name of the source, set on its specs. */
  readonly source: string;
  readonly url: string | (() => MaybePromise<string>);
  readonly headers: FetchHeaders | (() => MaybePromise<FetchHeaders>);
  readonly timeoutMs: number | undefined;
  readonly maxBytes: number | undefined;
  readonly allowPrivate: AllowPrivate;
  readonly readRunText: ReadRunText | undefined;
}

/** Default timeout for the first fetch of a list. */
export const FIRST_FETCH_MS = 60_000;
/** Default timeout if an earlier list can be shown instead. */
const NEXT_FETCH_MS = 8000;

/** The timeout of one request. */
export function fetchTimeoutMs(given: number | undefined, known: unknown): number {
  return given ?? (known === undefined ? FIRST_FETCH_MS : NEXT_FETCH_MS);
}

/** The places to show, store and report a fetched list. */
interface Following {
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
  readonly signal: AbortSignal;
}

const FROM_BEFORE = 'The tools of the last list are shown, but cannot be called.';

/** Returns a function that fetches the list and shows it. Until the first fetch succeeds, the stored list is shown instead. */
export function followList(address: ListAddress, { listing, kept, told, signal }: Following): () => Promise<void> {
  let last: LastList | undefined;
  let isConfirmed = false;
  return async () => {
    try {
      last ??= await readKept(kept, address);
      const { list, entries } = await fetchList(address, last, signal);
      last = list;
      isConfirmed = true;
      told.forget();
      for (const trouble of list.leftOut) told.tell(trouble);
      listing.show(list.specs, { leftOut: list.leftOut[0] });
      if (entries !== undefined) kept.write(entries, { hash: list.hash, about: { validators: list.validators } });
    } catch (cause) {
      // Any error, also one in building the address or a header: the last list stays.
      if (signal.aborted) return;
      const before = isConfirmed ? undefined : last;
      if (before !== undefined && listing.specs().length === 0) listing.show(before.specs.map(toUnconfirmed));
      for (const trouble of before?.leftOut ?? []) told.tell(trouble);
      const reason = before === undefined ? messageOf(cause) : `${messageOf(cause)} ${FROM_BEFORE}`;
      listing.fail(reason);
      told.tell(reason);
    }
  };
}

async function readKept(kept: KeptList, address: ListAddress): Promise<LastList | undefined> {
  const stored = await kept.read();
  return stored === undefined ? undefined : toLastList(stored, address);
}

/** A current list; `entries` as received, if it differs from the last one. */
interface FetchedList {
  readonly list: LastList;
  readonly entries?: readonly unknown[];
}

/** Fetches a list, or confirms that the last one is current. Throws if neither works. */
async function fetchList(address: ListAddress, last: LastList | undefined, signal: AbortSignal): Promise<FetchedList> {
  const { url, headers, maxBytes = MAX_LIST_BYTES, allowPrivate } = address;
  const timeoutMs = fetchTimeoutMs(address.timeoutMs, last);
  const response = await guardedFetch(typeof url === 'function' ? await url() : url, {
    headers: { ...ACCEPT, ...(typeof headers === 'function' ? await headers() : headers), ...last?.validators },
    signal,
    timeoutMs,
    headerTimeoutMs: timeoutMs,
    maxBytes,
    allowPrivate,
  });
  if (response.status === 304 && last !== undefined) return { list: last };
  const { host } = response.url;
  if (response.status !== 200) throw new ToolcribError('upstream', `${host} answered with status ${response.status}.`);
  const now = hash('sha256', response.bytes);
  if (now === last?.hash) return { list: { ...last, validators: validatorsOf(response) } };
  return readResponse(response, address, { hash: now, before: last?.specs ?? [] });
}

function readResponse(
  response: FetchedResponse,
  { source, readRunText }: ListAddress,
  { hash, before }: { readonly hash: string; readonly before: readonly ToolSpec[] },
): FetchedList {
  const { url, headers, bytes } = response;
  const type = headers['content-type'];
  const format = formatOfType(type, url.pathname);
  if (format === undefined)
    throw new ToolcribError(
      'upstream',
      `${url.host} answered with ${type?.slice(0, 80) ?? 'no content type'}; expected JSON or YAML.`,
    );
  if (format === 'yaml' && bytes.length > MAX_YAML_BYTES)
    throw new ToolcribError(
      'upstream',
      `${url.host} answered with more than ${MAX_YAML_BYTES} bytes of YAML; serve the list as JSON.`,
    );
  const entries: unknown[] = [];
  const onEntry = (entry: unknown) => void entries.push(entry);
  const reading = readSpecText(bytes, { source, readRunText, format, file: url.host, onEntry });
  if (!reading.ok)
    throw new ToolcribError('upstream', `The answer of ${url.host} is not a list of tools: ${reading.reason}.`);
  const specs = keepKnown(before, reading);
  const leftOut = describeProblems(reading.problems);
  return { list: { specs, leftOut, validators: validatorsOf(response), hash }, entries };
}

/** Reads a list from the store like a fetched one. Undefined if the stored value is not a list. */
function toLastList(stored: StoredList, { source, readRunText }: ListAddress): LastList | undefined {
  if (!Array.isArray(stored.specs) || typeof stored.hash !== 'string') return undefined;
  const read = createEntryReader({ source, readRunText });
  const leftOut: string[] = [];
  const specs = stored.specs.flatMap((entry, index) => {
    try {
      return [read(entry)];
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      leftOut.push(`The last list, tools[${index}]: ${cause.message}`);
      return [];
    }
  });
  return { specs, leftOut, validators: headersIn(stored.about?.validators), hash: stored.hash };
}

/** Lower than for local files: YAML from a remote host must not block this process for seconds. */
const MAX_YAML_BYTES = 1_000_000;

/** Default size limit of a fetched list. */
const MAX_LIST_BYTES: number = MAX_BYTES.json;

const ACCEPT = { accept: 'application/json, application/yaml, application/x-ndjson;q=0.9, text/*;q=0.5' };

/** The headers for a conditional request. */
export function validatorsOf({ headers: { etag, 'last-modified': modified } }: FetchedResponse): FetchHeaders {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(modified !== undefined && { 'if-modified-since': modified }),
  };
}

/** Keeps only valid conditional headers, so that stored data cannot set other headers or break a request. */
export function headersIn(stored: unknown): FetchHeaders {
  if (typeof stored !== 'object' || stored === null) return {};
  const isValidator = (entry: [string, unknown]): entry is [string, string] =>
    ['if-none-match', 'if-modified-since'].includes(entry[0]) &&
    typeof entry[1] === 'string' &&
    /^[\x20-\x7e\x80-\xff]{1,2000}$/.test(entry[1]);
  return Object.fromEntries(Object.entries(stored).filter(isValidator));
}
