import type { Bundles, ResolvedBundle } from '../bundle.ts';
import type { Caller } from '../caller.ts';
import type { Catalog } from '../catalog.ts';
import type { Policy } from '../policy.ts';
import type { Profile } from '../profile.ts';
import type { View } from '../view.ts';

/** Everything that belongs to one catalog. Immutable: a change makes the next one, calls in flight keep theirs. */
export interface Generation {
  readonly catalog: Catalog;
  readonly bundles: Bundles;
  /** What is not there because of its `when`, with the reason, by name. */
  readonly leftOut: { readonly tools: ReadonlyMap<string, string>; readonly bundles: ReadonlyMap<string, string> };
  readonly policyDefaults: Policy;
  /** What a profile that was opened earlier is by now; one that is gone shows nothing. */
  currentProfile(profile: Profile): Profile;
  viewFor(profile: Profile, caller: Caller): View;
  /** The bundle whose setup a tool waits for. */
  ownerOf(tool: string): ResolvedBundle | undefined;
}

/** All profiles by name, the one that is used when none is named, and the operator's. */
export interface ProfileSet {
  readonly byName: ReadonlyMap<string, Profile>;
  readonly usual: Profile;
  readonly everything: Profile;
}
