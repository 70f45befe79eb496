import {
  grantedSecrets,
  headersNode,
  initTimeoutMs,
  type OwnEntry,
  refreshMs,
  type SourceRecord,
} from '../config/records.ts';
import { address } from '../config/schema-node.ts';
import type { HttpSourceConfig } from '../config/types/sources.ts';
import type { MaybePromise } from '../core/json.ts';
import type { ReadRunText } from '../core/ports/extension-ports.ts';
import type { KeptListPort } from '../core/ports/store.ts';
import { defined, describe, readOptions } from '../core/read-options.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type FetchHeaders, FIRST_FETCH_MS, followList, type ListAddress } from '../specs/fetched-list.ts';
import { createKeptList, createListing, createWarnOnce } from '../specs/spec-listing.ts';
import { oneAtATime, repeat } from '../system/clock.ts';
import type { AllowPrivate } from '../system/fetch/guarded-fetch.ts';
import { fillAll, hostNamesOf, hostOf, type SecretText } from '../system/secrets/secret-template.ts';

/** Options for `http()`. The default for `kinds` is `http` only. */
export interface HttpOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** A function is called before each request, so that secrets in the address are not held longer than needed. */
  readonly url: string | (() => MaybePromise<string>);
  readonly headers?: FetchHeaders | (() => MaybePromise<FetchHeaders>);
  /** Fetch interval; default 60 s. */
  readonly refreshMs?: number | undefined;
  /** Timeout of one request; default 60 s, or 8 s if an earlier list is known. */
  readonly timeoutMs?: number | undefined;
  /** Size limit of a list; default 5 MB, for YAML always at most 1 MB. */
  readonly maxBytes?: number;
  /** Private hosts that may be reached; default: the host of `url`, but not by a redirect. */
  readonly allowPrivate?: AllowPrivate;
  /** Checks the secrets in runs. */
  readonly readRunText?: ReadRunText;
  /** Keeps the last list, for a start at which the address is unreachable. */
  readonly kept?: KeptListPort;
}

const KEYS = [
  ...(['name', 'url', 'headers', 'refreshMs', 'timeoutMs', 'maxBytes'] as const),
  ...(['allowPrivate', 'trust', 'bundle', 'kinds', 'readRunText', 'kept'] as const),
] as const;

type HttpEntry = OwnEntry<HttpSourceConfig>;

/** The configuration entry for a list of specs at an address. Secrets in the address and the headers are filled in per request, for the host of the address only. */
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
    return http({
      name,
      url: typeof url === 'string' ? url : () => fill(url),
      headers: () => fillAll(headers, fill),
      readRunText: readRemoteText(name, granted),
      kept: kept(name, url),
      refreshMs: entry.refreshMs,
      timeoutMs: entry.initTimeoutMs,
    });
  },
};

/** Creates the source of a list of specs at an address. If a fetch fails, the last list stays. */
export function http(given: HttpOptions): Source {
  const { trust, bundle, kinds = ['http'], ...settings } = readOptions<HttpOptions>(given, KEYS, 'http()');
  const { name, url } = settings;
  if (typeof url !== 'function' && !isWebAddress(url))
    throw new ToolcribError('invalid_option', `http(): url must be an http or https address, got ${describe(url)}.`);
  return {
    name,
    kinds,
    ...defined({ trust, bundle }),
    startTimeoutMs: (settings.timeoutMs ?? FIRST_FETCH_MS) + 2000, // later than its own timeout, which gives a better reason
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
  const update = oneAtATime(followList(addressOf(settings), { listing, kept, told, signal }));

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

function addressOf({ name, url, headers = {}, ...rest }: HttpOptions): ListAddress {
  const { timeoutMs, maxBytes, allowPrivate = 'first', readRunText } = rest;
  return { source: name, url, headers, timeoutMs, maxBytes, allowPrivate, readRunText };
}

function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
