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

/** What becoming a caller depends on. */
export interface IdentifyOptions {
  /** Who may come in now; absent means only this machine. */
  access(): AccessConfig | undefined;
  profiles(): ProfileSet;
  readonly keys: StoredKeys | undefined;
  readonly operatorToken: OperatorToken;
  /** For what is kept a while. */
  readonly steady: Pick<Clock, 'now'>;
  /** For what expires on a date. */
  readonly calendar: Pick<Clock, 'now'>;
  warn(message: string): void;
}

/** Whoever has a credential of another size has none of ours. */
const MAX_LENGTH = 16_384;
/** How often it is noted that a key was used. */
const NOTE_EVERY_MS = 60_000;
const TOKEN = { kind: 'token' } as const;

/** Judges one kind of credential. */
type Recognise = (credential: string, access: AccessConfig) => Promise<Identity>;

/** The one place where a key, token or JWT becomes a caller. What is wrong with a credential is for the log, never for who sent it. */
export function createIdentify(options: IdentifyOptions): (credential?: string | null) => Promise<Identity> {
  const ofKey = recogniseKeys(options);
  const ofJwt = recogniseTokens(options);
  const recognise = async (credential: string): Promise<Identity> => {
    if (await options.operatorToken.matches(credential)) return grantAll('operator', options.profiles());
    const access = options.access();
    if (access?.keys === true && isKeyLike(credential)) return ofKey(credential, access);
    if (access?.jwt !== undefined && credential.split('.', 4).length === 3) return ofJwt(credential, access);
    return refused('The credential is neither a key nor a token that is accepted here.');
  };

  return async (given) => {
    const credential = readCredential(given);
    if (credential === undefined) {
      return options.access() === undefined ? grantUsual('local', options.profiles()) : NEEDED;
    }
    if (credential === '') return refused('The credential is no text, or too long.');
    try {
      return await recognise(credential);
    } catch (cause) {
      options.warn(messageOf(cause)); // the store, the issuer or the operator's token: whatever it is, nobody gets in unchecked
      return { ok: false, error: unavailable(cause) };
    }
  };
}

function recogniseKeys(options: IdentifyOptions): Recognise {
  const { keys, calendar } = options;
  const noteUse = createUseNotes(options);
  return async (credential, access) => {
    const parts = readKey(credential);
    if (parts === undefined) return refused('The API key has a slip in it.');
    const key = await keys?.find(parts.id); // each time, so that what another process revoked is closed at once
    if (key === undefined || !isSameHash(key.hash, parts.hash)) {
      return refused(`There is no API key ${parts.id} with this secret.`);
    }
    const now = calendar.now();
    const state = stateOf(key, now);
    if (state !== 'active') return refused(`The API key ${key.id} ("${key.name}") is ${state}.`);
    noteUse(key, now);
    return grant(holderOf(key), access, options.profiles());
  };
}

function recogniseTokens(options: IdentifyOptions): Recognise {
  const verifierOf = createJwtVerifiers(options);
  return async (credential, access) => {
    const verify = access.jwt === undefined ? undefined : await verifierOf(access.jwt);
    const holder = verify === undefined ? 'no issuer is trusted' : await verify(credential);
    if (typeof holder === 'string') return refused(`The token is refused: ${holder}.`);
    if (isReservedId(holder.id)) return refused(`The token is refused: its subject "${holder.id}" is a name of ours.`);
    return grant({ ...holder, credential: TOKEN }, access, options.profiles());
  };
}

/** Judges anew what a server let in: its key may be revoked by now, or its roles may open less. Callers of the host showed no credential and stay. */
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
        : `its roles do not open the profile "${profile}" any more`;
    switch (credential?.kind) {
      case undefined:
        return undefined;
      case 'none':
        return access === undefined ? judge(grantUsual(id, profiles)) : 'a credential is needed by now';
      case 'token':
        if (access?.jwt === undefined) return 'no issuer of tokens is trusted any more';
        return judge(grant({ id, roles, permissions, credential }, access, profiles));
      case 'key': {
        const key = access?.keys === true ? await keys?.find(credential.id) : undefined;
        const state = key === undefined ? 'not accepted' : stateOf(key, calendar.now());
        if (access === undefined || key === undefined || state !== 'active') return `its API key is ${state} by now`;
        return judge(grant(holderOf(key), access, profiles));
      }
    }
  };
}

function holderOf(key: FoundKey): Holder {
  return { ...key, id: key.caller, credential: { kind: 'key', id: key.id } };
}

/** The text after `Bearer`; undefined if there is none, empty if it can be nothing of ours. */
function readCredential(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return '';
  const text = given.trim();
  if (text === '') return undefined;
  return text.replace(/^Bearer(\s+|$)/i, '');
}

/** A verifier for what the configuration says now; the keys it fetched are kept while that stays the same. */
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

/** Nobody waits for the note that a key was used, and nobody is refused because it could not be written. */
function createUseNotes({ keys, warn }: IdentifyOptions): (key: FoundKey, now: number) => void {
  const underWay = new Set<string>();
  return ({ id, lastUsedAt }, now) => {
    const isNoted = lastUsedAt !== undefined && now - lastUsedAt < NOTE_EVERY_MS;
    if (isNoted || underWay.has(id)) return;
    underWay.add(id);
    keys
      ?.noteUse(id, Math.floor(now), NOTE_EVERY_MS)
      .catch((cause: unknown) => warn(`It could not be noted that an API key was used: ${messageOf(cause)}`))
      .finally(() => underWay.delete(id));
  };
}

const NEEDED: Identity = {
  ok: false,
  error: toolError('unauthenticated', 'A credential is needed: an API key or a token, as "Authorization: Bearer ...".'),
};

/** One sentence for every credential that is not accepted: it must not help to find one that is. */
function refused(reason: string): Identity {
  const message = 'The credential is not accepted: it is unknown, expired, revoked or meant for somebody else.';
  return { ok: false, error: toolError('unauthenticated', message, { cause: new Error(reason) }) };
}

function unavailable(cause: unknown): ToolError {
  const message = 'Who is asking cannot be checked at the moment; try again later.';
  return toolError('unavailable', message, { retryable: true, cause });
}
