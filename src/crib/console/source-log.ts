import type { Changes } from '../../core/catalog.ts';
import type { Engine } from '../engine.ts';
import type { SourceReport } from '../sources/source-slot.ts';

/** A change of a source: its state after the change, or the names of tools that it added, removed and changed. */
interface SourceChange extends Partial<Changes> {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly state?: SourceReport['state'];
  readonly reason?: string;
  /** Number of changed tools, if their names are cut. */
  readonly count?: number;
}

/** The changes of sources that a crib saw. */
export interface SourceLog {
  /** Records changes from now on. Returns a function that stops it. */
  watch(): () => void;
  /** The newest changes of a source, newest first, and since when they are recorded. */
  of(source: string): { readonly since: number | undefined; readonly changes: readonly SourceChange[] };
}

/** Changes that are kept of each source. */
const MOST_CHANGES = 50;
/** Names of tools that a change keeps of each kind. */
const MOST_NAMES = 50;

/** Creates the log. It is in memory, because each process has a state of its own for each source. */
export function createSourceLog({ generation, onChange, poller, sources }: Engine): SourceLog {
  const kept = new Map<string, readonly SourceChange[]>();
  let since: number | undefined;
  let states = new Map<string, string>();
  const add = (source: string, change: Omit<SourceChange, 'at'>) =>
    kept.set(source, [{ at: Date.now(), ...change }, ...(kept.get(source) ?? [])].slice(0, MOST_CHANGES));
  const look = async () => {
    const reports = sources();
    const now = new Map(reports.map((report) => [report.name, stateOf(report)]));
    for (const { name, state, reason } of reports)
      if (states.has(name) && states.get(name) !== now.get(name))
        add(name, { state, ...(reason !== undefined && state !== 'starting' && { reason }) });
    for (const name of kept.keys()) if (!now.has(name)) kept.delete(name); // it is no longer configured
    states = now;
  };
  return {
    watch() {
      since ??= Date.now();
      let { catalog } = generation();
      void look();
      const polling = poller.subscribe(look);
      const stopListening = onChange((changes) => {
        const before = catalog;
        catalog = generation().catalog;
        const ownerOf = (tool: string) => (catalog.get(tool) ?? before.get(tool))?.source ?? '';
        for (const [source, own] of bySource(changes, ownerOf)) if (states.has(source)) add(source, own);
      });
      return () => {
        polling.stop();
        stopListening();
      };
    },
    of: (source) => ({ since, changes: kept.get(source) ?? [] }),
  };
}

/** The state as text. A starting source has a new reason with each line of its program. */
function stateOf({ state, reason }: SourceReport): string {
  return state === 'starting' ? state : `${state} ${reason ?? ''}`;
}

function bySource(changes: Changes, ownerOf: (tool: string) => string): ReadonlyMap<string, Omit<SourceChange, 'at'>> {
  const rows = (['added', 'removed', 'changed'] as const).flatMap((kind) =>
    changes[kind].map((tool) => ({ kind, tool, source: ownerOf(tool) })),
  );
  const found = [...Map.groupBy(rows, ({ source }) => source)].map(([source, own]) => {
    const named = Map.groupBy(own, ({ kind }) => kind);
    const names = [...named].map(([kind, list]) => [kind, list.slice(0, MOST_NAMES).map(({ tool }) => tool)] as const);
    const isCut = [...named.values()].some((list) => list.length > MOST_NAMES);
    return [source, { ...Object.fromEntries(names), ...(isCut && { count: own.length }) }] as const;
  });
  return new Map(found);
}
