import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import { OPERATOR } from './open-crib.ts';

/** A chest of every profile, the default one first marked; without profiles the default is all tools. */
export async function openProfiles(
  crib: Crib,
): Promise<readonly { readonly chest: Chest; readonly isDefault: boolean }[]> {
  const caller = { id: OPERATOR };
  const usual = await crib.open(undefined, caller);
  const names = crib.profiles();
  if (!names.includes(usual.profile)) return [{ chest: usual, isDefault: true }, ...(await openAll(names))];
  return openAll(names);

  function openAll(profiles: readonly string[]) {
    return Promise.all(
      profiles.map(async (name) => ({ chest: await crib.open(name, caller), isDefault: name === usual.profile })),
    );
  }
}
