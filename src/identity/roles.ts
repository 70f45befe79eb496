import type { AccessConfig, RoleConfig } from '../config/types/config.ts';
import { type Caller, type Credential, type Identity, readCaller } from '../core/caller.ts';
import type { ProfileSet } from '../core/catalog.ts';
import { compileGlob, listOf } from '../core/visible-text.ts';
import type { KeyInfo } from './api-keys.ts';

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
function matchesAny(globs: readonly string[]): (name: string) => boolean {
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

/** What `access` says but hardly means. */
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
      ? ['access has neither keys nor jwt, so nobody but the operator gets in.']
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
      ? ['access.jwt has no audience, so a token that the issuer made for any other program opens this one.']
      : []),
    ...plain.map((address) => `access.jwt: the keys at ${address} come without encryption; use https.`),
  ];
}

function isPlainAndFar(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** What keys were made for but cannot do. */
export function findKeyProblems(keys: readonly KeyInfo[], access: AccessConfig | undefined): readonly string[] {
  const active = keys.filter(({ state }) => state === 'active');
  if (active.length === 0 || access?.keys === true) return [];
  const [count, they] =
    active.length === 1 ? ['There is 1 API key', 'it opens'] : [`There are ${active.length} API keys`, 'they open'];
  return [`${count}, but access.keys is not on, so ${they} nothing; turn it on, or revoke what is not needed.`];
}

/** Algorithms with a public key, so that whoever checks tokens cannot make them. `none` and HS256 are not among them. */
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
