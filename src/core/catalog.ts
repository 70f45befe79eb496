import type { Bundles, ResolvedBundle } from './bundle.ts';
import type { Caller } from './caller.ts';
import { isReservedName, META_SOURCE } from './meta-tools.ts';
import type { Policy } from './policy.ts';
import type { Profile } from './profile.ts';
import { isSameTool, type ToolSpec } from './tool-spec.ts';
import type { View } from './view.ts';

/** The immutable list of specs at one moment, with name conflicts resolved. */
export interface Catalog {
  readonly specs: readonly ToolSpec[];
  get(name: string): ToolSpec | undefined;
  /** Specs whose name was already taken. */
  readonly held: readonly HeldBack[];
}

/** A spec that lost its name to an earlier spec. */
export interface HeldBack {
  readonly name: string;
  readonly owner: string;
  readonly heldBack: string;
  readonly message: string;
}

/** The specs of one source. */
export interface SourceList {
  readonly source: string;
  readonly specs: readonly ToolSpec[];
}

/**
 * Merges lists into one catalog. The first list in configuration order owns a name, regardless of which list arrived
 * first. Reserved names belong to the crib. The lists contain names after prefix and rename.
 */
export function resolve(lists: readonly SourceList[]): Catalog {
  const byName = new Map<string, ToolSpec>();
  const held: HeldBack[] = [];
  for (const { source, specs } of lists) {
    for (const spec of specs) {
      const owner = claimsReservedName(source, spec) ? META_SOURCE : byName.get(spec.name)?.source;
      if (owner === undefined) byName.set(spec.name, spec);
      else held.push(holdBack(spec.name, owner, source));
    }
  }
  const specs = Object.freeze([...byName.values()]);
  return Object.freeze({ specs, held: Object.freeze(held), get: (name: string) => byName.get(name) });
}

/** True if a tool has a name that a model would take for one of the crib's own tools. */
export function claimsReservedName(source: string, { name }: ToolSpec): boolean {
  return source !== META_SOURCE && isReservedName(name);
}

/** Error text for a name conflict. */
export function clashWords({ name, owner, heldBack }: Omit<HeldBack, 'message'>): string {
  if (owner === heldBack) return `"${name}" is defined twice in ${owner}; rename one of them.`;
  return `"${name}" comes from both ${owner} and ${heldBack}; prefix one of them.`;
}

function holdBack(name: string, owner: string, source: string): HeldBack {
  return Object.freeze({ name, owner, heldBack: source, message: heldBackWords(name, owner, source) });
}

function heldBackWords(name: string, owner: string, source: string): string {
  if (owner === META_SOURCE)
    return `"${name}" of ${source} is held back: the name is reserved for a tool of Toolcrib. Give the source another prefix.`;
  if (owner === source) return `"${name}" is defined twice in ${source}; the second is held back. Rename one of them.`;
  return `"${name}" comes from both ${owner} and ${source}; the one of ${source} is held back. Prefix one of them.`;
}

/** Names that were added, removed or changed. */
export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Compares two catalogs. */
export function compareCatalogs(before: Catalog, after: Catalog): Changes {
  const names = (specs: readonly ToolSpec[]) => specs.map((spec) => spec.name);
  const isChanged = (spec: ToolSpec) => {
    const old = before.get(spec.name);
    return old !== undefined && !isSameTool(old, spec);
  };
  return {
    added: names(after.specs.filter((spec) => before.get(spec.name) === undefined)),
    removed: names(before.specs.filter((spec) => after.get(spec.name) === undefined)),
    changed: names(after.specs.filter(isChanged)),
  };
}

/** Everything that belongs to one catalog. Immutable: a change creates the next generation, and running calls keep theirs. */
export interface Generation {
  readonly catalog: Catalog;
  readonly bundles: Bundles;
  /** Tools and bundles that are absent because of their `when`, with the reason, by name. */
  readonly leftOut: { readonly tools: ReadonlyMap<string, string>; readonly bundles: ReadonlyMap<string, string> };
  readonly policyDefaults: Policy;
  /** True if a `when` may have a different result now: an environment variable or a predicate changed. */
  readonly isOutdated: (() => boolean) | undefined;
  /** The current definition of a profile that was opened earlier; a removed profile shows no tools. */
  currentProfile(profile: Profile): Profile;
  viewFor(profile: Profile, caller: Caller): View;
  /** The bundle whose setup a tool needs. */
  ownerOf(tool: string): ResolvedBundle | undefined;
}

/** All profiles by name, the default profile, and the operator's. */
export interface ProfileSet {
  readonly byName: ReadonlyMap<string, Profile>;
  readonly usual: Profile;
  readonly everything: Profile;
}
