import type { AccessConfig, RoleConfig } from '../config/types/config.ts';
import { type Caller, type Credential, type Identity, readCaller } from '../core/caller.ts';
import type { ProfileSet } from '../core/catalog.ts';
import { compileGlob, listOf } from '../core/visible-text.ts';
import type { KeyInfo } from './api-keys.ts';

/** An identified holder of a credential, before its access is determined. */
export interface Holder {
  readonly id: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** The globs of a key that is limited to profiles. */
  readonly profiles?: readonly string[];
  readonly credential: Credential;
}

/** A successful identification. */
export type Recognised = Extract<Identity, { readonly ok: true }>;

/** True for ids that only the crib assigns: no token may claim them. */
export function isReservedId(id: string): boolean {
  return /^(operator|local)$|^(key|cli|schedule):/.test(id);
}

/** Determines what a holder's roles open, within the limits of the key. A key without roles opens the profiles it names. */
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
  const maxPriority = Math.max(0, ...roles.map((role) => role.maxPriority ?? 0));
  return recognised({ ...callerOf(holder), profiles: names }, names, maxPriority);
}

/** Grants the operator every profile and all tools. */
export function grantAll(id: string, profiles: ProfileSet): Recognised {
  return recognised({ id, operator: true }, namesOf(profiles));
}

/** Grants the default profile only. */
export function grantUsual(id: string, { usual }: ProfileSet): Recognised {
  return recognised({ id, profiles: [usual.name], credential: { kind: 'none' } }, [usual.name]);
}

/** A role of the configuration. Role names in tokens are arbitrary, so only own properties count. */
function roleOf({ roles = {} }: AccessConfig, name: string): RoleConfig | undefined {
  return Object.hasOwn(roles, name) ? roles[name] : undefined;
}

/** Returns a test that is true for names that match any glob. */
function matchesAny(globs: readonly string[]): (name: string) => boolean {
  const tests = globs.map(compileGlob);
  return (name) => tests.some((matches) => matches(name));
}

function recognised(caller: Caller, profiles: readonly string[], maxPriority?: number): Recognised {
  return Object.freeze({
    ok: true,
    caller: readCaller(caller),
    profiles: Object.freeze([...profiles]),
    operator: caller.operator === true,
    ...(maxPriority !== undefined && { maxPriority }),
  });
}

function callerOf({ id, roles, permissions, credential }: Holder): Caller {
  return { id, roles, permissions, credential };
}

/** The names of all profiles, except names that read as a glob: those would open other profiles, too. */
function namesOf({ byName }: ProfileSet): readonly string[] {
  return [...byName.keys()].filter((name) => !/[*?]/.test(name));
}

/** The profiles that globs can select. If none is defined, only "*" selects the default profile. */
function candidates(profiles: ProfileSet, lists: readonly (readonly string[])[]): readonly string[] {
  if (profiles.byName.size > 0) return namesOf(profiles);
  return lists.every((globs) => globs.includes('*')) ? [profiles.usual.name] : [];
}

/** Warnings about the `access` configuration. */
export function findAccessProblems(access: AccessConfig | undefined, { byName }: ProfileSet): readonly string[] {
  if (access === undefined) return [];
  const { keys, jwt, roles = {} } = access;
  const unmatched = Object.entries(roles).flatMap(([name, { profiles }]) =>
    listOf(profiles)
      .filter((glob) => glob !== '*' && ![...byName.keys()].some(matchesAny([glob])))
      .map((glob) => `access.roles.${name}: "${glob}" matches no profile.`),
  );
  return [
    ...(keys !== true && jwt === undefined
      ? ['access has neither keys nor jwt, so only the operator has access.']
      : []),
    ...(Object.keys(roles).length === 0
      ? ['access has no roles, so tokens open nothing, and keys only the profiles they name.']
      : []),
    ...unmatched,
    ...(jwt === undefined ? [] : jwtProblems(jwt)),
  ];
}

function jwtProblems({ issuer, audience, jwks }: NonNullable<AccessConfig['jwt']>): readonly string[] {
  const plain = [issuer, jwks].filter((address) => address !== undefined && isPlainAndFar(address));
  return [
    ...(audience === undefined
      ? ['access.jwt has no audience, so a token that the issuer created for another program is accepted here.']
      : []),
    ...plain.map((address) => `access.jwt: the keys at ${address} are fetched without encryption; use https.`),
  ];
}

function isPlainAndFar(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** Warnings about keys that cannot work. */
export function findKeyProblems(keys: readonly KeyInfo[], access: AccessConfig | undefined): readonly string[] {
  const active = keys.filter(({ state }) => state === 'active');
  if (active.length === 0 || access?.keys === true) return [];
  const [count, they] =
    active.length === 1 ? ['1 API key is active', 'it opens'] : [`${active.length} API keys are active`, 'they open'];
  return [`${count}, but access.keys is not on, so ${they} nothing. Turn it on, or revoke keys that are not needed.`];
}

/** Asymmetric algorithms only, so that a verifier cannot create tokens. `none` and HS256 are excluded. */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;
