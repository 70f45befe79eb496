/** Functions that want to be told of something. */
export interface Listeners<Values extends readonly unknown[]> {
  /** Returns how to stop listening. */
  readonly add: (listener: (...values: Values) => void) => () => void;
  tell(...values: Values): void;
  clear(): void;
}

/** Nobody listens yet. */
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
