import { dirname, resolve } from 'node:path';
import type { MaybePromise } from '../../../core/json.ts';
import type { KeptListPort } from '../../../core/ports/store.ts';
import { describe } from '../../../core/read-options.ts';
import type { LiveSource, Source, SourceContext } from '../../../core/source.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { FetchHeaders } from '../../../specs/fetched-list.ts';
import { createKeptList } from '../../../specs/kept-list.ts';
import { createListing } from '../../../specs/spec-listing.ts';
import { createWarnOnce } from '../../../specs/warn-once.ts';
import type { AllowPrivate } from '../../../system/fetch/guarded-fetch.ts';
import { oneAtATime } from '../../../system/one-at-a-time.ts';
import { repeat } from '../../../system/repeat.ts';
import { createFolderWatch } from '../../../system/watch.ts';
import { createFollowing } from './follow-description.ts';
import type { DescriptionPlace } from './load-description.ts';
import { chooseSpecs } from './operations.ts';
import type { ApiSettings } from './reading.ts';

/** An API whose operations are tools. */
export interface OpenApiOptions {
  readonly name: string;
  /** An OpenAPI description: a file, or an address of http or https. */
  readonly description: string;
  readonly settings?: Partial<Omit<ApiSettings, 'source'>>;
  /** Sent with each request for the description; asked for before it. */
  readonly headers?: () => MaybePromise<FetchHeaders>;
  /** How often a description at an address is fetched again; default 5 minutes. */
  readonly refreshMs?: number | undefined;
  /** How long a request for it may take; default 8 s. */
  readonly timeoutMs?: number | undefined;
  /** Which private hosts it may be fetched from; default: the one of the address itself, but no redirect. */
  readonly allowPrivate?: AllowPrivate;
  /** Default: true for a file, since what lies here was put here. */
  readonly trust?: boolean;
  /** Whether edits of a file are noticed as they happen; true if absent. */
  readonly watch?: boolean;
  /** Where a description that was fetched is kept for a start at which it cannot be. */
  readonly kept?: KeptListPort;
}

/** The source of the operations of an API. A description that cannot be read any more leaves its tools as they were. */
export function openapi(options: OpenApiOptions): Source {
  const { name, description, timeoutMs = 8000 } = options;
  if (typeof description !== 'string' || description === '')
    throw new ToolcribError(
      'invalid_option',
      `openapi(): description is a file or an address, not ${describe(description)}.`,
    );
  const isRemote = /^https?:\/\//i.test(description);
  return {
    name,
    kinds: ['http'],
    trust: options.trust ?? !isRemote,
    startTimeoutMs: timeoutMs + 5000, // it says better itself what took so long
    adjust: (specs) => chooseSpecs(specs, { ...options.settings }),
    start: (context) => startOpenApi({ ...options, timeoutMs }, isRemote, context),
  };
}

type Started = OpenApiOptions & { readonly timeoutMs: number };

async function startOpenApi(options: Started, isRemote: boolean, context: SourceContext): Promise<LiveSource> {
  const { name, description, refreshMs = 300_000, watch = true } = options;
  const listing = createListing();
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const told = createWarnOnce((trouble) => context.warn(`${name}: ${trouble}`));
  const kept = createKeptList(isRemote ? options.kept : undefined, { clock: context.clock, warn: told.tell });
  const place = placeOf(options, isRemote);
  const settings = { ...NO_SETTINGS, ...options.settings, source: name };
  const update = oneAtATime(createFollowing({ place, settings, listing, kept, told, signal }));
  const onEdit = () => void update();
  const edits = isRemote || !watch ? undefined : createFolderWatch({ onChange: onEdit, warn: told.tell });
  edits?.listen(dirname(resolve(description)));

  await update();
  const stop = isRemote ? repeat(refreshMs, update) : () => {};
  const { specs, onChange, status } = listing;
  return {
    specs,
    onChange,
    status,
    refresh: update,
    async close() {
      stop();
      edits?.close();
      closing.abort();
      listing.close();
      await kept.written();
    },
  };
}

const NO_SETTINGS: Omit<ApiSettings, 'source'> = {
  headers: {},
  auth: {},
  secretNames: new Set(),
  staysOnHost: false,
  outputSchemas: false,
};

function placeOf(
  { description, headers, timeoutMs, allowPrivate = 'first' }: Started,
  isRemote: boolean,
): DescriptionPlace {
  return isRemote ? { url: description, headers, timeoutMs, allowPrivate } : { file: resolve(description) };
}
