import type { Profile } from './profile.ts';

/** The source of the tools that the crib itself brings. Whoever sees any tool of a profile sees these, too. */
export const META_SOURCE = 'toolcrib';

/** Names that no tool of somebody else may have. */
export const RESERVED_NAMES: readonly string[] = [
  'search_tools',
  'call_tool',
  'execute_script',
  'read_result',
  'delegate',
  'list_bundles',
];

/** Tools for a model that searches, instead of being shown everything. */
const FOR_SEARCH: readonly string[] = ['search_tools', 'call_tool', 'list_bundles'];

/** True for a tool of the crib itself that a profile with this exposure has no use for. */
export function isOutOfUse(name: string, expose: Profile['expose']): boolean {
  return expose !== 'search' && FOR_SEARCH.includes(name);
}
