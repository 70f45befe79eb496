import { dirname, resolve } from 'node:path';
import type { SourcePorts } from '../../../config/records.ts';
import type { OpenApiAuth, SourceSettings } from '../../../config/types/sources.ts';
import type { MaybePromise } from '../../../core/json.ts';
import type { KeptListPort } from '../../../core/ports/store.ts';
import { describe } from '../../../core/read-options.ts';
import type { LiveSource, Source, SourceContext } from '../../../core/source.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { listOf } from '../../../core/visible-text.ts';
import { type FetchHeaders, FIRST_FETCH_MS } from '../../../specs/fetched-list.ts';
import { createKeptList, createListing, createWarnOnce } from '../../../specs/spec-listing.ts';
import { oneAtATime, repeat } from '../../../system/clock.ts';
import type { AllowPrivate } from '../../../system/fetch/guarded-fetch.ts';
import { type SecretText, secretsIn } from '../../../system/secrets/secret-template.ts';
import type { Secrets } from '../../../system/secrets/secrets.ts';
import { createFolderWatch, stampOf } from '../../../system/watch.ts';
import type { OpenApiEntry } from '../http-kind.ts';
import { createFollowing } from './follow-description.ts';
import type { DescriptionPlace } from './load-description.ts';
import { chooseSpecs } from './operations.ts';
import type { ApiSettings, AuthSetting } from './reading.ts';

/** Options for a source of API operations. */
export interface OpenApiOptions {
  readonly name: string;
  /** An OpenAPI description: a file or an http(s) URL. */
  readonly description: string;
  readonly settings?: Partial<Omit<ApiSettings, 'source'>>;
  /** Headers for fetching the description; called for each request. */
  readonly headers?: () => MaybePromise<FetchHeaders>;
  /** Interval for fetching a remote description again; default 5 minutes. */
  readonly refreshMs?: number | undefined;
  /** Timeout for fetching it; default 60 s, and 8 s if an earlier description is known. */
  readonly timeoutMs?: number | undefined;
  /** Private hosts it may be fetched from; default: the host of the URL itself, without redirects. */
  readonly allowPrivate?: AllowPrivate;
  /** Default: true for a file, since local files are trusted. */
  readonly trust?: boolean;
  /** True if edits of a file are watched; default true. */
  readonly watch?: boolean;
  /** Cache for a fetched description, used if a later start cannot fetch it. */
  readonly kept?: KeptListPort;
}

/** A source of the operations of an API. If the description can no longer be read, its tools stay as they were. */
export function openapi(options: OpenApiOptions): Source {
  const { name, description } = options;
  if (typeof description !== 'string' || description === '')
    throw new ToolcribError(
      'invalid_option',
      `openapi(): description must be a file or a URL, not ${describe(description)}.`,
    );
  const isRemote = /^https?:\/\//i.test(description);
  return {
    name,
    kinds: ['http'],
    trust: options.trust ?? !isRemote,
    startTimeoutMs: (options.timeoutMs ?? FIRST_FETCH_MS) + 5000, // the source's own timeout has the better message
    adjust: (specs) => chooseSpecs(specs, { ...options.settings }),
    start: (context) => startOpenApi(options, isRemote, context),
  };
}

async function startOpenApi(options: OpenApiOptions, isRemote: boolean, context: SourceContext): Promise<LiveSource> {
  const { name, description, refreshMs = 300_000, watch = true } = options;
  const listing = createListing();
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const told = createWarnOnce((trouble) => context.warn(`${name}: ${trouble}`));
  const kept = createKeptList(isRemote ? options.kept : undefined, { clock: context.clock, warn: told.tell });
  const place = placeOf(options, isRemote);
  const settings = { ...NO_SETTINGS, ...options.settings, source: name };
  const update = oneAtATime(createFollowing({ place, settings, listing, kept, told, signal }));
  const file = resolve(description);
  let stamp = isRemote ? '' : stampOf(file);
  // The folder contains other files, too.
  const onEdit = () => {
    const now = stampOf(file);
    if (now !== stamp) void update();
    stamp = now;
  };
  const edits = isRemote || !watch ? undefined : createFolderWatch({ onChange: onEdit, warn: told.tell });
  edits?.listen(dirname(file));

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
  { description, headers, timeoutMs, allowPrivate = 'first' }: OpenApiOptions,
  isRemote: boolean,
): DescriptionPlace {
  return isRemote ? { url: description, headers, timeoutMs, allowPrivate } : { file: resolve(description) };
}

/** The source of a configured API. Runs keep the names of secrets; each call resolves them. */
export function describedApi(
  name: string,
  entry: OpenApiEntry & SourceSettings,
  { secrets, watch, kept }: Pick<SourcePorts, 'secrets' | 'watch' | 'kept'>,
): Source {
  const { openapi: description, baseUrl, headers = {}, auth = {}, include, exclude, refreshMs, initTimeoutMs } = entry;
  const isRemote = /^https?:/i.test(description);
  const texts = [...Object.values(headers), ...Object.values(auth).flatMap(credentialsOf)];
  return openapi({
    name,
    description,
    settings: {
      baseUrl,
      include: include === undefined ? undefined : listOf(include),
      exclude: listOf(exclude),
      headers: mapValues(headers, (text) => toRunText(text, 'template')),
      auth: mapValues(auth, toSetting),
      secretNames: new Set(secrets.names),
      // A secret is bound to its hosts, whatever the description names; a plain text is not bound to any.
      staysOnHost: isRemote && baseUrl === undefined && texts.some((text) => secretsIn(text).length === 0),
      outputSchemas: entry.outputSchemas ?? false,
    },
    ...(isRemote && { headers: () => headersFor(new URL(description).host, headers, secrets) }),
    refreshMs,
    timeoutMs: initTimeoutMs,
    watch,
    kept: kept(name, description),
  });
}

/** The headers for fetching the description, without those whose secrets are bound to other hosts. */
async function headersFor(host: string, headers: Headers, secrets: Secrets): Promise<Readonly<Record<string, string>>> {
  const filled = Object.entries(headers).map(async ([name, text]) => {
    try {
      return [[name, await secrets.fill(text, { host })] as const];
    } catch (cause) {
      if (cause instanceof ToolcribError && cause.code === 'secret_refused') return [];
      throw cause;
    }
  });
  return Object.fromEntries((await Promise.all(filled)).flat());
}

type Headers = Readonly<Record<string, SecretText>>;

/** The secret texts of an entry under `auth`. */
function credentialsOf(auth: OpenApiAuth): readonly SecretText[] {
  if (typeof auth === 'string' || 'secretTemplate' in auth) return [auth];
  return 'username' in auth ? [auth.password] : [auth.clientSecret];
}

function toSetting(auth: OpenApiAuth): AuthSetting {
  if (typeof auth === 'string' || 'secretTemplate' in auth) return { secret: toRunText(auth, 'plain') };
  if ('username' in auth) {
    return { username: toRunText(auth.username, 'plain'), password: toRunText(auth.password, 'plain') };
  }
  const { clientId, clientSecret, scope, tokenUrl } = auth;
  return { clientId: toRunText(clientId, 'plain'), clientSecret: toRunText(clientSecret, 'plain'), scope, tokenUrl };
}

/** Converts a configured text to a text of a run, escaping braces that would mean arguments. */
function toRunText(text: SecretText, braces: 'template' | 'plain'): string {
  const parts = typeof text === 'string' ? [text] : text.secretTemplate;
  let written = '';
  for (const part of parts) {
    if (typeof part === 'string') written += escapeText(part, braces);
    else if (written.endsWith('$'))
      throw new ToolcribError('invalid_config', 'A "$" right before a secret would escape the secret; remove it.');
    else written += `\${secret:${part.secret}}`;
  }
  return written;
}

function escapeText(text: string, braces: 'template' | 'plain'): string {
  const special = braces === 'template' ? /\$\{|[{}]/g : /\$\{/g;
  return text.replace(special, (found) => (found === '${' ? '$${' : `${found}${found}`));
}

function mapValues<Value, Made>(
  values: Readonly<Record<string, Value>>,
  make: (value: Value) => Made,
): Readonly<Record<string, Made>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));
}
