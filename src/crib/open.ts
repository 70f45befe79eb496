import { type Caller, readCaller } from '../core/caller.ts';
import type { ProfileSet } from '../core/catalog.ts';
import type { Store } from '../core/ports/store.ts';
import type { Profile } from '../core/profile.ts';
import { didYouMean } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { compileGlob } from '../core/visible-text.ts';
import type { Chest } from './chest.ts';
import type { Crib } from './crib.ts';
import type { CribServer } from './crib-server.ts';
import type { Engine } from './engine.ts';
import { createChest } from './open-chest.ts';

/** The members of a crib that open chests. */
export function createOpening(
  { host, profiles, warn }: Engine,
  store: Store | undefined,
): Pick<Crib, 'open' | 'openAll'> & Pick<CribServer, 'openAtDoor'> {
  const choose = (name: string | undefined, caller: Caller) => chooseProfile(name, profiles(), caller);
  return {
    open: (async (name?: string, given?: Caller) => {
      const caller = readCaller(given);
      return createChest(host, { profile: choose(name, caller) }, caller);
    }) as Crib['open'], // the types of a TypedChest come from its caller
    openAll: async (caller) =>
      createChest(host, { profile: profiles().everything }, readCaller({ ...caller, operator: true })),
    openAtDoor: async (name, given) => {
      const caller = readCaller(given);
      const profile = choose(name, caller);
      const active = await activeIn(store, profile.name, warn);
      return createChest(host, { profile, ...(active !== undefined && { active }) }, caller);
    },
  };
}

/** The stored active bundles of a profile. They only affect listings, so an unavailable store is only a warning. */
async function activeIn(
  store: Store | undefined,
  profile: string,
  warn: Engine['warn'],
): Promise<readonly string[] | undefined> {
  try {
    return (await store?.activeSets.get(profile))?.names;
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    warn(`The active bundles of profile "${profile}" cannot be read; the configured ones are used: ${cause.message}`);
    return undefined;
  }
}

/** The named profile, or the default profile, or the only one that the caller may use. Throws if the profile does not exist or the caller may not use it. */
export function chooseProfile(name: string | undefined, profiles: ProfileSet, caller: Caller): Profile {
  const { byName, usual } = profiles;
  const profile = name === undefined ? usual : byName.get(name);
  if (profile === undefined) {
    throw new ToolcribError(
      'unknown_profile',
      `The profile "${name}" was not found.${didYouMean(String(name), byName.keys())}`,
    );
  }
  const { profiles: allowed } = caller;
  if (allowed === undefined) return profile;
  const isAllowed = ({ name: one }: Profile) => allowed.some((glob) => compileGlob(glob)(one));
  const isNamesake = byName.has(profile.name) && byName.get(profile.name) !== profile; // the built-in profile of all tools, beside a configured one of that name
  if (!isNamesake && isAllowed(profile)) return profile;
  const [only, ...others] = name === undefined ? [...byName.values()].filter(isAllowed) : [];
  if (only !== undefined && others.length === 0) return only;
  throw new ToolcribError('denied', `The caller may not use the profile "${profile.name}".`);
}

/** Opens the chest of an earlier call again: under the same profile, or with all tools. */
export async function openAgain(
  chests: Pick<Crib, 'open' | 'openAll'>,
  { byName, usual }: ProfileSet,
  { profile, caller }: { readonly profile: string; readonly caller: Caller },
): Promise<Chest> {
  if (byName.has(profile)) return chests.open(profile, caller);
  if (caller.operator === true) return chests.openAll(caller);
  const chest = await chests.open(profile === usual.name ? undefined : profile, caller);
  if (chest.profile === profile) return chest;
  throw new ToolcribError('denied', `The caller may not use the profile "${profile}".`);
}
