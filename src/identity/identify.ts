import type { AccessConfig, JwtConfig } from '../config/types/config.ts';
import type { Identity, Recheck } from '../core/caller.ts';
import type { ProfileSet } from '../core/catalog.ts';
import { canonicalJson } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { FoundKey, StoredKeys } from '../core/ports/store.ts';
import { messageOf, type ToolError, toolError } from '../core/tool-error.ts';
import { listOf } from '../core/visible-text.ts';
import { isSameHash } from '../system/secrets/redact.ts';
import { isKeyLike, readKey, stateOf } from './api-keys.ts';
import type { VerifyJwt } from './jwt.ts';
import type { OperatorToken } from './operator-token.ts';
import { grant, grantAll, grantUsual, type Holder, isReservedId, type Recognised } from './roles.ts';
import type { createSignIn, IssuerSignIn } from './sign-in.ts';

/** Options for identifying callers. */
export interface IdentifyOptions {
  /** The current access configuration; undefined means that only this machine has access. */
  access(): AccessConfig | undefined;
  profiles(): ProfileSet;
  readonly keys: StoredKeys | undefined;
  readonly operatorToken: OperatorToken;
  /** Monotonic clock, for caching. */
  readonly steady: Pick<Clock, 'now'>;
  /** Calendar clock, for expiry dates. */
  readonly calendar: Pick<Clock, 'now'>;
  warn(message: string): void;
}

/** Longer credentials are refused without a check. */
const MAX_LENGTH = 16_384;
/** Interval for recording the use of a key. */
const NOTE_EVERY_MS = 60_000;

/** Checks one kind of credential. */
type Recognise = (credential: string, access: AccessConfig) => Promise<Identity>;

/** The only place where a key, token or JWT becomes a caller. The reason for a refusal goes to the log, never to the client. */
export function createIdentify(options: IdentifyOptions): (credential?: string | null) => Promise<Identity> {
  const ofKey = recogniseKeys(options);
  const ofJwt = recogniseTokens(options);
  const recognise = async (credential: string): Promise<Identity> => {
    if (await options.operatorToken.matches(credential)) return grantAll('operator', options.profiles());
    const access = options.access();
    if (access?.keys === true && isKeyLike(credential)) return ofKey(credential, access);
    if (access?.jwt !== undefined && credential.split('.', 4).length === 3) return ofJwt(credential, access);
    return refused('The credential is neither an API key nor a token that this crib accepts.');
  };

  return async (given) => {
    const credential = readCredential(given);
    if (credential === undefined) {
      return options.access() === undefined ? grantUsual('local', options.profiles()) : NEEDED;
    }
    if (credential === '') return refused('The credential is not a text, or is too long.');
    try {
      return await recognise(credential);
    } catch (cause) {
      options.warn(messageOf(cause)); // a failure of the store, the issuer or the operator token: fail closed
      return { ok: false, error: unavailable(cause) };
    }
  };
}

function recogniseKeys(options: IdentifyOptions): Recognise {
  const { keys, calendar } = options;
  const noteUse = createUseNotes(options);
  const find = keys === undefined ? undefined : readTogether(keys);
  return async (credential, access) => {
    const parts = readKey(credential);
    if (parts === undefined) return refused('The API key has a typo: its form or checksum is wrong.');
    const key = await find?.(parts.id);
    if (key === undefined || !isSameHash(key.hash, parts.hash)) {
      return refused(`No API key ${parts.id} with this secret was found.`);
    }
    const now = calendar.now();
    const state = stateOf(key, now);
    if (state !== 'active') return refused(`The API key ${key.id} ("${key.name}") is ${state}.`);
    noteUse(key, now);
    return grant(holderOf(key), access, options.profiles());
  };
}

/**
 * Reads a key once for all requests that bring it in one turn of the event loop. The read begins after the last of them
 * has arrived, so a revocation by any process takes effect at once.
 */
function readTogether(keys: StoredKeys): StoredKeys['find'] {
  let waiting = new Map<string, PromiseWithResolvers<FoundKey | undefined>>();
  const read = async (id: string) => keys.find(id);
  const readAll = (): void => {
    const asked = waiting;
    waiting = new Map();
    for (const [id, { resolve, reject }] of asked) read(id).then(resolve, reject);
  };
  return (id) => {
    const known = waiting.get(id);
    if (known !== undefined) return known.promise;
    if (waiting.size === 0) setImmediate(readAll);
    const asked = Promise.withResolvers<FoundKey | undefined>();
    waiting.set(id, asked);
    return asked.promise;
  };
}

function recogniseTokens(options: IdentifyOptions): Recognise {
  const verifierOf = createJwtVerifiers(options);
  return async (credential, { jwt, ...access }) => {
    if (jwt === undefined) return refused('The token is refused: access.jwt is not configured.');
    const holder = await (await verifierOf(jwt))(credential);
    if (typeof holder === 'string') return refused(`The token is refused: ${holder}.`);
    if (isReservedId(holder.id)) return refused(`The token is refused: its subject "${holder.id}" is reserved.`);
    const { issuer } = jwt;
    return grant({ ...holder, credential: { kind: 'token', issuer } }, access, options.profiles());
  };
}

/** A sign-in whose code is loaded at its first use. */
export function lazySignIn(ports: Parameters<typeof createSignIn>[0]): IssuerSignIn {
  let loaded: Promise<IssuerSignIn> | undefined;
  const load = (): Promise<IssuerSignIn> => {
    loaded ??= import('./sign-in.ts').then((code) => code.createSignIn(ports));
    return loaded;
  };
  return {
    begin: async (redirectUri) => (await load()).begin(redirectUri),
    finish: async (start, code) => (await load()).finish(start, code),
  };
}

/** Checks again a caller that a server let in: its key may have been revoked, or its roles may open less. Callers created by the host have no credential and pass. */
export function createRecheck({
  access: accessNow,
  profiles: profilesNow,
  keys,
  calendar,
}: Pick<IdentifyOptions, 'access' | 'profiles' | 'keys' | 'calendar'>): Recheck {
  return async ({ credential, operator, id = '', roles = [], permissions = [] }, profile) => {
    const [access, profiles] = [accessNow(), profilesNow()];
    const judge = (granted: Recognised): string | undefined =>
      granted.operator || (operator !== true && granted.profiles.includes(profile))
        ? undefined
        : `its roles no longer open the profile "${profile}"`;
    switch (credential?.kind) {
      case undefined:
        return undefined;
      case 'none':
        return access === undefined ? judge(grantUsual(id, profiles)) : 'a credential is now required';
      case 'token':
        if (access?.jwt === undefined) return 'tokens are no longer accepted';
        if (access.jwt.issuer !== credential.issuer) return 'tokens of its issuer are no longer accepted';
        return judge(grant({ id, roles, permissions, credential }, access, profiles));
      case 'key': {
        const key = access?.keys === true ? await keys?.find(credential.id) : undefined;
        const state = key === undefined ? 'not accepted' : stateOf(key, calendar.now());
        if (access === undefined || key === undefined || state !== 'active') return `its API key is now ${state}`;
        return judge(grant(holderOf(key), access, profiles));
      }
    }
  };
}

function holderOf(key: FoundKey): Holder {
  return { ...key, id: key.caller, credential: { kind: 'key', id: key.id } };
}

/** The text after `Bearer`; undefined if absent, empty if it cannot be a valid credential. */
function readCredential(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return '';
  const text = given.trim();
  if (text === '') return undefined;
  return text.replace(/^Bearer(\s+|$)/i, '');
}

/** Returns a verifier for the current configuration; it and its fetched keys are reused while the configuration is the same. */
function createJwtVerifiers({ steady, calendar }: IdentifyOptions): (config: JwtConfig) => Promise<VerifyJwt> {
  let last: { readonly text: string; readonly verify: VerifyJwt } | undefined;
  return async (config) => {
    const { createJwtVerifier } = await import('./jwt.ts');
    const text = canonicalJson(config);
    if (last?.text !== text) {
      const { audience, algorithms, ...rest } = config;
      const lists = {
        ...(audience !== undefined && { audience: listOf(audience) }),
        ...(algorithms !== undefined && { algorithms: listOf(algorithms) }),
      };
      last = { text, verify: createJwtVerifier({ ...rest, ...lists }, { steady, calendar }) };
    }
    return last.verify;
  };
}

/** Records the use of keys in the background. A failure does not affect the request. */
function createUseNotes({ keys, warn }: IdentifyOptions): (key: FoundKey, now: number) => void {
  const underWay = new Set<string>();
  return ({ id, lastUsedAt }, now) => {
    const isNoted = lastUsedAt !== undefined && now - lastUsedAt < NOTE_EVERY_MS;
    if (isNoted || underWay.has(id)) return;
    underWay.add(id);
    keys
      ?.noteUse(id, Math.floor(now), NOTE_EVERY_MS)
      .catch((cause: unknown) => warn(`The use of an API key could not be recorded: ${messageOf(cause)}`))
      .finally(() => underWay.delete(id));
  };
}

const NEEDED: Identity = {
  ok: false,
  error: toolError(
    'unauthenticated',
    'A credential is required: send an API key or a token as "Authorization: Bearer ...".',
  ),
};

/** One message for all refused credentials, so that it does not help to guess a valid one. */
function refused(reason: string): Identity {
  const message = 'The credential is not accepted: it is unknown, expired, revoked or issued for another audience.';
  return { ok: false, error: toolError('unauthenticated', message, { cause: new Error(reason) }) };
}

function unavailable(cause: unknown): ToolError {
  const message = 'The credential cannot be checked at the moment. Try again later.';
  return toolError('unavailable', message, { retryable: true, cause });
}
