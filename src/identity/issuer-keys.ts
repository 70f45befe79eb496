import { canonicalJson } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { guardedFetch } from '../system/fetch/guarded-fetch.ts';

/** Keys with the same id, or all keys for tokens without a key id. The object stays the same while the keys do. */
export interface KeyGroup {
  readonly keys: readonly PublishedKey[];
  readonly text: string;
}

/** The keys of an issuer at one moment. */
interface KeySet {
  groupOf(kid: string | undefined): KeyGroup | undefined;
}

/** The keys of an issuer, fetched lazily and cached. */
export interface IssuerKeys {
  /** Cached keys of the last minutes; if the issuer is unavailable, of the last hour. Rejects without any. */
  current(): Promise<KeySet>;
  /** Freshly fetched keys, because one is missing; cached keys if the fetch limit is reached. */
  renewed(): Promise<KeySet>;
}

/** Lifetime of cached keys; a withdrawn key is accepted this long. */
const FRESH_MS = 600_000;
/** Lifetime of cached keys while the issuer is unavailable. */
const STALE_MS = 3_600_000;
/** Limit of fetches per period, so that invented key ids do not flood the issuer. */
const MAX_FETCHES = 5;
const PER_MS = 150_000;
/** Pause after a failed fetch. */
const RETRY_MS = 5_000;

/** Creates the key cache. It fetches nothing before the first token. */
export function createIssuerKeys(address: IssuerAddress, clock: Pick<Clock, 'now'>): IssuerKeys {
  let held: { readonly set: HeldSet; readonly at: number } | undefined;
  let failed: { readonly at: number; readonly cause: unknown } | undefined;
  let fetchedAt: readonly number[] = [];
  let underWay: Promise<void> | undefined;
  const isWithin = (at: number | undefined, ms: number): boolean => {
    const age = at === undefined ? -1 : clock.now() - at;
    return age >= 0 && age < ms; // if the clock runs backwards, nothing counts as fresh
  };
  const fetchOnce = async (): Promise<void> => {
    try {
      held = { set: toKeySet(await fetchKeys(address), held?.set), at: clock.now() };
      fetchedAt = [...fetchedAt, held.at];
      failed = undefined;
    } catch (cause) {
      failed = { at: clock.now(), cause };
    } finally {
      underWay = undefined;
    }
  };
  const renew = async (): Promise<void> => {
    fetchedAt = fetchedAt.filter((at) => isWithin(at, PER_MS));
    const mustWait = fetchedAt.length >= MAX_FETCHES || isWithin(failed?.at, RETRY_MS);
    if (underWay === undefined && mustWait) return;
    underWay ??= fetchOnce();
    await underWay;
  };
  return {
    async current() {
      if (!isWithin(held?.at, FRESH_MS)) await renew();
      if (held !== undefined && isWithin(held.at, STALE_MS)) return held.set;
      throw unavailable(address.issuer, failed?.cause);
    },
    async renewed() {
      await renew();
      if (held === undefined || failed !== undefined) throw unavailable(address.issuer, failed?.cause);
      return held.set;
    },
  };
}

interface HeldSet extends KeySet {
  readonly groups: ReadonlyMap<string | undefined, KeyGroup>;
}

function toKeySet(keys: readonly PublishedKey[], before: HeldSet | undefined): HeldSet {
  const byId: Map<string | undefined, readonly PublishedKey[]> = Map.groupBy(keys, (key) => key.kid);
  byId.set(undefined, keys);
  const groups = new Map(
    Array.from(byId, ([kid, members]) => {
      const text = canonicalJson(members);
      const known = before?.groups.get(kid);
      return [kid, known?.text === text ? known : { keys: members, text }];
    }),
  );
  return { groups, groupOf: (kid) => groups.get(kid) };
}

function unavailable(issuer: string, cause: unknown): ToolcribError {
  return new ToolcribError('issuer_unavailable', `The keys of ${issuer} could not be fetched: ${messageOf(cause)}`, {
    cause,
  });
}

/** Address of the keys of an issuer. */
export interface IssuerAddress {
  readonly issuer: string;
  /** If absent, it is discovered from the issuer. */
  readonly jwks?: string | undefined;
  /** Timeout per response; default 5 s. */
  readonly timeoutMs?: number | undefined;
}

/** A public key as published. */
type PublishedKey = Readonly<Record<string, unknown>> & { readonly kty: string; readonly kid?: string };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_000_000;
const MAX_REDIRECTS = 3;
const MAX_KEYS = 1_000;

/** Asymmetric key types only: with a shared key, every verifier could create tokens. */
const ASYMMETRIC = ['RSA', 'EC', 'OKP'];

/** Fetches the signature keys of an issuer. Throws for an invalid response. */
async function fetchKeys(address: IssuerAddress): Promise<readonly PublishedKey[]> {
  const { issuer, jwks } = address;
  const url = jwks === undefined ? await discover(address) : new URL(jwks);
  const isConfigured = jwks !== undefined || url.origin === new URL(issuer).origin;
  const { keys } = await fetchObject(url, { ...address, mayBePrivate: isConfigured });
  if (!Array.isArray(keys)) throw wrong(url, 'without a list of keys');
  if (keys.length > MAX_KEYS) throw wrong(url, `with ${keys.length} keys; at most ${MAX_KEYS} are allowed`);
  return keys.filter(isUsable);
}

async function discover(address: IssuerAddress): Promise<URL> {
  return endpointIn(await discoverIssuer(address), 'jwks_uri', address.issuer);
}

/** Fetches the description of an issuer. Throws if it is of another issuer. */
export async function discoverIssuer(
  address: Pick<IssuerAddress, 'issuer' | 'timeoutMs'>,
): Promise<Readonly<Record<string, unknown>>> {
  const url = wellKnown(address.issuer);
  const found = await fetchObject(url, { timeoutMs: address.timeoutMs, mayBePrivate: true });
  if (found.issuer !== address.issuer) throw wrong(url, 'for another issuer');
  return found;
}

/** An address in the description of an issuer. Throws if it is missing, or less protected than the issuer. */
export function endpointIn(found: Readonly<Record<string, unknown>>, name: string, issuer: string): URL {
  const url = wellKnown(issuer);
  const at = found[name];
  if (typeof at !== 'string' || !URL.canParse(at)) throw wrong(url, `without ${name}`);
  const endpoint = new URL(at);
  if (isDowngrade(url, endpoint)) throw wrong(url, `with a ${name} that is not https`);
  return endpoint;
}

function wellKnown(issuer: string): URL {
  return new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
}

interface FetchOptions {
  readonly timeoutMs?: number | undefined;
  readonly mayBePrivate: boolean;
}

async function fetchObject(url: URL, options: FetchOptions): Promise<Readonly<Record<string, unknown>>> {
  const { timeoutMs = TIMEOUT_MS, mayBePrivate } = options;
  const response = await guardedFetch(url, {
    headers: { accept: 'application/json' },
    maxBytes: MAX_BYTES,
    maxRedirects: MAX_REDIRECTS,
    timeoutMs,
    headerTimeoutMs: timeoutMs,
    ...(mayBePrivate && { allowPrivate: 'first' }),
  });
  if (isDowngrade(url, response.url)) throw wrong(url, 'with a redirect to an address that is not https');
  if (response.status !== 200) throw wrong(url, `with status ${response.status}`);
  const value = parse(response.bytes, url);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw wrong(url, 'with JSON that is not an object');
}

function parse(bytes: Buffer, url: URL): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw wrong(url, `with invalid JSON: ${messageOf(cause).slice(0, 100)}`, cause);
  }
}

function isUsable(key: unknown): key is PublishedKey {
  if (typeof key !== 'object' || key === null || !('kty' in key) || !ASYMMETRIC.includes(String(key.kty))) return false;
  return !('kid' in key) || typeof key.kid === 'string';
}

function isDowngrade(from: URL, to: URL): boolean {
  return from.protocol === 'https:' && to.protocol !== 'https:';
}

function wrong(url: URL, how: string, cause?: unknown): ToolcribError {
  return new ToolcribError('issuer_unavailable', `${url.host} answered ${how}.`, { cause });
}
