import type { ProfileSet } from '../../core/catalog.ts';
import { isOutOfUse, META_SOURCE } from '../../core/meta-tools.ts';
import type { Profile } from '../../core/profile.ts';
import type { Source } from '../../core/source.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { executeScript } from '../../kinds/script/execute-script.ts';
import { SEARCH_META_TOOLS } from '../../search/search-meta-tools.ts';
import type { CribDefinition } from '../crib-definition.ts';
import { delegateTool } from '../delegate.ts';

/** The crib's own tools that depend on profiles. */
export const OWN_TOOLS: readonly ToolSpec[] = [...SEARCH_META_TOOLS, executeScript, delegateTool];

/** The crib's own tools that some profile uses. */
export function ownToolsOf({ byName, usual }: Pick<ProfileSet, 'byName' | 'usual'>): readonly ToolSpec[] {
  const profiles = [...byName.values(), usual];
  return OWN_TOOLS.filter(({ name }) => profiles.some((profile) => !isOutOfUse(name, profile)));
}

/** The source of the crib's own tools; empty without such tools. */
export function metaSources(specs: readonly ToolSpec[]): readonly Source[] {
  if (specs.length === 0) return [];
  const live = {
    specs: () => specs,
    onChange: () => () => {},
    status: () => ({ state: 'ready' as const }),
    close: async () => {},
  };
  return [{ name: META_SOURCE, trust: true, bundle: false, start: async () => live }];
}

/** Sets `expose: script` for every profile, so that the operator can run a script under each. */
export function withScripts(definition: CribDefinition): CribDefinition {
  const toScript = (profile: Profile): Profile => ({ ...profile, expose: 'script' });
  const { byName, usual, everything } = definition.profiles;
  const profiles: ProfileSet = {
    byName: new Map([...byName].map(([name, profile]) => [name, toScript(profile)])),
    usual: toScript(usual),
    everything: toScript(everything),
  };
  const own = definition.sources.find(({ name }) => name === META_SOURCE);
  const others = definition.sources.filter((source) => source !== own);
  return { ...definition, profiles, sources: [...others, withTools(own, ownToolsOf(profiles))] };
}

/** The source of the crib's own tools, with further tools. */
function withTools(source: Source | undefined, specs: readonly ToolSpec[]): Source {
  const [alone] = metaSources(specs);
  if (source === undefined && alone !== undefined) return alone;
  const { start, ...rest } = source as Source; // there are specs, so one of both exists
  return {
    ...rest,
    async start(...parts) {
      const live = await start(...parts);
      const known = new Set(live.specs().map(({ name }) => name));
      const added = specs.filter(({ name }) => !known.has(name));
      return { ...live, specs: () => [...live.specs(), ...added] };
    },
  };
}
