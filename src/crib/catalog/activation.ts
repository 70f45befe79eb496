import type { Bundles, ResolvedBundle } from '../../core/bundle.ts';
import type { Store, StoredActiveSet } from '../../core/ports/store.ts';
import type { Profile } from '../../core/profile.ts';
import { didYouMean, readNameList } from '../../core/read-options.ts';
import { notAvailable } from '../../core/tool-error.ts';
import { type Outcome, outcome, type Rejection } from '../../core/tool-result.ts';
import type { View } from '../../core/view.ts';
import { createListeners } from '../../system/listeners.ts';
import type { Chest } from '../chest.ts';
import type { Setups } from './setups.ts';

/** One name, or a list of names. */
export type Names = string | readonly string[];

/** The active bundles of a chest. Each chest has its own; the state of a bundle belongs to the crib. */
export interface Activation {
  available(): readonly string[];
  active(): readonly string[];
  essential(): readonly string[];
  activate(names: Names): Promise<Outcome>;
  deactivate(names: Names): Promise<Outcome>;
  setActive(names: Names): Promise<Outcome>;
  addEssential(names: Names): Promise<Outcome>;
  /** Increases with every change, so that a cached listing can be invalidated. */
  readonly version: number;
}

export interface ActivationOptions {
  readonly profile: Profile;
  /** The current view and bundles of the chest. */
  readonly now: () => { readonly view: View; readonly bundles: Bundles };
  readonly setups: Setups;
}

/** Starts with the profile's essential and active bundles. A bundle is set up when it is activated or called. */
export function createActivation({ profile, now, setups }: ActivationOptions): Activation {
  const essentials = new Set(profile.essential ?? []);
  // Until a choice is made, a profile without `active` shows every visible bundle, also later ones.
  let chosen: Set<string> | undefined = profile.active === undefined ? undefined : new Set(profile.active);
  let version = 0;

  const inView = (): readonly ResolvedBundle[] => {
    const { view, bundles } = now();
    return bundles.all.filter((bundle) => isInView(bundle, view));
  };
  const available = () => inView().map((bundle) => bundle.name);
  const essential = () => available().filter((name) => essentials.has(name));

  /** All direct and indirect requirements of a bundle. */
  const requirementsOf = (name: string, found = new Set<string>()): ReadonlySet<string> => {
    for (const required of now().bundles.get(name)?.requires ?? []) {
      if (!found.has(required)) requirementsOf(required, found.add(required));
    }
    return found;
  };

  const active = (): readonly string[] => {
    const names = available();
    const wanted = names.filter((name) => chosen === undefined || chosen.has(name) || essentials.has(name));
    const shown = new Set(wanted.flatMap((name) => [name, ...requirementsOf(name)]));
    return names.filter((name) => shown.has(name));
  };

  const whyUnknown = (name: string): string | undefined => {
    const names = available();
    return names.includes(name) ? undefined : `unknown bundle.${didYouMean(name, names)}`;
  };

  const setUp = async (name: string): Promise<Rejection | undefined> => {
    const reason = whyUnknown(name) ?? (await setups.ensure(name, 'activation'));
    return reason === undefined ? undefined : { name, reason };
  };

  const setUpAll = async (names: readonly string[]): Promise<Outcome> => {
    const rejected = (await Promise.all(names.map(setUp))).filter((rejection) => rejection !== undefined);
    return outcome(
      names.filter((name) => !rejected.some((rejection) => rejection.name === name)),
      rejected,
    );
  };

  const choose = (names: Iterable<string>): void => {
    chosen = new Set(names);
    version++;
  };

  /** The reason why a bundle cannot be deactivated together with `going`. */
  const whyNotDeactivate = (name: string, going: readonly string[]): string | undefined => {
    const unknown = whyUnknown(name);
    if (unknown !== undefined) return unknown;
    if (essentials.has(name)) return 'essential';
    const shown = active();
    if (!shown.includes(name)) return 'not active';
    const staying = shown.filter((other) => !going.includes(other) || essentials.has(other));
    const requirer = staying.find((other) => requirementsOf(other).has(name));
    return requirer === undefined ? undefined : `required by "${requirer}"`;
  };

  return {
    available,
    active,
    essential,
    get version() {
      return version;
    },
    async activate(names) {
      const result = await setUpAll(readNameList(names, 'activate'));
      if (result.applied.length > 0) choose([...(chosen ?? available()), ...result.applied]);
      return result;
    },
    async deactivate(names) {
      const applied: string[] = [];
      const rejected: Rejection[] = [];
      const going = readNameList(names, 'deactivate');
      for (const name of going) {
        const reason = whyNotDeactivate(name, going);
        if (reason === undefined) applied.push(name);
        else rejected.push({ name, reason });
      }
      if (applied.length > 0) choose([...(chosen ?? available())].filter((other) => !applied.includes(other)));
      return outcome(applied, rejected);
    },
    async setActive(names) {
      const wanted = readNameList(names, 'setActive');
      const unknown = wanted.flatMap((name): readonly Rejection[] => {
        const reason = whyUnknown(name);
        return reason === undefined ? [] : [{ name, reason }];
      });
      if (unknown.length > 0) return outcome([], unknown);
      const result = await setUpAll(wanted);
      if (!result.ok) return outcome([], result.rejected);
      choose(wanted);
      return result;
    },
    async addEssential(names) {
      const result = await setUpAll(readNameList(names, 'addEssential'));
      for (const name of result.applied) essentials.add(name);
      version++;
      return result;
    },
  };
}

/** A bundle is visible if one of its tools is. A bundle defined without tools is visible if the profile includes everything or names it. */
function isInView(bundle: ResolvedBundle, view: View): boolean {
  if (bundle.members.length > 0) return bundle.members.some((name) => view.has(name));
  if ((bundle.definition.include ?? []).length > 0) return false;
  const { include } = view.profile;
  return include === undefined || include.includes(`bundle:${bundle.name}`);
}

/** The bundles that operators made active, as the initial bundles of chests at doors. */
export interface CribActiveSets {
  /** The choice for a profile; undefined if there is none. */
  get(profile: string): Promise<StoredActiveSet | undefined>;
  /** Activates all of these bundles, or none if one is unknown. Rejects with code `unknown_profile`. */
  put(profile: string, names: Names, by: string): Promise<Outcome>;
  /** Calls `listener` with the profile of each choice made through this crib. */
  onChange(listener: (profile: string) => void): () => void;
}

/** Keeps the choices in the store; without one, `put` throws. */
export function createActiveSets(store: Store | undefined, open: (profile: string) => Promise<Chest>): CribActiveSets {
  const listeners = createListeners<[profile: string]>();
  return {
    get: async (profile) => store?.activeSets.get(profile),
    async put(profile, names, by) {
      if (store === undefined) throw notAvailable('The store of active bundles', 'pass a configuration to createCrib');
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
