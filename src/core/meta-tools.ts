import type { Profile } from './profile.ts';

/** The source of the tools that the crib itself brings. Whoever sees any tool of a profile sees these, too. */
export const META_SOURCE = 'toolcrib';

/** Names of the crib's own tools. No tool of another source may have them, whether the crib brings that tool or not. */
export const RESERVED_NAMES: readonly string[] = [
  'search_tools',
  'call_tool',
  'execute_script',
  'read_result',
  'delegate',
  'list_bundles',
];

const LIKE_RESERVED = new RegExp(`^[_-]*(?:${RESERVED_NAMES.join('|').replaceAll('_', '[_-]*')})[_-]*$`, 'i');

/** True for a reserved name, and for one that a model could take for it: letter case, "-" and "_" make no other name. */
export function isReservedName(name: string): boolean {
  return LIKE_RESERVED.test(name);
}

/** Tools for a model that searches, instead of being shown everything. */
const FOR_SEARCH: readonly string[] = ['search_tools', 'call_tool', 'list_bundles'];

/** True for a tool of the crib itself that a profile with this exposure has no use for. */
export function isOutOfUse(name: string, expose: Profile['expose']): boolean {
  return expose !== 'search' && FOR_SEARCH.includes(name);
}
