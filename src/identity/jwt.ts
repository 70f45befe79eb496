import type { Clock } from '../core/ports/crib-context.ts';
import { messageOf } from '../core/tool-error.ts';
import { hashOf } from '../system/secrets/redact.ts';
import { createIssuerKeys, type IssuerAddress, type KeyGroup } from './issuer-keys.ts';
import { JWT_ALGORITHMS } from './roles.ts';

/** Options for verifying tokens of one issuer. */
export interface JwtOptions extends IssuerAddress, ClaimNames {
  /** Accepted audiences; if absent, any audience is accepted. */
  readonly audience?: readonly string[] | undefined;
  readonly algorithms?: readonly string[] | undefined;
  /** Tolerance for the issuer's clock. */
  readonly clockToleranceMs?: number | undefined;
}

/** A monotonic clock for caching, and a calendar clock for the times in tokens. */
export interface JwtClocks {
  readonly steady: Pick<Clock, 'now'>;
  readonly calendar: Pick<Clock, 'now'>;
}

/** Returns the holder of a token, or the reason for refusing it. Rejects if the keys of the issuer cannot be fetched. */
export type VerifyJwt = (token: string) => Promise<TokenHolder | string>;

interface Verified {
  readonly holder: TokenHolder;
  readonly kid: string | undefined;
  readonly group: KeyGroup;
}

const MAX_TOKENS = 5_000;
/** Maximum cache time of a verified token. */
const MAX_CACHE_MS = 600_000;
const MAX_KID_LENGTH = 256;

/** Creates a verifier for one issuer. Verified tokens are cached by hash until they expire or their key changes. */
export function createJwtVerifier(options: JwtOptions, { steady, calendar }: JwtClocks): VerifyJwt {
  const issuerKeys = createIssuerKeys(options, steady);
  const tokens = createTokenCache<Verified>(MAX_TOKENS);
  const keyFinders = new WeakMap<KeyGroup, KeyFinder>();
  const finderOf = async (group: KeyGroup): Promise<KeyFinder> => {
    const known = keyFinders.get(group);
    if (known !== undefined) return known;
    const { createLocalJWKSet } = await import('jose');
    const finder = createLocalJWKSet({ keys: [...group.keys] });
    keyFinders.set(group, finder);
    return finder;
  };

  return async (token) => {
    const hash = hashOf(token);
    const known = tokens.get(hash, calendar.now());
    if (known !== undefined) {
      if ((await issuerKeys.current()).groupOf(known.kid) === known.group) return known.holder;
      tokens.forget(hash);
    }
    const claimed = await readUnverified(token, options);
    if (typeof claimed === 'string') return claimed;
    const { kid } = claimed;
    const group = (await issuerKeys.current()).groupOf(kid) ?? (await issuerKeys.renewed()).groupOf(kid);
    if (group === undefined) return 'its key does not belong to the issuer';
    const verified = await verify(token, await finderOf(group), { ...options, now: calendar.now() });
    if (typeof verified === 'string') return verified;
    tokens.set(hash, { holder: verified.holder, kid, group }, Math.min(verified.until, calendar.now() + MAX_CACHE_MS));
    return verified.holder;
  };
}

type KeyFinder = ReturnType<typeof import('jose')['createLocalJWKSet']>;

/** Checks what needs no key, so that only tokens that name the issuer cause a fetch. */
async function readUnverified(
  token: string,
  { issuer, algorithms = JWT_ALGORITHMS }: JwtOptions,
): Promise<{ readonly kid: string | undefined } | string> {
  if (!isCanonical(token)) return 'it is not a well-formed token';
  const { decodeJwt, decodeProtectedHeader, errors } = await import('jose');
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (!algorithms.some((allowed) => allowed === alg)) return 'its algorithm is not allowed';
    if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID_LENGTH))
      return 'its key id is not a valid text';
    if (decodeJwt(token).iss !== issuer) return 'it is from another issuer';
    return { kid };
  } catch (cause) {
    if (cause instanceof TypeError || cause instanceof errors.JOSEError) return messageOf(cause);
    throw cause;
  }
}

/** True if the token has its only valid encoding: bits that decoding drops must not vary. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

async function verify(
  token: string,
  finder: KeyFinder,
  options: JwtOptions & { readonly now: number },
): Promise<{ readonly holder: TokenHolder; readonly until: number } | string> {
  const { jwtVerify } = await import('jose');
  const { issuer, audience, algorithms = JWT_ALGORITHMS, clockToleranceMs = 0, now } = options;
  try {
    const { payload } = await jwtVerify(token, finder, {
      issuer,
      ...(audience !== undefined && { audience: [...audience] }),
      algorithms: [...algorithms],
      clockTolerance: clockToleranceMs / 1000,
      currentDate: new Date(now),
      requiredClaims: ['exp', 'sub'],
    });
    const until = Number(payload.exp) * 1000 + clockToleranceMs;
    if (!Number.isFinite(until)) return 'its expiry is not a valid time';
    const holder = readClaims(payload, options);
    return typeof holder === 'string' ? holder : { holder, until };
  } catch (cause) {
    return messageOf(cause); // any failure caused by the token or a published key refuses the token
  }
}

/** The identity in a token. */
interface TokenHolder {
  readonly id: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** Names of the claims; a dotted path leads into objects. */
interface ClaimNames {
  readonly rolesClaim?: string | undefined;
  readonly permissionsClaim?: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

const ROLES = 'roles';
const PERMISSIONS = ['permissions', 'scope', 'scp'];
const MAX_ID_LENGTH = 256;

/** Reads the claims of a verified token, or returns the reason for refusing it. An unreadable list refuses the token, because a deny clause may depend on it. */
function readClaims(claims: Claims, { rolesClaim = ROLES, permissionsClaim }: ClaimNames): TokenHolder | string {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_ID_LENGTH || /\p{Cc}/u.test(sub))
    return 'its subject is not a valid text';
  if (!sub.isWellFormed()) return 'its subject is not a valid text';
  const roles = namesOf(claims, rolesClaim);
  if (roles === undefined) return `its claim "${rolesClaim}" is not a list of names`;
  const permissions = new Set<string>();
  for (const claim of permissionsClaim === undefined ? PERMISSIONS : [permissionsClaim]) {
    const names = namesOf(claims, claim);
    if (names === undefined) return `its claim "${claim}" is not a list of names`;
    for (const text of names) for (const name of text.split(/\s+/)) if (name !== '') permissions.add(name);
  }
  return { id: sub, roles: [...new Set(roles)], permissions: [...permissions] };
}

/** The names in a claim: empty if absent, undefined if invalid. */
function namesOf(claims: Claims, claim: string): readonly string[] | undefined {
  const value = valueAt(claims, claim);
  if (value === undefined || value === null) return [];
  const list: unknown = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.every((name) => typeof name === 'string') ? list : undefined;
}

// A claim name may contain dots: "https://example.com/roles".
function valueAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim.split('.').reduce<unknown>(memberOf, claims);
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Claims)[key]; // an own key
}

/** A bounded cache of verified tokens, by hash. */
interface TokenCache<Value> {
  /** The cached value until it expires. */
  get(hash: string, now: number): Value | undefined;
  set(hash: string, value: Value, until: number): void;
  forget(hash: string): void;
}

/** Creates a cache that drops the oldest entry when it is full. */
export function createTokenCache<Value>(maxEntries: number): TokenCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();
  return {
    get(hash, now) {
      const entry = entries.get(hash);
      if (entry === undefined) return undefined;
      if (now < entry.until) return entry.value;
      entries.delete(hash);
      return undefined;
    },
    set(hash, value, until) {
      entries.delete(hash);
      const oldest = entries.size >= maxEntries ? entries.keys().next() : undefined;
      if (oldest?.done === false) entries.delete(oldest.value);
      entries.set(hash, { value, until });
    },
    forget: (hash) => void entries.delete(hash),
  };
}
