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

/** What a new key should be. */
export interface KeyRequest {
  /** What people call it. */
  readonly name: string;
  /** The id of the caller it stands for; `key:` and its name if absent, so that a new key of a name goes on where the old one ended. */
  readonly caller?: string;
  readonly roles?: readonly string[];
  readonly permissions?: readonly string[];
  /** Limits it to profiles, as globs; without roles these are what it opens. */
  readonly profiles?: readonly string[];
  /** Milliseconds since 1970, or null for never; 90 days from now if neither this nor `forMs` is given. */
  readonly expiresAt?: number | null;
  readonly forMs?: number;
}

/** A key as it may be shown. */
export interface KeyInfo extends StoredKey {
  readonly state: 'active' | 'expired' | 'revoked';
}

/** The only moment at which somebody sees a key. */
export interface CreatedKey {
  readonly key: string;
  readonly info: KeyInfo;
  /** The profiles it opens by the configuration of this moment. */
  readonly opens: readonly string[];
}

/** API keys of a crib. They work where `access.keys` is on. */
export interface CribKeys {
  create(request: KeyRequest, by: string): Promise<CreatedKey>;
  /** All of them, oldest first; expired and revoked ones too. */
  list(): Promise<readonly KeyInfo[]>;
  /** Closes it for the very next request, in every process. */
  revoke(id: string, by: string): Promise<Outcome>;
  /** What keys were made for but cannot do, in sentences. */
  problems(): Promise<readonly string[]>;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 90;
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 200;
/** The year 9999, so that every time can be written. */
const LATEST = 253_402_300_799_000;

/** Keys over a store; without one there can be none. */
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
      const reason = result === 'already' ? 'it was revoked before' : 'there is no key of this id';
      return outcome([], [{ name, reason }]);
    },
  };
}

/** Whether a key opens anything at this moment. */
export function stateOf({ revokedAt, expiresAt }: StoredKey, now: number): KeyInfo['state'] {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : 'active';
}

const KEYS = ['name', 'caller', 'roles', 'permissions', 'profiles', 'expiresAt', 'forMs'] as const;

function readRequest(value: unknown, now: number) {
  const given = readOptions<KeyRequest>(value, KEYS, 'keys.create');
  const name = readText(given.name, 'name');
  const caller = given.caller === undefined ? `key:${name}` : readText(given.caller, 'caller');
  if (given.caller !== undefined && isReservedId(caller))
    throw wrong(`caller "${caller}" is a name of ours; choose another`);
  const roles = readNames(given.roles ?? [], 'roles');
  const profiles = given.profiles === undefined ? undefined : readNames(given.profiles, 'profiles');
  if (roles.length === 0 && (profiles ?? []).length === 0) {
    throw wrong('it opens nothing without a role or a profile; give it one');
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
  if (expiresAt !== undefined && forMs !== undefined) throw wrong('it takes expiresAt or forMs, not both');
  if (expiresAt === null) return undefined;
  const at = expiresAt ?? now + (forMs ?? USUAL_DAYS * DAY_MS);
  if (typeof at !== 'number' || !Number.isFinite(at) || at > LATEST) throw wrong(`it cannot expire at ${describe(at)}`);
  if (at <= now) throw wrong('it would have expired already; choose a time to come');
  return Math.floor(at);
}

function readNames(value: unknown, what: string): readonly string[] {
  const names = readNameList(value, `keys.create: ${what}`);
  if (names.length > MAX_NAMES) throw wrong(`${what} has more than ${MAX_NAMES} names`);
  return names.map((name) => readText(name, what));
}

/** Text that every store can hold and every terminal show. */
function readText(value: unknown, what: string): string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME_LENGTH;
  if (isText && !/\p{Cc}/u.test(value) && value.isWellFormed()) return value;
  throw wrong(
    `${what} must be a text of 1 to ${MAX_NAME_LENGTH} characters without control characters, got ${describe(value)}`,
  );
}

function wrong(message: string): ToolcribError {
  return new ToolcribError('invalid_key', `The API key cannot be made: ${message}.`);
}

const FORM = new RegExp(`^${KEY_FORM}$`);

/** The part of a key that is no secret, and the hash of the part that is one. */
export interface KeyParts {
  readonly id: string;
  readonly hash: string;
}

/** A new key: `tck_`, its id, `_`, the secret and a checksum. Only whoever calls this ever has it. */
export function mintKey(): KeyParts & { readonly key: string } {
  const id = randomText(ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  const body = `${KEY_PREFIX}${id}_${secret}`;
  return { id, hash: hashOf(secret), key: `${body}${checksumOf(body)}` };
}

/** True for what claims to be a key. */
export function isKeyLike(credential: string): boolean {
  return credential.startsWith(KEY_PREFIX);
}

/** The parts of a key that is written without a slip. */
export function readKey(credential: string): KeyParts | undefined {
  const id = FORM.exec(credential)?.[1];
  if (id === undefined || !hasItsChecksum(credential)) return undefined;
  const start = KEY_PREFIX.length + ID_LENGTH + 1;
  return { id, hash: hashOf(credential.slice(start, start + SECRET_LENGTH)) };
}
