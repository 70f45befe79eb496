/** Numbers of a snapshot whose tools nobody has added yet: they may be gone from the catalog. */
export interface Unconfirmed {
  delete(id: number): void;
  all(): readonly number[];
}

/** All that have a name. A byte each: a set of ten thousand takes a start longer than reading them. */
export function createUnconfirmed(names: readonly (string | null)[]): Unconfirmed {
  const isOpen = new Uint8Array(names.length);
  let count = 0;
  names.forEach((name, id) => {
    if (name === null) return;
    isOpen[id] = 1;
    count += 1;
  });
  return {
    delete(id) {
      if (isOpen[id] !== 1) return;
      isOpen[id] = 0;
      count -= 1;
    },
    all() {
      const ids: number[] = [];
      if (count === 0) return ids;
      for (let id = 0; id < isOpen.length; id += 1) if (isOpen[id] === 1) ids.push(id);
      return ids;
    },
  };
}
