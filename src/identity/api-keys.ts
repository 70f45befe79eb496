import type { StoredKey, StoredKeys } from '../core/ports/store.ts';
import { defined, describe, readNameList, readOptions } from '../core/read-options.ts';
import { notAvailable, ToolcribError } from '../core/tool-error.ts';
import { type Outcome, outcome } from '../core/tool-result.ts';
import {
  checksumOf,
  hashOf,
  hasItsChecksum,
  ID_LENGTH,
  KEY_FORM,
  KEY_PREFIX,
  randomText,
  SECRET_LENGTH,
} from '../system/secrets/redact.ts';
import type { IdentifyOptions } from './identify.ts';
import { findKeyProblems, grant, isReservedId } from './roles.ts';

/** Options for creating a key. */
export interface KeyRequest {
  /** A name for people. */
  readonly name: string;
  /** The caller id of the key; `key:` and its name if absent, so that a new key of the same name continues as the same caller. */
  readonly caller?: string;
  readonly roles?: readonly string[];
  readonly permissions?: readonly string[];
  /** Limits the key to profiles, as globs. Without roles, the key opens exactly these. */
  readonly profiles?: readonly string[];
  /** Milliseconds since 1970, or null for never; default 90 days from now if `forMs` is absent, too. */
  readonly expiresAt?: number | null;
  readonly forMs?: number;
}

/** A key without its secret, with its state. */
export interface KeyInfo extends StoredKey {
  readonly state: 'active' | 'expired' | 'revoked';
}

/** A new key. This is the only time that the key itself is shown. */
export interface CreatedKey {
  readonly key: string;
  readonly info: KeyInfo;
  /** The profiles that it opens with the current configuration. */
  readonly opens: readonly string[];
}

/** API keys of a crib. They work only if `access.keys` is on. */
export interface CribKeys {
  create(request: KeyRequest, by: string): Promise<CreatedKey>;
  /** All keys, oldest first, including expired and revoked ones. */
  list(): Promise<readonly KeyInfo[]>;
  /** Revokes a key. It takes effect with the next request, in every process. */
  revoke(id: string, by: string): Promise<Outcome>;
  /** Warnings about keys that cannot work. */
  problems(): Promise<readonly string[]>;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 90;
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 200;
/** The year 9999, so that every time can be formatted. */
const LATEST = 253_402_300_799_000;

/** Creates the keys of a crib; creating and revoking keys needs a store. */
export function createKeys(
  stored: StoredKeys | undefined,
  { access, profiles, calendar }: Pick<IdentifyOptions, 'access' | 'profiles' | 'calendar'>,
): CribKeys {
  const { now } = calendar;
  const requireStore = (): StoredKeys => {
    if (stored !== undefined) return stored;
    throw notAvailable('The store of API keys', 'give createCrib a configuration or a store');
  };
  const toShown = (keys: readonly StoredKey[]) => keys.map((key) => ({ ...key, state: stateOf(key, now()) }));
  return {
    async create(request, by) {
      const wanted = readRequest(request, now());
      const { key, id, hash } = mintKey();
      const info = await requireStore().add(
        { ...wanted, id, hash },
        readText(by, 'The second argument of keys.create'),
      );
      const config = access();
      const opens =
        config?.keys === true
          ? grant({ ...info, id: info.caller, credential: { kind: 'key', id } }, config, profiles()).profiles
          : [];
      return { key, info: { ...info, state: 'active' }, opens };
    },
    list: async () => toShown(await requireStore().list()),
    problems: async () => (stored === undefined ? [] : findKeyProblems(toShown(await stored.list()), access())),
    async revoke(id, by) {
      const name = readText(id, 'keys.revoke');
      const result = await requireStore().revoke(name, readText(by, 'The second argument of keys.revoke'));
      if (result === 'revoked') return outcome([name]);
      const reason = result === 'already' ? 'it is already revoked' : 'no key has this id';
      return outcome([], [{ name, reason }]);
    },
  };
}

/** The current state of a key. */
export function stateOf({ revokedAt, expiresAt }: StoredKey, now: number): KeyInfo['state'] {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : 'active';
}

const KEYS = ['name', 'caller', 'roles', 'permissions', 'profiles', 'expiresAt', 'forMs'] as const;

function readRequest(value: unknown, now: number) {
  const given = readOptions<KeyRequest>(value, KEYS, 'keys.create');
  const name = readText(given.name, 'name');
  const caller = given.caller === undefined ? `key:${name}` : readText(given.caller, 'caller');
  if (given.caller !== undefined && isReservedId(caller)) throw wrong(`caller "${caller}" is reserved; choose another`);
  const roles = readNames(given.roles ?? [], 'roles');
  const profiles = given.profiles === undefined ? undefined : readNames(given.profiles, 'profiles');
  if (roles.length === 0 && (profiles ?? []).length === 0) {
    throw wrong('it needs a role or a profile');
  }
  const expiresAt = readExpiry(given, now);
  return {
    name,
    caller,
    roles,
    permissions: readNames(given.permissions ?? [], 'permissions'),
    ...defined({ profiles, expiresAt }),
  };
}

function readExpiry({ expiresAt, forMs }: KeyRequest, now: number): number | undefined {
  if (expiresAt !== undefined && forMs !== undefined) throw wrong('set expiresAt or forMs, not both');
  if (expiresAt === null) return undefined;
  const at = expiresAt ?? now + (forMs ?? USUAL_DAYS * DAY_MS);
  if (typeof at !== 'number' || !Number.isFinite(at) || at > LATEST) throw wrong(`it cannot expire at ${describe(at)}`);
  if (at <= now) throw wrong('its expiry is in the past; choose a later time');
  return Math.floor(at);
}

function readNames(value: unknown, what: string): readonly string[] {
  const names = readNameList(value, `keys.create: ${what}`);
  if (names.length > MAX_NAMES) throw wrong(`${what} has more than ${MAX_NAMES} names`);
  return names.map((name) => readText(name, what));
}

/** Reads a text that every store can hold and every terminal can show. */
function readText(value: unknown, what: string): string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME_LENGTH;
  if (isText && !/\p{Cc}/u.test(value) && value.isWellFormed()) return value;
  throw wrong(
    `${what} must be a text of 1 to ${MAX_NAME_LENGTH} characters without control characters, got ${describe(value)}`,
  );
}

function wrong(message: string): ToolcribError {
  return new ToolcribError('invalid_key', `The API key cannot be created: ${message}.`);
}

const FORM = new RegExp(`^${KEY_FORM}$`);

/** The public id of a key, and the hash of its secret. */
export interface KeyParts {
  readonly id: string;
  readonly hash: string;
}

/** Creates a key: `tck_`, its id, `_`, the secret and a checksum. Only the caller of this function ever has the key. */
export function mintKey(): KeyParts & { readonly key: string } {
  const id = randomText(ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  const body = `${KEY_PREFIX}${id}_${secret}`;
  return { id, hash: hashOf(secret), key: `${body}${checksumOf(body)}` };
}

/** True if a credential looks like a key. */
export function isKeyLike(credential: string): boolean {
  return credential.startsWith(KEY_PREFIX);
}

/** The parts of a key; undefined if its form or checksum is wrong. */
export function readKey(credential: string): KeyParts | undefined {
  const id = FORM.exec(credential)?.[1];
  if (id === undefined || !hasItsChecksum(credential)) return undefined;
  const start = KEY_PREFIX.length + ID_LENGTH + 1;
  return { id, hash: hashOf(credential.slice(start, start + SECRET_LENGTH)) };
}
