import type { Caller } from '../core/caller.ts';
import { describe } from '../core/known-keys.ts';
import { didYouMean } from '../core/nearest.ts';
import { ToolcribError } from '../core/tool-error.ts';

const KEYS = ['id', 'roles', 'permissions', 'profiles', 'approve'];
const NOBODY: Caller = Object.freeze({});

/** A frozen copy of who asks. A role that is not a list would match by its letters, so types are checked. */
export function readCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) return NOBODY;
  if (typeof caller !== 'object' || caller === null)
    throw new ToolcribError('invalid_option', `A caller must be an object, got ${describe(caller)}.`);
  for (const key in caller) {
    if (!KEYS.includes(key))
      throw new ToolcribError('unknown_option', `A caller has no "${key}".${didYouMean(key, KEYS)}`);
  }
  const { id, approve } = caller;
  if (id !== undefined && (typeof id !== 'string' || id === '')) throw wrong('id', 'a text that is not empty', id);
  if (approve !== undefined && typeof approve !== 'function') throw wrong('approve', 'a function', approve);
  return Object.freeze({
    ...(id !== undefined && { id }),
    ...(caller.roles !== undefined && { roles: namesOf('roles', caller.roles) }),
    ...(caller.permissions !== undefined && { permissions: namesOf('permissions', caller.permissions) }),
    ...(caller.profiles !== undefined && { profiles: namesOf('profiles', caller.profiles) }),
    ...(approve !== undefined && { approve }),
  });
}

function namesOf(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return Object.freeze([...value]);
  throw wrong(key, 'a list of names', value);
}

function wrong(key: string, expected: string, value: unknown): ToolcribError {
  return new ToolcribError('invalid_option', `"${key}" of a caller must be ${expected}, got ${describe(value)}.`);
}
