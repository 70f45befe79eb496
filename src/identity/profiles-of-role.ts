import type { AccessConfig, RoleConfig } from '../config/types/config.ts';
import type { Caller, Credential } from '../core/caller.ts';
import type { ProfileSet } from '../core/ports/generation.ts';
import type { Identity } from '../core/ports/identity.ts';
import { readCaller } from '../core/read-caller.ts';
import { compileGlob, listOf } from '../core/text/names.ts';

/** Who somebody turned out to be, before it is known what that opens. */
export interface Holder {
  readonly id: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** The globs of a key that is limited to some profiles. */
  readonly profiles?: readonly string[];
  readonly credential: Credential;
}

/** An identity that was recognised. */
export type Recognised = Extract<Identity, { readonly ok: true }>;

/** Ids that only we give: no token may claim them. */
export function isReservedId(id: string): boolean {
  return /^(operator|local)$|^(key|cli):/.test(id);
}

/** What the roles of somebody open, within what the key allows. A key without roles opens what it names itself. */
export function grant(holder: Holder, access: AccessConfig, profiles: ProfileSet): Recognised {
  const roles = holder.roles.flatMap((role) => roleOf(access, role) ?? []);
  if (holder.profiles === undefined && roles.some((role) => role.operator === true)) {
    return recognised({ ...callerOf(holder), operator: true }, namesOf(profiles));
  }
  const byRoles = holder.roles.length === 0 ? undefined : roles.flatMap((role) => listOf(role.profiles));
  const lists = [byRoles, holder.profiles].filter((list) => list !== undefined);
  const names =
    lists.length === 0
      ? []
      : lists.reduce((left, globs) => left.filter(matchesAny(globs)), candidates(profiles, lists));
  return recognised({ ...callerOf(holder), profiles: names }, names);
}

/** The operator: every profile, and all tools. */
export function grantAll(id: string, profiles: ProfileSet): Recognised {
  return recognised({ id, operator: true }, namesOf(profiles));
}

/** The default profile and nothing else. */
export function grantUsual(id: string, { usual }: ProfileSet): Recognised {
  return recognised({ id, profiles: [usual.name], credential: { kind: 'none' } }, [usual.name]);
}

/** A role of the configuration; what others put into a token may be named like anything. */
function roleOf({ roles = {} }: AccessConfig, name: string): RoleConfig | undefined {
  return Object.hasOwn(roles, name) ? roles[name] : undefined;
}

/** True for a name that any of the globs matches. */
export function matchesAny(globs: readonly string[]): (name: string) => boolean {
  const tests = globs.map(compileGlob);
  return (name) => tests.some((matches) => matches(name));
}

function recognised(caller: Caller, profiles: readonly string[]): Recognised {
  return Object.freeze({
    ok: true,
    caller: readCaller(caller),
    profiles: Object.freeze([...profiles]),
    operator: caller.operator === true,
  });
}

function callerOf({ id, roles, permissions, credential }: Holder): Caller {
  return { id, roles, permissions, credential };
}

/** The profiles there are. A name that reads as a glob is left out: it would open others, too. */
function namesOf({ byName }: ProfileSet): readonly string[] {
  return [...byName.keys()].filter((name) => !/[*?]/.test(name));
}

/** Where no profile was ever defined there is only the one of all tools, which "*" means and no other glob. */
function candidates(profiles: ProfileSet, lists: readonly (readonly string[])[]): readonly string[] {
  if (profiles.byName.size > 0) return namesOf(profiles);
  return lists.every((globs) => globs.includes('*')) ? [profiles.usual.name] : [];
}
