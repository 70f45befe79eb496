import type { LiveSource, Source } from '../core/source.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

/** Tools that were handed to the crib itself; they survive every reload. */
export interface CodeSource extends Source {
  get(name: string): ToolSpec | undefined;
  add(specs: readonly ToolSpec[]): void;
  remove(names: readonly string[]): void;
}

/** The source of tools in code. */
export function code(initial: readonly ToolSpec[]): CodeSource {
  const byName = new Map(initial.map((spec) => [spec.name, spec]));
  const listeners = new Set<() => void>();
  const announce = () => {
    for (const listener of listeners) listener();
  };
  const live: LiveSource = {
    specs: () => [...byName.values()],
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => ({ state: 'ready' }),
    close: async () => listeners.clear(),
  };
  return {
    name: 'code',
    trust: true,
    isLocal: true,
    bundle: false,
    start: async () => live,
    get: (name) => byName.get(name),
    add(specs) {
      for (const spec of specs) byName.set(spec.name, spec);
      announce();
    },
    remove(names) {
      for (const name of names) byName.delete(name);
      announce();
    },
  };
}
