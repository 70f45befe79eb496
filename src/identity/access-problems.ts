import type { AccessConfig } from '../config/types/config.ts';
import type { ProfileSet } from '../core/ports/generation.ts';
import { listOf } from '../core/text/names.ts';
import type { KeyInfo } from './keys.ts';
import { matchesAny } from './profiles-of-role.ts';

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
