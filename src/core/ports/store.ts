import type { JsonObject } from '../json.ts';
import type { ToolResult } from '../tool-result.ts';
import type { StoredApproval, StoredApprovals } from './stored-approvals.ts';
import type { StoredAudit } from './stored-audit.ts';
import type { StoredDefinitions, StoredLabels } from './stored-definitions.ts';
import type { StoredJournals } from './stored-journals.ts';
import type { StoredBudgets, StoredRates, StoredRepeats, StoredResults } from './stored-results.ts';
import type { StoredSchedules } from './stored-schedules.ts';
import type { StoredStops } from './stored-stops.ts';
import type { LostTask, StoredTask, StoredTasks } from './stored-tasks.ts';

/** The persistent storage of a crib. Failed reads and writes reject with a `ToolcribError` of code `store_unavailable`. */
export interface Store {
  readonly specs: StoredSpecs;
  readonly lists: StoredLists;
  readonly activeSets: StoredActiveSets;
  readonly indexes: StoredIndexes;
  readonly snapshots: StoredSnapshots;
  readonly budgets: StoredBudgets;
  /** On PostgreSQL only: other stores are not shared. */
  readonly rates: StoredRates;
  readonly results: StoredResults;
  readonly repeats: StoredRepeats;
  readonly keys: StoredKeys;
  readonly approvals: StoredApprovals;
  readonly tasks: StoredTasks;
  readonly journals: StoredJournals;
  readonly claims: StoredClaims;
  readonly audit: StoredAudit;
  readonly sealKeys: StoredSealKeys;
  readonly stops: StoredStops;
  readonly schedules: StoredSchedules;
  readonly definitions: StoredDefinitions;
  readonly labels: StoredLabels;
  /** Location and availability; never rejects. */
  status(): Promise<StoreStatus>;
  /** Writes a small entry; rejects if that fails. */
  requireWritable(): Promise<void>;
  /** Waits for pending writes, then closes. Can be called twice. */
  close(): Promise<void>;
}

/** Specs edited through a door, with their history. */
export interface StoredSpecs {
  /** All of them, by name. */
  list(): Promise<readonly StoredSpec[]>;
  /** Adds or replaces a spec. An unchanged spec adds no history. */
  put(spec: JsonObject, by: string): Promise<'added' | 'changed' | 'unchanged'>;
  /** Puts several specs atomically. */
  putAll(specs: readonly JsonObject[], by: string): Promise<readonly ('added' | 'changed' | 'unchanged')[]>;
  /** False if the spec does not exist. */
  remove(name: string, by: string): Promise<boolean>;
  /** All changes of one name, oldest first, also of removed specs. */
  history(name: string): Promise<readonly SpecChange[]>;
  /** A token that changes with every change, by any process. */
  version(): Promise<string>;
}

/** A stored spec with its author and time. */
export interface StoredSpec {
  readonly name: string;
  readonly spec: JsonObject;
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** One change of a stored spec; `spec` is the written or removed one. */
export interface SpecChange {
  readonly what: 'added' | 'changed' | 'removed';
  readonly spec: JsonObject;
  readonly by: string;
  readonly at: number;
}

/** The last fetched list of each source, as fallback while the source is unavailable. */
export interface StoredLists {
  get(source: string): Promise<StoredList | undefined>;
  put(source: string, list: StoredList): Promise<void>;
}

/** The list of a source at one moment; equal lists have equal hashes. */
export interface StoredList {
  readonly hash: string;
  readonly specs: readonly JsonObject[];
  readonly at: number;
  /** Metadata of the source, such as an ETag. */
  readonly about?: JsonObject;
}

/** Storage for the last complete list of one source. */
export interface KeptListPort {
  get(): Promise<StoredList | undefined>;
  put(list: StoredList): Promise<void>;
}

/** Indexes of large files, so that they need not be parsed again. */
export interface StoredIndexes {
  get(file: string): Promise<StoredIndex | undefined>;
  /** Replaces the index of the file. */
  put(file: string, index: StoredIndex): Promise<void>;
}

/** The index of a file; `hash` identifies the content. */
export interface StoredIndex {
  readonly hash: string;
  readonly text: string;
}

/** Snapshots of parts of the crib, for the next process. Each part validates its own bytes. */
export interface StoredSnapshots {
  get(name: string): Promise<Uint8Array | undefined>;
  put(name: string, bytes: Uint8Array): Promise<void>;
}

/** Keys shared by the crib and its replicas, for sealing texts that clients carry. */
export interface StoredSealKeys {
  /** 32 random bytes as base64, created at the first use; the same for all processes with this store. */
  get(name: string): Promise<string>;
}

/** The bundles that an operator activated for a profile. */
export interface StoredActiveSets {
  get(profile: string): Promise<StoredActiveSet | undefined>;
  put(profile: string, names: readonly string[], by: string): Promise<void>;
}

/** The active bundles of a profile, with author and time. */
export interface StoredActiveSet {
  readonly names: readonly string[];
  readonly by: string;
  readonly at: number;
}

/** Location and state of a store; `location` never contains a password. */
export interface StoreStatus {
  readonly engine: 'memory' | 'sqlite' | 'postgres';
  readonly location: string;
  readonly reachable: boolean;
  /** The reason why it is not reachable. */
  readonly problem?: string;
  readonly warnings: readonly string[];
}

/** Claims of processes that share the store: claimed approvals and tasks, and idempotency keys of running calls. */
export interface StoredClaims {
  /** Processes with claims whose last heartbeat is older than the heartbeat interval allows. */
  silent(): Promise<readonly SilentProcess[]>;
  /**
   * Ends the claims of a process that is still silent: the outcome of its calls counts as unknown. Tasks whose tool may be
   * repeated are queued again, unless that has happened four times. Returns the claims that this call has ended. If the
   * process was only frozen, it can still store the real outcomes.
   */
  abandon(
    process: SilentProcess,
    resultOf: (lost: StoredApproval | StoredTask) => ToolResult,
  ): Promise<readonly LostClaim[]>;
}

/** A process and its last heartbeat, by the clock of the store. */
export interface SilentProcess {
  readonly id: string;
  readonly seenAt: number;
}

/** A call whose process is gone. */
export type LostClaim = LostApproval | LostTask | LostRepeat;

interface LostApproval {
  readonly callId: string;
  /** Time of the claim in milliseconds since 1970. */
  readonly at: number;
  readonly approval: StoredApproval;
}

interface LostRepeat {
  readonly callId: string;
  readonly at: number;
  /** The idempotency key of the call. */
  readonly key: string;
}

/** API keys: their callers, what they open, and the hash of each secret, never the secret. */
export interface StoredKeys {
  /** Adds a key; rejects if the id is taken. */
  add(key: NewKey, by: string): Promise<StoredKey>;
  /** All keys, oldest first, including expired and revoked ones. */
  list(): Promise<readonly StoredKey[]>;
  /** The current key of this id, whichever process changed it last. */
  find(id: string): Promise<FoundKey | undefined>;
  /** Revokes a key. The first revocation is kept. */
  revoke(id: string, by: string): Promise<'revoked' | 'already' | 'unknown'>;
  /** Records a use of the key, at most once per `everyMs`. */
  noteUse(id: string, at: number, everyMs: number): Promise<void>;
}

/** A new key. */
export interface NewKey {
  /** The public part of the key. */
  readonly id: string;
  /** SHA-256 of the secret, as hex. */
  readonly hash: string;
  /** A name for people. */
  readonly name: string;
  /** The caller id of the key. */
  readonly caller: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** Profiles that the key is limited to, as globs; absent means those of its roles. */
  readonly profiles?: readonly string[];
  /** Milliseconds since 1970; absent means never. */
  readonly expiresAt?: number;
}

/** A key without its hash. */
export interface StoredKey extends Omit<NewKey, 'hash'> {
  readonly createdBy: string;
  readonly createdAt: number;
  readonly revokedBy?: string;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}

/** A key with the hash of its secret. */
export type FoundKey = StoredKey & Pick<NewKey, 'hash'>;
