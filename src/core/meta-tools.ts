import type { Profile } from './profile.ts';

/** The source of the crib's own tools. A caller who sees any tool of a profile sees these, too. */
export const META_SOURCE = 'toolcrib';

/** Names of the crib's own tools. Tools of other sources cannot have them, even if the crib does not list that tool. */
export const RESERVED_NAMES: readonly string[] = [
  'search_tools',
  'call_tool',
  'execute_script',
  'read_result',
  'delegate',
  'list_bundles',
];

const LIKE_RESERVED = new RegExp(`^[_-]*(?:${RESERVED_NAMES.join('|').replaceAll('_', '[_-]*')})[_-]*$`, 'i');

/** True for a reserved name, also with other letter case, "-" or "_": a model could confuse them. */
export function isReservedName(name: string): boolean {
  return LIKE_RESERVED.test(name);
}

/** The `expose` modes in which each tool of the crib is of use; the others are of use in all. */
const MODES: Readonly<Record<string, readonly NonNullable<Profile['expose']>[]>> = {
  search_tools: ['search', 'script'],
  call_tool: ['search'],
  list_bundles: ['search'],
  execute_script: ['script'],
};

/** True for a tool of the crib that this profile does not use. */
export function isOutOfUse(name: string, { expose = 'all', delegate }: Pick<Profile, 'expose' | 'delegate'>): boolean {
  if (name === 'delegate') return delegate === undefined;
  return MODES[name]?.includes(expose) === false;
}
