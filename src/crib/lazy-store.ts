import type { Store } from '../core/store.ts';
import { messageOf } from '../core/tool-error.ts';

/** A store whose stored specs tell of changes that were made through it. */
export interface LazyStore extends Store {
  readonly specs: Store['specs'] & { onChange(listener: () => void): () => void };
}

/** A store that is opened by its first use: most commands never need one. */
export function lazyStore(open: () => Promise<Store>): LazyStore {
  const listeners = new Set<() => void>();
  const announce = <T>(result: T): T => {
    for (const listener of listeners) listener();
    return result;
  };
  let opening: Promise<Store> | undefined;
  const opened = (): Promise<Store> => {
    // A store that could not be opened is tried again by the next use.
    opening ??= open().catch((cause) => {
      opening = undefined;
      throw cause;
    });
    return opening;
  };
  return {
    specs: {
      list: async () => (await opened()).specs.list(),
      put: async (spec, by) => announce(await (await opened()).specs.put(spec, by)),
      remove: async (name, by) => announce(await (await opened()).specs.remove(name, by)),
      history: async (name) => (await opened()).specs.history(name),
      version: async () => (await opened()).specs.version(),
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    lists: {
      get: async (source) => (await opened()).lists.get(source),
      put: async (source, list) => (await opened()).lists.put(source, list),
    },
    activeSets: {
      get: async (profile) => (await opened()).activeSets.get(profile),
      put: async (profile, names, by) => (await opened()).activeSets.put(profile, names, by),
    },
    async status() {
      try {
        return await (await opened()).status();
      } catch (cause) {
        return { engine: 'sqlite', location: 'not opened', reachable: false, problem: messageOf(cause), warnings: [] };
      }
    },
    close: async () => (await opening)?.close(),
  };
}
