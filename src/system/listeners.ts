/** A set of listeners. */
export interface Listeners<Values extends readonly unknown[]> {
  /** Returns a function that removes the listener. */
  readonly add: (listener: (...values: Values) => void) => () => void;
  tell(...values: Values): void;
  clear(): void;
}

/** Creates an empty set of listeners. */
export function createListeners<Values extends readonly unknown[] = []>(): Listeners<Values> {
  const listeners = new Set<(...values: Values) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell(...values) {
      for (const listener of listeners) listener(...values);
    },
    clear: () => listeners.clear(),
  };
}
