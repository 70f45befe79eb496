import { crc32 } from 'node:zlib';
import { type ToolSpec, UNREAD } from '../core/tool-spec.ts';
import { grown } from './byte-sections.ts';
import { eachText, FIELDS, type TakeText } from './search-texts.ts';

/** Assigns small numbers to tools, which are reused, and stores the fingerprint of each tool's indexed texts. */
export interface ToolIds {
  /** Number of tools. */
  readonly size: number;
  isUsed(id: number): boolean;
  find(name: string): number | undefined;
  name(id: number): string;
  fingerprint(id: number): number;
  /** The mark of an unparsed spec; `NO_MARK` if unknown. */
  mark(id: number): number;
  setMark(id: number, mark: number): void;
  take(name: string, fingerprint: number, mark: number): number;
  release(id: number): void;
  /** The ids of tools with this name, ignoring case. */
  named(lowerCase: string): readonly number[];
  entries(): KeptTools;
}

/** Tools in a snapshot, by number: names and fingerprints; a free number has no name. */
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
  // Tools mostly arrive in the stored order; the map is created for the first one that does not.
  let ids: Map<string, number> | undefined;
  let expected = 0;
  // Created by the first request that may name a tool.
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

/** A hash of texts and their fields. */
export interface Fingerprint {
  readonly take: TakeText;
  value(): number;
}

/** Creates the fingerprint of no texts. */
export function createFingerprint(): Fingerprint {
  let all = '';
  let marks = 0;
  return {
    take(place, text) {
      all += text;
      marks = Math.imul(marks ^ (text.length * (FIELDS.length + 1) + place), 0x9e3779b1); // the lengths and fields of texts count
    },
    // Native code, because a start with ten thousand tools waits for it.
    value: () => (marks >>> 11) * 2 ** 32 + crc32(all),
  };
}

/** The fingerprint of a tool's searched texts. */
export function fingerprintSpec(spec: ToolSpec, bundles: readonly string[] = []): number {
  const { take, value } = createFingerprint();
  eachText(spec, bundles, take);
  return value();
}

/** A number for the searched texts of a spec that is not parsed yet; `NO_MARK` for other specs. */
export type MarkSpec = (spec: ToolSpec, bundles?: readonly string[]) => number;

/** Creates a marker. It caches the last bundles, because consecutive tools mostly have the same. */
export function createMarks(): MarkSpec {
  let last: readonly string[] = [];
  let lastMark = markBundles(last);
  return (spec, bundles = []) => {
    const unread = spec[UNREAD];
    if (unread === undefined) return NO_MARK;
    if (!isSame(bundles, last)) {
      last = bundles;
      lastMark = markBundles(bundles);
    }
    return unread.mark + lastMark;
  };
}

/** The mark of bundle texts; small enough that the mark of a spec can be added without loss. */
function markBundles(bundles: readonly string[]): number {
  const { take, value } = createFingerprint();
  for (const text of bundles) take(0, text);
  return value() % 2 ** 52;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some === others || (some.length === others.length && some.every((text, place) => text === others[place]));
}
