import { grown } from './grow.ts';

/** Gives tools small numbers, which are used again, and knows which texts each was indexed with. */
export interface ToolIds {
  /** How many tools there are. */
  readonly size: number;
  isUsed(id: number): boolean;
  find(name: string): number | undefined;
  name(id: number): string;
  fingerprint(id: number): number;
  /** By which it was known before it was parsed; `NO_MARK` where nobody knows. */
  mark(id: number): number;
  setMark(id: number, mark: number): void;
  take(name: string, fingerprint: number, mark: number): number;
  release(id: number): void;
  /** Those whose name is this one but for case. */
  named(lowerCase: string): readonly number[];
  entries(): KeptTools;
}

/** Tools as a snapshot knows them, by number: their names and what was searched of them; a free number has no name. */
export interface KeptTools {
  readonly names: readonly (string | null)[];
  readonly fingerprints: Float64Array;
  readonly marks: Float64Array;
}

export const NO_MARK = 0;

export function createToolIds(kept?: KeptTools): ToolIds {
  const names: (string | null)[] = kept === undefined ? [] : [...kept.names];
  let fingerprints = new Float64Array(Math.max(64, names.length));
  let marks = new Float64Array(fingerprints.length);
  if (kept !== undefined) {
    fingerprints.set(kept.fingerprints);
    marks.set(kept.marks);
  }
  const free: number[] = [];
  // Tools mostly come in the order they were kept in; the map is made for the first that does not.
  let ids: Map<string, number> | undefined;
  let expected = 0;
  // Made by the first request that may name a tool.
  let byLowerCase: Map<string, readonly number[]> | undefined;
  const noteLowerCase = (name: string, id: number, byName: Map<string, readonly number[]>) => {
    const lowerCase = name.toLowerCase();
    const others = byName.get(lowerCase);
    byName.set(lowerCase, others === undefined ? [id] : [...others, id]);
  };
  names.forEach((name, id) => {
    if (name === null) free.push(id);
  });
  function byName(): ReadonlyMap<string, number> {
    ids ??= new Map(names.flatMap((name, id) => (name === null ? [] : [[name, id]])));
    return ids;
  }
  return {
    get size() {
      return names.length - free.length;
    },
    isUsed: (id) => (names[id] ?? null) !== null,
    find(name) {
      const id = names[expected] === name ? expected : byName().get(name);
      if (id !== undefined) expected = id + 1;
      return id;
    },
    name: (id) => names[id] ?? '',
    fingerprint: (id) => fingerprints[id] ?? 0,
    mark: (id) => marks[id] ?? NO_MARK,
    setMark(id, mark) {
      marks[id] = mark;
    },
    take(name, fingerprint, mark) {
      const id = free.pop() ?? names.length;
      names[id] = name;
      if (id >= fingerprints.length) {
        fingerprints = grown(fingerprints, id * 2);
        marks = grown(marks, id * 2);
      }
      fingerprints[id] = fingerprint;
      marks[id] = mark;
      ids?.set(name, id);
      if (byLowerCase !== undefined) noteLowerCase(name, id, byLowerCase);
      return id;
    },
    release(id) {
      const name = names[id] ?? '';
      const lowerCase = name.toLowerCase();
      const others = byLowerCase?.get(lowerCase)?.filter((other) => other !== id) ?? [];
      if (others.length === 0) byLowerCase?.delete(lowerCase);
      else byLowerCase?.set(lowerCase, others);
      ids?.delete(name);
      names[id] = null;
      free.push(id);
    },
    named(lowerCase) {
      if (byLowerCase === undefined) {
        byLowerCase = new Map();
        for (const [name, id] of byName()) noteLowerCase(name, id, byLowerCase);
      }
      return byLowerCase.get(lowerCase) ?? [];
    },
    entries: () => ({
      names,
      fingerprints: fingerprints.subarray(0, names.length),
      marks: marks.subarray(0, names.length),
    }),
  };
}
