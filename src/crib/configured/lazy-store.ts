import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { KeptListPort, Store, StoredList } from '../../core/ports/store.ts';
import { type Redact, redactData } from '../../core/redact-result.ts';
import { messageOf } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';

/** A store that notifies listeners of changes to its specs made through it. */
export interface LazyStore extends Store {
  readonly specs: Store['specs'] & { onChange(listener: () => void): () => void };
}

/** The parts of a store. All their methods return a promise, except those that take a listener. */
type PartName = Exclude<keyof Store, 'status' | 'requireWritable' | 'close'>;

/** Creates a store that is opened at its first use, as most commands do not need it. `redact` removes secrets from lists of sources. */
export function lazyStore(open: () => Promise<Store>, redact: Redact = (text) => text): LazyStore {
  const listeners = createListeners();
  const announce = <T>(result: T): T => {
    listeners.tell();
    return result;
  };
  let opening: Promise<Store> | undefined;
  const opened = (): Promise<Store> => {
    // After a failure the next use tries again.
    opening ??= open().catch((cause) => {
      opening = undefined;
      throw cause;
    });
    return opening;
  };
  const [specs, lists] = [lazyPart(opened, 'specs'), lazyPart(opened, 'lists')];
  const own: Pick<LazyStore, 'specs' | 'lists' | Exclude<keyof Store, PartName>> = {
    specs: {
      list: specs.list,
      history: specs.history,
      version: specs.version,
      put: async (spec, by) => announce(await specs.put(spec, by)),
      putAll: async (list, by) => announce(await specs.putAll(list, by)),
      remove: async (name, by) => announce(await specs.remove(name, by)),
      onChange: listeners.add,
    },
    lists: { get: lists.get, put: (source, list) => lists.put(source, withoutSecrets(list, redact)) },
    async status() {
      try {
        return await (await opened()).status();
      } catch (cause) {
        return { engine: 'sqlite', location: 'not opened', reachable: false, problem: messageOf(cause), warnings: [] };
      }
    },
    requireWritable: async () => (await opened()).requireWritable(),
    close: async () => (await opening?.catch(() => undefined))?.close(), // a store that failed to open need not be closed
  };
  const parts: Partial<Record<PartName, unknown>> = own;
  return new Proxy(own as LazyStore, {
    // JavaScript itself reads symbols and `then`.
    get(_own, name) {
      if (typeof name !== 'string' || name === 'then') return undefined;
      parts[name as PartName] ??= lazyPart(opened, name as PartName); // every other name is a part
      return parts[name as PartName];
    },
  });
}

/**
 * A list without secrets: it may be shown by a process that does not know their values, because a secret was rotated or
 * cannot be read. Tools with a secret in their name are left out. Without its hash and validators the list counts as
 * changed, so it is only shown until the source answers.
 */
function withoutSecrets(list: StoredList, redact: Redact): StoredList {
  const { specs, about = {} } = list;
  const text = JSON.stringify([specs, about]);
  if (redact(text) === text) return list;
  const { validators: _validators, ...rest } = redactData(about, redact);
  const clean = specs.filter(({ name }) => typeof name !== 'string' || redact(name) === name);
  return { ...list, hash: `redacted ${list.hash}`, specs: redactData(clean, redact), about: rest };
}

/** Creates a part whose methods open the store first. */
function lazyPart<Name extends PartName>(opened: () => Promise<Store>, name: Name): Store[Name] {
  const call =
    (method: string) =>
    async (...values: readonly unknown[]) => {
      const part = (await opened())[name] as unknown as Record<string, (...values: readonly unknown[]) => unknown>; // methods by name
      return part[method]?.(...values);
    };
  const listen = (method: string) => (listener: unknown) => {
    const subscribed = call(method)(listener).catch(() => undefined); // an unavailable store has no events
    return () => void subscribed.then((stop) => typeof stop === 'function' && stop());
  };
  const methods = new Map<string, unknown>();
  return new Proxy({} as Store[Name], {
    // JavaScript itself reads symbols and `then`.
    get(_part, method) {
      if (typeof method !== 'string' || method === 'then') return undefined;
      if (!methods.has(method)) methods.set(method, method.startsWith('on') ? listen(method) : call(method));
      return methods.get(method);
    },
  });
}

/** Storage for the last list of a source. Only a hash of its address is stored, as the address may contain a credential. */
export function keptList(name: string, address: unknown, { lists }: LazyStore): KeptListPort {
  const from = () => hash('sha256', canonicalJson(address)); // computed lazily: few sources store a list
  return {
    async get() {
      const list = await lists.get(name);
      return list?.about?.from === from() ? list : undefined;
    },
    put: (list) => lists.put(name, { ...list, about: { ...list.about, from: from() } }),
  };
}
