import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { guardedFetch } from '../system/fetch/guarded-fetch.ts';

/** Where the keys of an issuer are. */
export interface IssuerAddress {
  readonly issuer: string;
  /** If absent, the issuer says where. */
  readonly jwks?: string | undefined;
  /** For each answer; default 5 s. */
  readonly timeoutMs?: number | undefined;
}

/** A public key as it is published. */
export type PublishedKey = Readonly<Record<string, unknown>> & { readonly kty: string; readonly kid?: string };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_000_000;
const MAX_REDIRECTS = 3;
const MAX_KEYS = 1_000;

/** The kinds of keys that come in pairs: with a shared one, whoever checks tokens could make them. */
const ASYMMETRIC = ['RSA', 'EC', 'OKP'];

/** The keys that an issuer publishes for signatures. Throws for an answer that is none. */
export async function fetchKeys(address: IssuerAddress): Promise<readonly PublishedKey[]> {
  const { issuer, jwks } = address;
  const url = jwks === undefined ? await discover(address) : new URL(jwks);
  const isConfigured = jwks !== undefined || url.origin === new URL(issuer).origin;
  const { keys } = await fetchObject(url, { ...address, mayBePrivate: isConfigured });
  if (!Array.isArray(keys)) throw wrong(url, 'with no list of keys');
  if (keys.length > MAX_KEYS) throw wrong(url, `with ${keys.length} keys; at most ${MAX_KEYS} are taken`);
  return keys.filter(isUsable);
}

async function discover(address: IssuerAddress): Promise<URL> {
  const { issuer } = address;
  const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const found = await fetchObject(url, { ...address, mayBePrivate: true });
  if (found.issuer !== issuer) throw wrong(url, 'for another issuer');
  const { jwks_uri: keysAt } = found;
  if (typeof keysAt !== 'string' || !URL.canParse(keysAt)) throw wrong(url, 'without jwks_uri');
  const keysUrl = new URL(keysAt);
  if (isDowngrade(url, keysUrl)) throw wrong(url, 'with a jwks_uri that is not https');
  return keysUrl;
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
  if (isDowngrade(url, response.url)) throw wrong(url, 'with a redirect to what is not https');
  if (response.status !== 200) throw wrong(url, `with status ${response.status}`);
  const value = parse(response.bytes, url);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw wrong(url, 'with something else than an object');
}

function parse(bytes: Buffer, url: URL): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw wrong(url, `with what is no JSON: ${messageOf(cause).slice(0, 100)}`, cause);
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
  return new ToolcribError('issuer_unavailable', `${url.host} answers ${how}.`, { cause });
}
