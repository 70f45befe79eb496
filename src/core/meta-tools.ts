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
