/** What a token says about who has it. */
export interface TokenHolder {
  readonly id: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** Which claims say it; a dotted path leads into objects. */
export interface ClaimNames {
  readonly rolesClaim?: string | undefined;
  readonly permissionsClaim?: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

const ROLES = 'roles';
const PERMISSIONS = ['permissions', 'scope', 'scp'];
const MAX_ID_LENGTH = 256;

/** Reads a verified token, or says in words what is the matter with it. A list that cannot be read refuses: a deny clause may have been meant. */
export function readClaims(claims: Claims, { rolesClaim = ROLES, permissionsClaim }: ClaimNames): TokenHolder | string {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_ID_LENGTH || /\p{Cc}/u.test(sub))
    return 'its subject is no usable text';
  if (!sub.isWellFormed()) return 'its subject is no usable text';
  const roles = namesOf(claims, rolesClaim);
  if (roles === undefined) return `its claim "${rolesClaim}" is no list of names`;
  const permissions = new Set<string>();
  for (const claim of permissionsClaim === undefined ? PERMISSIONS : [permissionsClaim]) {
    const names = namesOf(claims, claim);
    if (names === undefined) return `its claim "${claim}" is no list of names`;
    for (const text of names) for (const name of text.split(/\s+/)) if (name !== '') permissions.add(name);
  }
  return { id: sub, roles: [...new Set(roles)], permissions: [...permissions] };
}

/** The names under a claim: none if it is absent, undefined if it is something else. */
function namesOf(claims: Claims, claim: string): readonly string[] | undefined {
  const value = valueAt(claims, claim);
  if (value === undefined || value === null) return [];
  const list: unknown = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.every((name) => typeof name === 'string') ? list : undefined;
}

// A claim may have dots in its very name: "https://example.com/roles".
function valueAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim.split('.').reduce<unknown>(memberOf, claims);
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Claims)[key]; // an own key
}
