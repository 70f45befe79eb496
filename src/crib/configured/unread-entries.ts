import { NAME_PATTERN } from '../../config/schema-node.ts';
import type { Source } from '../../core/source.ts';
import { type DeclaredSource, inWords, type LoadedConfig, reasonOf } from '../config/loaded-config.ts';

/** A source that was created from an entry. */
export interface KnownSource {
  readonly text: string;
  readonly source: Source;
  /** The entry that it comes from. */
  readonly from: string;
  /** True for a placeholder of an invalid entry. */
  readonly isUnread?: boolean;
}

/** The previous sources that keep running for an invalid entry: its own, or those of a file of servers. */
export function standIns(
  { name, from }: DeclaredSource,
  loaded: LoadedConfig,
  known: ReadonlyMap<string, KnownSource>,
): readonly Source[] {
  const problem = loaded.problems.find(({ source }) => source === name);
  if (problem === undefined) return [];
  return [...known.values()]
    .filter(({ isUnread }) => isUnread !== true)
    .filter(({ source, from: home }) => source.name === name || (home === name && from === name))
    .map(({ source }) => source)
    .filter((source) => source.onChange !== 'stop' && source.mayStay?.() !== false)
    .map((source): Source => ({ ...source, mistake: inWords(problem) }));
}

/** The mistakes of an entry with their positions. */
export function whyUnread(name: string, { problems }: LoadedConfig): string {
  return problems
    .filter(({ source }) => source === name)
    .map(reasonOf)
    .join(' ');
}

/** A failed source without tools, so that listings show the invalid entry and profiles may name its bundle. */
export function unreadSource(name: string, reason: string): Source {
  const hasHome = new RegExp(NAME_PATTERN).test(name);
  return {
    name,
    ...(!hasHome && { bundle: false }),
    start: async () => ({
      specs: () => [],
      onChange: () => () => {},
      status: () => ({ state: 'failed', reason }),
      close: async () => {},
    }),
  };
}
