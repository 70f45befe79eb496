import type { Caller, Credential } from './caller.ts';
import { isRecord } from './json.ts';
import { describe, readOptions } from './read-options.ts';
import { ToolcribError } from './tool-error.ts';

const KEYS = ['id', 'roles', 'permissions', 'profiles', 'operator', 'credential', 'approve'] as const;
const NOBODY: Caller = Object.freeze({});

/** A frozen copy of who asks. A role that is not a list would match by its letters, so types are checked. */
export function readCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) return NOBODY;
  const { id, roles, permissions, profiles, operator, credential, approve } = readOptions<Caller>(
    caller,
    KEYS,
    'A caller',
  );
  if (id !== undefined && (typeof id !== 'string' || id === '')) throw wrong('id', 'a text that is not empty', id);
  if (approve !== undefined && typeof approve !== 'function') throw wrong('approve', 'a function', approve);
  if (operator !== undefined && typeof operator !== 'boolean') throw wrong('operator', 'true or false', operator);
  return Object.freeze({
    ...(id !== undefined && { id }),
    ...(roles !== undefined && { roles: namesOf('roles', roles) }),
    ...(permissions !== undefined && { permissions: namesOf('permissions', permissions) }),
    ...(profiles !== undefined && { profiles: namesOf('profiles', profiles) }),
    ...(operator !== undefined && { operator }),
    ...(credential !== undefined && { credential: readCredential(credential) }),
    ...(approve !== undefined && { approve }),
  });
}

function readCredential(value: unknown): Credential {
  const { kind, id } = isRecord(value) ? value : {};
  if (kind === 'token' || kind === 'none') return Object.freeze({ kind });
  if (kind === 'key' && typeof id === 'string') return Object.freeze({ kind, id });
  throw wrong('credential', 'one that crib.identify() gave', value);
}

function namesOf(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return Object.freeze([...value]);
  throw wrong(key, 'a list of names', value);
}

function wrong(key: string, expected: string, value: unknown): ToolcribError {
  return new ToolcribError('invalid_option', `"${key}" of a caller must be ${expected}, got ${describe(value)}.`);
}
