import type { JsonObject } from '../json.ts';
import type { StoredApprovals } from './stored-approvals.ts';
import type { StoredAudit } from './stored-audit.ts';
import type { StoredClaims } from './stored-claims.ts';
import type { StoredKeys } from './stored-keys.ts';
import type { StoredBudgets, StoredRates } from './stored-limits.ts';
import type { StoredRepeats, StoredResults } from './stored-results.ts';

/** What must outlive the process. Whatever cannot be read or written rejects with a `ToolcribError` of code `store_unavailable`. */
export interface Store {
  readonly specs: StoredSpecs;
  readonly lists: StoredLists;
  readonly activeSets: StoredActiveSets;
  readonly indexes: StoredIndexes;
  readonly snapshots: StoredSnapshots;
  readonly budgets: StoredBudgets;
  /** On PostgreSQL only: elsewhere nobody shares them. */
  readonly rates: StoredRates;
  readonly results: StoredResults;
  readonly repeats: StoredRepeats;
  readonly keys: StoredKeys;
  readonly approvals: StoredApprovals;
  readonly claims: StoredClaims;
  readonly audit: StoredAudit;
  readonly sealKeys: StoredSealKeys;
  /** Where it is and whether it answers; never rejects. */
  status(): Promise<StoreStatus>;
  /** Writes something small; rejects if it cannot be written. */
  requireWritable(): Promise<void>;
  /** Waits for what is being written, then lets go; a second time does nothing. */
  close(): Promise<void>;
}

/** Specs that people edit through a door, with their history. */
export interface StoredSpecs {
  /** All of them, by name. */
  list(): Promise<readonly StoredSpec[]>;
  /** Adds or replaces the spec of this name; one that says the same leaves no trace in the history. */
  put(spec: JsonObject, by: string): Promise<'added' | 'changed' | 'unchanged'>;
  /** The same for several: all of them or none. */
  putAll(specs: readonly JsonObject[], by: string): Promise<readonly ('added' | 'changed' | 'unchanged')[]>;
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
  /** What its source wants to be told with it, such as how to ask whether it has changed. */
  readonly about?: JsonObject;
}

/** What a source needs of a store: a place for the last list that came whole. */
export interface KeptListPort {
  get(): Promise<StoredList | undefined>;
  put(list: StoredList): Promise<void>;
}

/** What was found in large files, so that they need not be parsed again. */
export interface StoredIndexes {
  get(file: string): Promise<StoredIndex | undefined>;
  /** Replaces what was known of the file. */
  put(file: string, index: StoredIndex): Promise<void>;
}

/** The index of a file; `hash` says of which content. */
export interface StoredIndex {
  readonly hash: string;
  readonly text: string;
}

/** What a part of the crib made and the next process can take up, as bytes that it checks itself. */
export interface StoredSnapshots {
  get(name: string): Promise<Uint8Array | undefined>;
  put(name: string, bytes: Uint8Array): Promise<void>;
}

/** Keys that only the crib and its replicas have, for texts that others carry. */
export interface StoredSealKeys {
  /** 32 random bytes as base64, made by the first who asks; the same for everybody who shares the store. */
  get(name: string): Promise<string>;
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
