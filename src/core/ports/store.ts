import type { JsonObject } from '../json.ts';
import type { ToolResult } from '../tool-result.ts';
import type { StoredApproval, StoredApprovals } from './stored-approvals.ts';
import type { StoredAudit } from './stored-audit.ts';
import type { StoredBudgets, StoredRates, StoredRepeats, StoredResults } from './stored-results.ts';

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

/** Claims of processes that share the store: an approval that was taken up, and an idempotency key whose call runs. */
export interface StoredClaims {
  /** Processes with claims that have not given a sign of life for longer than a living one takes between two. */
  silent(): Promise<readonly SilentProcess[]>;
  /**
   * Ends the claims of a process that is still as silent as it was: how their calls ended counts as unknown. Returns those
   * that this very call has ended. A process that was only frozen can still note the true end of each.
   */
  abandon(process: SilentProcess, resultOf: (approval: StoredApproval) => ToolResult): Promise<readonly LostClaim[]>;
}

/** A process and when it was last heard of, by the clock of the store. */
export interface SilentProcess {
  readonly id: string;
  readonly seenAt: number;
}

/** What is known of a call whose process is gone. */
export type LostClaim = LostApproval | LostRepeat;

interface LostApproval {
  readonly callId: string;
  /** When it was claimed, in milliseconds since 1970. */
  readonly at: number;
  readonly approval: StoredApproval;
}

interface LostRepeat {
  readonly callId: string;
  readonly at: number;
  /** The key that its call had taken. */
  readonly key: string;
}

/** API keys: whom they stand for, what they open, and the hash of each secret, never the secret. */
export interface StoredKeys {
  /** Adds a key; an id that is taken rejects. */
  add(key: NewKey, by: string): Promise<StoredKey>;
  /** All of them, oldest first; expired and revoked ones too. */
  list(): Promise<readonly StoredKey[]>;
  /** The key of this id as it is at this moment, whichever process changed it last. */
  find(id: string): Promise<FoundKey | undefined>;
  /** The first to revoke it is remembered. */
  revoke(id: string, by: string): Promise<'revoked' | 'already' | 'unknown'>;
  /** Notes that it was used; only if nobody noted that within the last `everyMs`. */
  noteUse(id: string, at: number, everyMs: number): Promise<void>;
}

/** What a key is made of. */
export interface NewKey {
  /** The part of the key that is no secret. */
  readonly id: string;
  /** SHA-256 of the secret, as hex. */
  readonly hash: string;
  /** What people call it. */
  readonly name: string;
  /** The id of the caller it stands for. */
  readonly caller: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** Profiles it is limited to, as globs; absent means those of its roles. */
  readonly profiles?: readonly string[];
  /** Milliseconds since 1970; absent means never. */
  readonly expiresAt?: number;
}

/** A key as it may be shown. */
export interface StoredKey extends Omit<NewKey, 'hash'> {
  readonly createdBy: string;
  readonly createdAt: number;
  readonly revokedBy?: string;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}

/** A key with what its secret is compared with. */
export type FoundKey = StoredKey & Pick<NewKey, 'hash'>;
