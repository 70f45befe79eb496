/**
 * A map of values that come and go with each call. When a `Map` makes room, the table that it leaves points to its new
 * one. Once a left table is old, the garbage collector of young objects takes all later tables, and what is in them,
 * for living: every call would be copied, and kept until the whole heap is collected. So an entry that is removed
 * lets go of its value. A `Set` of objects has the same problem.
 */
export class BriefMap<Key extends string | number, Value> {
  readonly #entries = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#entries.size;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, { value });
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Returns true if there was an entry. */
  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    entry.value = undefined;
    return this.#entries.delete(key);
  }

  values(): readonly Value[] {
    return [...this.#entries.values()].map(({ value }) => value as Value); // only removed entries have none
  }
}

/** A set of values that come and go with each call. */
export class BriefSet<Value> {
  readonly #values = new BriefMap<number, Value>();
  #last = 0;

  get size(): number {
    return this.#values.size;
  }

  /** Returns a function that removes the value. */
  add(value: Value): () => void {
    const key = ++this.#last;
    this.#values.set(key, value);
    return () => void this.#values.delete(key);
  }

  values(): readonly Value[] {
    return this.#values.values();
  }
}
