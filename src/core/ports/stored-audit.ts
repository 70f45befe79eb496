import type { ToolCall } from '../tool-call.ts';
import type { ToolErrorCode } from '../tool-error.ts';
import type { ToolResult } from '../tool-result.ts';

/** What a row tells of: a call that has ended; one that is about to run; many refusals in one; rows that were lost. */
type AuditKind = 'call' | 'intent' | 'many' | 'gap';

/** How it ended, as far as it has. */
export type AuditOutcome = 'done' | 'waiting' | ToolErrorCode | 'intent' | 'lost';

/** What one row says. Arguments and results are there as hashes only. */
export interface AuditEntry {
  readonly approval?: { readonly by: string; readonly id: string } | undefined;
  readonly argumentsHash?: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  readonly callId: string;
  /** The id of who asked; absent for nobody in particular. */
  readonly caller?: string | undefined;
  readonly conversation?: string | undefined;
  /** How many refusals, or how many lost rows, the row stands for. */
  readonly count?: number | undefined;
  readonly door: string;
  readonly durationMs?: number | undefined;
  /** How many rows announced that this call was about to run. */
  readonly intents?: number | undefined;
  /** Answered without running the tool. */
  readonly isReplayed?: true | undefined;
  readonly kind: AuditKind;
  /** Its place in its chain, from 1. */
  readonly number: number;
  readonly operator?: true | undefined;
  readonly outcome: AuditOutcome;
  /** The call inside which it was made. */
  readonly parentId?: string | undefined;
  readonly profile: string;
  readonly resultHash?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Empty for a name that nobody knows. */
  readonly source: string;
  readonly tool: string;
  /** When the last of several happened. */
  readonly until?: number | undefined;
}

/** A row with its place: `hash` is SHA-256 of the hash before it, a line feed and the entry as JSON with sorted keys. */
export interface AuditRow extends AuditEntry {
  readonly chain: string;
  readonly hash: string;
}

/** A row as it is kept: the text that was hashed, and what rows are looked up by. */
export interface StoredAuditRow {
  readonly number: number;
  readonly entry: string;
  readonly hash: string;
  readonly at: number;
  readonly callId: string;
  readonly tool: string;
  /** Empty for nobody in particular. */
  readonly caller: string;
  readonly outcome: string;
}

/** A text that every engine can hold in a column and find again: PostgreSQL knows neither NUL nor half a character. */
export function indexText(text: string): string {
  return /[\0\ud800-\udfff]/.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text;
}

/** Whose rows they are: one process writes a chain at a time, and its key signs it. */
export interface ChainHeader {
  readonly chain: string;
  /** The public key as base64. */
  readonly key: string;
  readonly startedAt: number;
  readonly signature: string;
}

/** How far a chain was at one moment, signed by its key. */
export interface Checkpoint {
  readonly chain: string;
  readonly count: number;
  /** That of row `count`. */
  readonly hash: string;
  readonly at: number;
  readonly signature: string;
}

/** Rows up to a checkpoint that were removed because they were old; signed by whoever removed them. */
export interface ChainCut extends Checkpoint {
  readonly key: string;
}

/** A chain, and up to where its rows were removed. */
export interface StoredChain extends ChainHeader {
  readonly cut?: ChainCut;
}

/** Rows that continue a chain, and a checkpoint after them. */
export interface AuditBatch {
  readonly header: ChainHeader;
  readonly rows: readonly StoredAuditRow[];
  readonly checkpoint?: Checkpoint | undefined;
}

/** The place of a row among all rows, newest first. */
export type RowPlace = Pick<AuditRow, 'at' | 'chain' | 'number'>;

/** Which rows are asked for; all that is named must hold. */
export interface RowQuery {
  readonly limit: number;
  readonly tool?: string | undefined;
  readonly caller?: string | undefined;
  readonly outcome?: string | undefined;
  /** Older than this. */
  readonly before?: RowPlace | undefined;
}

/** Rows of a chain that no header names. */
interface HeadlessRows {
  readonly chain: string;
  readonly rows: number;
}

/** The rows of all processes. Nothing is ever changed; what is old can be removed from the beginning of a chain. */
export interface StoredAudit {
  /** A random name of the store, made by the first process that asks. The store keeps it when it is moved. */
  storeId(): Promise<string>;
  /** All or nothing. False if other rows stand where these should: somebody else writes to the chain. */
  append(batch: AuditBatch): Promise<boolean>;
  /** The last row of a chain, or the cut where all were removed. */
  end(chain: string): Promise<Pick<Checkpoint, 'count' | 'hash'> | undefined>;
  /** In the order they were begun. */
  chains(): Promise<readonly StoredChain[]>;
  /** In the order of their numbers, from the one after `after`. */
  rows(chain: string, after: number, limit: number): Promise<readonly StoredAuditRow[]>;
  /** Rows and checkpoints whose chain has no header. An honest process writes none. */
  headless(): Promise<readonly HeadlessRows[]>;
  checkpoints(chain: string, after: number, limit: number): Promise<readonly Checkpoint[]>;
  newestCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** Calls of all chains, newest first. */
  recent(query: RowQuery): Promise<readonly (StoredAuditRow & { readonly chain: string })[]>;
  /** How many rows say that the call was about to run without a row that says how it ended. */
  openIntents(callId: string): Promise<number>;
  /** The call of this id that ended last. */
  find(callId: string): Promise<(StoredAuditRow & { readonly chain: string }) | undefined>;
  count(): Promise<number>;
  /** True for one process in `everyMs`, so that not all of them tidy up. */
  claimTidying(everyMs: number): Promise<boolean>;
  /** The last checkpoint all of whose rows are older than `before`. */
  lastBefore(chain: string, before: number): Promise<Checkpoint | undefined>;
  /** Says up to where rows are removed. Comes first, so that what is missing is never unexplained. */
  cut(cut: ChainCut): Promise<void>;
  /** Removes at most `limit` rows up to the cut, and what was signed before it; returns how many rows. */
  removeCut(chain: string, limit: number): Promise<number>;
}

/** The key under which the extension that puts calls on record says for how many days rows are kept; undefined for ever. */
export const KEPT_DAYS: unique symbol = Symbol('toolcrib.keptDays');

/** An extension that puts calls on record. */
export interface Recording {
  readonly [KEPT_DAYS]: number | undefined;
}

/** A call whose process is gone: it ran, or was about to. */
export interface LostCall {
  readonly callId: string;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  readonly caller?: string;
  readonly roles?: readonly string[];
  readonly conversation?: string;
  /** Empty where that is not known. */
  readonly door: string;
  readonly profile: string;
  readonly source: string;
  readonly tool: string;
  readonly argumentsHash?: string;
  readonly approval?: { readonly id: string; readonly by: string };
  /** How many rows announced that it was about to run, and no row says how it ended. */
  readonly intents: number;
}

/** Rows that are not in the store yet. */
export interface Backlog {
  readonly rows: number;
  /** How long the oldest of them has been waiting; 0 where there is none. */
  readonly oldestMs: number;
  /** Rows that could not be kept and are not on record yet as lost. */
  readonly lost: number;
}

/** Where calls are put on record. */
export interface AuditTrail {
  /** Queues the row of a call that has ended. */
  record(call: ToolCall, result: ToolResult): void;
  /** Queues the row of a call of which only this is known: its process is gone, and its outcome unknown. */
  recordLost(call: LostCall): void;
  /** Resolves once it is on record that the call is about to run; rejects if that cannot be written. */
  intend(call: ToolCall): Promise<void>;
  /** What a call should wait for before it begins; nothing, unless rows come faster than they can be written. */
  room(): Promise<void> | undefined;
  /** Rows older than this are removed from now on; absent means never. */
  keepFor(days: number | undefined): void;
  /** What is recorded and not written yet. */
  backlog(): Backlog;
}
