/** A bounded memory of what was found out about tokens, by the hash of each. */
export interface TokenCache<Value> {
  /** What was found out, while it holds. */
  get(hash: string, now: number): Value | undefined;
  set(hash: string, value: Value, until: number): void;
  forget(hash: string): void;
}

/** Forgets the oldest when it is full. */
export function createTokenCache<Value>(maxEntries: number): TokenCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();
  return {
    get(hash, now) {
      const entry = entries.get(hash);
      if (entry === undefined) return undefined;
      if (now < entry.until) return entry.value;
      entries.delete(hash);
      return undefined;
    },
    set(hash, value, until) {
      entries.delete(hash);
      const oldest = entries.size >= maxEntries ? entries.keys().next() : undefined;
      if (oldest?.done === false) entries.delete(oldest.value);
      entries.set(hash, { value, until });
    },
    forget: (hash) => void entries.delete(hash),
  };
}
