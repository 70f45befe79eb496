import type { JsonObject } from './json.ts';

/** What must outlive the process. Whatever cannot be read or written rejects with a `ToolcribError` of code `store_unavailable`. */
export interface Store {
  readonly specs: StoredSpecs;
  readonly lists: StoredLists;
  readonly activeSets: StoredActiveSets;
  /** Where it is and whether it answers; never rejects. */
  status(): Promise<StoreStatus>;
  /** Waits for what is being written, then lets go; a second time does nothing. */
  close(): Promise<void>;
}

/** Specs that people edit through a door, with their history. */
export interface StoredSpecs {
  /** All of them, by name. */
  list(): Promise<readonly StoredSpec[]>;
  /** Adds or replaces the spec of this name; one that says the same leaves no trace in the history. */
  put(spec: JsonObject, by: string): Promise<'added' | 'changed' | 'unchanged'>;
  /** False if there was none. */
  remove(name: string, by: string): Promise<boolean>;
  /** Every change of one name, oldest first; removed specs keep theirs. */
  history(name: string): Promise<readonly SpecChange[]>;
  /** A token that differs after every change, whichever process made it. */
  version(): Promise<string>;
}

/** A spec as it was written, who wrote it and when. */
export interface StoredSpec {
  readonly name: string;
  readonly spec: JsonObject;
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** One change of a stored spec; `spec` is what was written, or what was removed. */
export interface SpecChange {
  readonly what: 'added' | 'changed' | 'removed';
  readonly spec: JsonObject;
  readonly by: string;
  readonly at: number;
}

/** The last list of each source that could be fetched, for the time when it cannot. */
export interface StoredLists {
  get(source: string): Promise<StoredList | undefined>;
  put(source: string, list: StoredList): Promise<void>;
}

/** What a source listed at one moment; `hash` says whether a later list is the same. */
export interface StoredList {
  readonly hash: string;
  readonly specs: readonly JsonObject[];
  readonly at: number;
}

/** The bundles an operator made active for a profile. */
export interface StoredActiveSets {
  get(profile: string): Promise<StoredActiveSet | undefined>;
  put(profile: string, names: readonly string[], by: string): Promise<void>;
}

/** The active bundles of a profile, who chose them and when. */
export interface StoredActiveSet {
  readonly names: readonly string[];
  readonly by: string;
  readonly at: number;
}

/** Where a store is and how it does; `location` never carries a password. */
export interface StoreStatus {
  readonly engine: 'memory' | 'sqlite' | 'postgres';
  readonly location: string;
  readonly reachable: boolean;
  /** Why it is not reachable. */
  readonly problem?: string;
  readonly warnings: readonly string[];
}
