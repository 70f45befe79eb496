import { META_SOURCE } from '../../core/meta-tools.ts';
import type { ProfileSet } from '../../core/ports/generation.ts';
import type { Source } from '../../core/source.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';

/** The source of the tools that the crib itself brings; none for none. */
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

/** True if some profile is not shown everything. */
export function someoneSearches({ byName, usual }: ProfileSet): boolean {
  return [...byName.values(), usual].some(({ expose }) => expose === 'search');
}
