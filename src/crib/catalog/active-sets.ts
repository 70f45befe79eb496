import { type Outcome, outcome } from '../../core/outcome.ts';
import type { Store, StoredActiveSet } from '../../core/ports/store.ts';
import { readNameList } from '../../core/read-options.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { notAvailable } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';
import type { Chest } from '../chest.ts';
import type { Names } from './activation.ts';

/** The bundles that operators made active, with which chests of doors start. */
export interface CribActiveSets {
  /** What was chosen for a profile; undefined where nobody chose. */
  get(profile: string): Promise<StoredActiveSet | undefined>;
  /** Chooses all of these, or none where one is unknown. Rejects with code `unknown_profile`. */
  put(profile: string, names: Names, by: string): Promise<Outcome>;
  /** Tells the profile of each choice made through this crib. */
  onChange(listener: (profile: string) => void): () => void;
}

/** The choices that are kept in a store; without one nothing can be chosen. */
export function createActiveSets(store: Store | undefined, open: (profile: string) => Promise<Chest>): CribActiveSets {
  const listeners = createListeners<[profile: string]>();
  return {
    get: async (profile) => store?.activeSets.get(profile),
    async put(profile, names, by) {
      if (store === undefined) throw notAvailable('The store of active bundles', 'give createCrib a configuration');
      const available = (await open(profile)).available();
      const wanted = readNameList(names, 'activeSets.put');
      const rejected = wanted
        .filter((name) => !available.includes(name))
        .map((name) => ({ name, reason: `unknown bundle.${didYouMean(name, available)}` }));
      if (rejected.length > 0) return outcome([], rejected);
      await store.activeSets.put(profile, wanted, by);
      listeners.tell(profile);
      return outcome(wanted);
    },
    onChange: listeners.add,
  };
}
