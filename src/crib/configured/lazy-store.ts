import type { Store } from '../../core/ports/store.ts';
import { messageOf } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';

/** A store whose stored specs tell of changes that were made through it. */
export interface LazyStore extends Store {
  readonly specs: Store['specs'] & { onChange(listener: () => void): () => void };
}

/** The parts of a store: objects whose methods all answer with a promise, but for those that take a listener. */
type PartName = Exclude<keyof Store, 'status' | 'requireWritable' | 'close'>;

/** A store that is opened by its first use: most commands never need one. */
export function lazyStore(open: () => Promise<Store>): LazyStore {
  const listeners = createListeners();
  const announce = <T>(result: T): T => {
    listeners.tell();
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
  const specs = lazyPart(opened, 'specs');
  const own: Pick<LazyStore, 'specs' | Exclude<keyof Store, PartName>> = {
    specs: {
      list: specs.list,
      history: specs.history,
      version: specs.version,
      put: async (spec, by) => announce(await specs.put(spec, by)),
      putAll: async (list, by) => announce(await specs.putAll(list, by)),
      remove: async (name, by) => announce(await specs.remove(name, by)),
      onChange: listeners.add,
    },
    async status() {
      try {
        return await (await opened()).status();
      } catch (cause) {
        return { engine: 'sqlite', location: 'not opened', reachable: false, problem: messageOf(cause), warnings: [] };
      }
    },
    requireWritable: async () => (await opened()).requireWritable(),
    close: async () => (await opening?.catch(() => undefined))?.close(), // one that cannot be opened need not be closed
  };
  const parts: Partial<Record<PartName, unknown>> = own;
  return new Proxy(own as LazyStore, {
    // Symbols and `then` are what the language asks for, not parts of ours.
    get(_own, name) {
      if (typeof name !== 'string' || name === 'then') return undefined;
      parts[name as PartName] ??= lazyPart(opened, name as PartName); // every other member is a part
      return parts[name as PartName];
    },
  });
}

/** A part whose methods open the store first. */
function lazyPart<Name extends PartName>(opened: () => Promise<Store>, name: Name): Store[Name] {
  const call =
    (method: string) =>
    async (...values: readonly unknown[]) => {
      const part = (await opened())[name] as unknown as Record<string, (...values: readonly unknown[]) => unknown>; // its methods, by name
      return part[method]?.(...values);
    };
  const listen = (method: string) => (listener: unknown) => {
    const subscribed = call(method)(listener).catch(() => undefined); // a store that is not there tells nothing
    return () => void subscribed.then((stop) => typeof stop === 'function' && stop());
  };
  const methods = new Map<string, unknown>();
  return new Proxy({} as Store[Name], {
    // Symbols and `then` are what the language asks for, not methods of ours.
    get(_part, method) {
      if (typeof method !== 'string' || method === 'then') return undefined;
      if (!methods.has(method)) methods.set(method, method.startsWith('on') ? listen(method) : call(method));
      return methods.get(method);
    },
  });
}
