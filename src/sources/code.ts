import { CODE, type LiveSource, type Source } from '../core/source.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createListeners } from '../system/listeners.ts';

/** Tools passed to the crib in code. They survive every reload. */
export interface CodeSource extends Source {
  get(name: string): ToolSpec | undefined;
  add(specs: readonly ToolSpec[]): void;
  remove(names: readonly string[]): void;
}

/** Creates the source of tools defined in code. */
export function code(initial: readonly ToolSpec[]): CodeSource {
  const byName = new Map(initial.map((spec) => [spec.name, spec]));
  const listeners = createListeners();
  const live: LiveSource = {
    specs: () => [...byName.values()],
    onChange: listeners.add,
    status: () => ({ state: 'ready' }),
    close: async () => listeners.clear(),
  };
  return {
    name: CODE.name,
    trust: true,
    isLocal: true,
    bundle: false,
    start: async () => live,
    get: (name) => byName.get(name),
    add(specs) {
      for (const spec of specs) byName.set(spec.name, spec);
      listeners.tell();
    },
    remove(names) {
      for (const name of names) byName.delete(name);
      listeners.tell();
    },
  };
}
