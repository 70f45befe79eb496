import type { Clock } from '../core/ports/crib-context.ts';
import { messageOf } from '../core/tool-error.ts';
import { hashOf } from '../system/secrets/redact.ts';
import { createIssuerKeys, type IssuerAddress, type KeyGroup } from './issuer-keys.ts';
import { JWT_ALGORITHMS } from './roles.ts';

/** Whose tokens are accepted, and what they must say. */
export interface JwtOptions extends IssuerAddress, ClaimNames {
  /** Any of these; absent means tokens for anybody. */
  readonly audience?: readonly string[] | undefined;
  readonly algorithms?: readonly string[] | undefined;
  /** How far the issuer's clock may be off. */
  readonly clockToleranceMs?: number | undefined;
}

/** The two times: a steady one for what is kept, and that of the calendar for what tokens say. */
export interface JwtClocks {
  readonly steady: Pick<Clock, 'now'>;
  readonly calendar: Pick<Clock, 'now'>;
}

/** Who has a token, or in words why it is refused. Rejects where the keys of the issuer cannot be had. */
export type VerifyJwt = (token: string) => Promise<TokenHolder | string>;

interface Verified {
  readonly holder: TokenHolder;
  readonly kid: string | undefined;
  readonly group: KeyGroup;
}

const MAX_TOKENS = 5_000;
/** A token is verified again after this, whatever it says. */
const MAX_CACHE_MS = 600_000;
const MAX_KID_LENGTH = 256;

/** Verifies tokens of one issuer. A token that was verified is known by its hash until it expires or its key changes. */
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
    if (group === undefined) return 'its key is not one of the issuer';
    const verified = await verify(token, await finderOf(group), { ...options, now: calendar.now() });
    if (typeof verified === 'string') return verified;
    tokens.set(hash, { holder: verified.holder, kid, group }, Math.min(verified.until, calendar.now() + MAX_CACHE_MS));
    return verified.holder;
  };
}

type KeyFinder = ReturnType<typeof import('jose')['createLocalJWKSet']>;

/** Looks at what can be refused without a key, so that only tokens that claim to be of the issuer make us fetch anything. */
async function readUnverified(
  token: string,
  { issuer, algorithms = JWT_ALGORITHMS }: JwtOptions,
): Promise<{ readonly kid: string | undefined } | string> {
  if (!isCanonical(token)) return 'it is not written as a token is';
  const { decodeJwt, decodeProtectedHeader, errors } = await import('jose');
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (!algorithms.some((allowed) => allowed === alg)) return 'its algorithm is not allowed';
    if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID_LENGTH)) return 'its key id is no text';
    if (decodeJwt(token).iss !== issuer) return 'it is of another issuer';
    return { kid };
  } catch (cause) {
    if (cause instanceof TypeError || cause instanceof errors.JOSEError) return messageOf(cause);
    throw cause;
  }
}

/** Only one text stands for a token: bits that decoding would drop are not free to change. */
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
    if (!Number.isFinite(until)) return 'it expires at no time';
    const holder = readClaims(payload, options);
    return typeof holder === 'string' ? holder : { holder, until };
  } catch (cause) {
    return messageOf(cause); // whatever a token or a published key makes go wrong refuses the token
  }
}

/** What a token says about who has it. */
interface TokenHolder {
  readonly id: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** Which claims say it; a dotted path leads into objects. */
interface ClaimNames {
  readonly rolesClaim?: string | undefined;
  readonly permissionsClaim?: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

const ROLES = 'roles';
const PERMISSIONS = ['permissions', 'scope', 'scp'];
const MAX_ID_LENGTH = 256;

/** Reads a verified token, or says in words what is the matter with it. A list that cannot be read refuses: a deny clause may have been meant. */
function readClaims(claims: Claims, { rolesClaim = ROLES, permissionsClaim }: ClaimNames): TokenHolder | string {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_ID_LENGTH || /\p{Cc}/u.test(sub))
    return 'its subject is no usable text';
  if (!sub.isWellFormed()) return 'its subject is no usable text';
  const roles = namesOf(claims, rolesClaim);
  if (roles === undefined) return `its claim "${rolesClaim}" is no list of names`;
  const permissions = new Set<string>();
  for (const claim of permissionsClaim === undefined ? PERMISSIONS : [permissionsClaim]) {
    const names = namesOf(claims, claim);
    if (names === undefined) return `its claim "${claim}" is no list of names`;
    for (const text of names) for (const name of text.split(/\s+/)) if (name !== '') permissions.add(name);
  }
  return { id: sub, roles: [...new Set(roles)], permissions: [...permissions] };
}

/** The names under a claim: none if it is absent, undefined if it is something else. */
function namesOf(claims: Claims, claim: string): readonly string[] | undefined {
  const value = valueAt(claims, claim);
  if (value === undefined || value === null) return [];
  const list: unknown = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.every((name) => typeof name === 'string') ? list : undefined;
}

// A claim may have dots in its very name: "https://example.com/roles".
function valueAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim.split('.').reduce<unknown>(memberOf, claims);
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Claims)[key]; // an own key
}

/** A bounded memory of what was found out about tokens, by the hash of each. */
interface TokenCache<Value> {
  /** What was found out, while it holds. */
  get(hash: string, now: number): Value | undefined;
  set(hash: string, value: Value, until: number): void;
  forget(hash: string): void;
}

/** Forgets the oldest when it is full. */
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
