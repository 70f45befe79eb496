import type { OwnEntry } from '../config/records.ts';
import { grantedSecrets, headersNode, initTimeoutMs, refreshMs, type SourceRecord } from '../config/records.ts';
import { address } from '../config/schema-node.ts';
import type { HttpSourceConfig } from '../config/types/sources.ts';
import { defined } from '../core/defined.ts';
import type { MaybePromise } from '../core/json.ts';
import type { ReadRunText } from '../core/ports/runs.ts';
import type { KeptListPort } from '../core/ports/store.ts';
import { describe, readOptions } from '../core/read-options.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { toUnconfirmed } from '../core/tool-spec.ts';
import {
  type FetchHeaders,
  fetchList,
  type LastList,
  type ListAddress,
  MAX_LIST_BYTES,
  toLastList,
} from '../specs/fetched-list.ts';
import { createKeptList, type KeptList } from '../specs/kept-list.ts';
import { createListing, type SpecListing } from '../specs/spec-listing.ts';
import { createWarnOnce, type WarnOnce } from '../specs/warn-once.ts';
import type { AllowPrivate } from '../system/fetch/guarded-fetch.ts';
import { oneAtATime } from '../system/one-at-a-time.ts';
import { repeat } from '../system/repeat.ts';
import { hostNamesOf, hostOf, type SecretText } from '../system/secrets/secret-template.ts';

/** Where a list of specs is fetched from. */
export interface HttpOptions {
  readonly name: string;
  /** A function is asked before each request, so that what is secret in it is held no longer than needed. */
  readonly url: string | (() => MaybePromise<string>);
  readonly headers?: FetchHeaders | (() => MaybePromise<FetchHeaders>);
  /** How often the list is fetched again; default 60 s. */
  readonly refreshMs?: number | undefined;
  /** How long a request may take; default 8 s. */
  readonly timeoutMs?: number | undefined;
  /** Default 5 MB; of YAML never more than 1 MB. */
  readonly maxBytes?: number;
  /** Which private hosts may be reached; default: the one of `url` itself, but no redirect. */
  readonly allowPrivate?: AllowPrivate;
  readonly trust?: boolean;
  readonly bundle?: string | false;
  /** Default: `http` alone. */
  readonly kinds?: readonly string[];
  /** Looks at secrets in how tools run. */
  readonly readRunText?: ReadRunText;
  /** Where the last list is kept for a start at which it cannot be fetched. */
  readonly kept?: KeptListPort;
}

const KEYS = [
  ...(['name', 'url', 'headers', 'refreshMs', 'timeoutMs', 'maxBytes'] as const),
  ...(['allowPrivate', 'trust', 'bundle', 'kinds', 'readRunText', 'kept'] as const),
] as const;

type HttpEntry = OwnEntry<HttpSourceConfig>;

/** A list of specs at an address. Secrets of the address and the headers are filled in for each request, for the host of the address and no other. */
export const httpSource: SourceRecord<HttpEntry> = {
  key: 'http',
  description: 'Specs at an address.',
  properties: {
    http: address('The address of a list of specs.', { use: 'secretUrl' }),
    headers: headersNode,
    secrets: grantedSecrets,
    initTimeoutMs,
    refreshMs,
  },
  bringsAnyKind: true,
  namesSecrets: true,
  hostsOf: (entry) => hostNamesOf(entry.http),
  make(name, { http: url, headers = {}, secrets: granted, ...entry }, { secrets, kept, readRemoteText }) {
    const fill = (text: SecretText) => secrets.fill(text, { host: hostOf(url) });
    const filled = async () => {
      const texts = Object.entries(headers).map(async ([key, text]) => [key, await fill(text)] as const);
      return Object.fromEntries(await Promise.all(texts));
    };
    return http({
      name,
      url: typeof url === 'string' ? url : () => fill(url),
      headers: filled,
      readRunText: readRemoteText(name, granted),
      kept: kept(name, url),
      refreshMs: entry.refreshMs,
      timeoutMs: entry.initTimeoutMs,
    });
  },
};

/** The source of a list of specs at an address. A list that cannot be fetched any more stays as it was. */
export function http(given: HttpOptions): Source {
  const { trust, bundle, kinds = ['http'], ...settings } = readOptions<HttpOptions>(given, KEYS, 'http()');
  const { name, url } = settings;
  if (typeof url !== 'function' && !isWebAddress(url))
    throw new ToolcribError('invalid_option', `http(): url is an http or https address, not ${describe(url)}.`);
  return {
    name,
    kinds,
    ...defined({ trust, bundle }),
    ...(settings.timeoutMs !== undefined && { startTimeoutMs: settings.timeoutMs + 2000 }), // it says better itself what took so long
    start: (context) => startHttp(settings, context),
  };
}

async function startHttp(settings: HttpOptions, context: SourceContext): Promise<LiveSource> {
  const { name, refreshMs: everyMs = 60_000 } = settings;
  const listing = createListing();
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const told = createWarnOnce((trouble) => context.warn(`${name}: ${trouble}`));
  const kept = createKeptList(settings.kept, { clock: context.clock, warn: told.tell });
  const update = oneAtATime(createUpdate({ address: addressOf(settings), listing, kept, told, signal }));

  await update();
  const stop = repeat(everyMs, update);
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
      await kept.written();
    },
  };
}

interface UpdateParts {
  readonly address: ListAddress;
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
  readonly signal: AbortSignal;
}

const FROM_BEFORE = 'The tools of its last list are shown and cannot be called.';

/** Fetches the list and shows it. Until one has come, the last list that is kept stands in for it. */
function createUpdate({ address, listing, kept, told, signal }: UpdateParts): () => Promise<void> {
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
      // Whatever it is, an address or header that cannot be made too: the last list stays.
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

function addressOf({ name, url, headers = {}, ...rest }: HttpOptions): ListAddress {
  const { timeoutMs = 8000, maxBytes = MAX_LIST_BYTES, allowPrivate = 'first', readRunText } = rest;
  return { source: name, url, headers, timeoutMs, maxBytes, allowPrivate, readRunText };
}

function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
