import type { ToolErrorCode } from '../tool-error.ts';
import type { ToolUse } from './audit-report.ts';

/** Kinds of rows: an ended call, a call about to run, several refusals in one row, lost rows, an emergency stop or its end. */
type AuditKind = 'call' | 'intent' | 'many' | 'gap' | 'stop';

/** The outcome so far. */
export type AuditOutcome = 'done' | 'waiting' | ToolErrorCode | 'intent' | 'lost' | 'stopped' | 'resumed';

/** The content of one row. Arguments and results are stored as hashes only. */
export interface AuditEntry {
  /** The approval that the call used. Remembered: the id is that of the grant. */
  readonly approval?: { readonly by: string; readonly id: string; readonly isRemembered?: true } | undefined;
  readonly argumentsHash?: string | undefined;
  /** Start time in milliseconds since 1970. */
  readonly at: number;
  readonly callId: string;
  /** The caller's id, or the operator who stopped or resumed calls; absent for an anonymous caller. */
  readonly caller?: string | undefined;
  /** True if a stop cancelled the calls in flight. */
  readonly cancels?: true | undefined;
  readonly conversation?: string | undefined;
  /** Number of refusals or lost rows that the row stands for. */
  readonly count?: number | undefined;
  readonly door: string;
  readonly durationMs?: number | undefined;
  /** Number of rows that announced a run of this call. */
  readonly intents?: number | undefined;
  /** Answered without running the tool. */
  readonly isReplayed?: true | undefined;
  readonly kind: AuditKind;
  /** The operator's note on a stop or its end. */
  readonly note?: string | undefined;
  /** Its position in the chain, from 1. */
  readonly number: number;
  readonly operator?: true | undefined;
  readonly outcome: AuditOutcome;
  /** The call that this call is nested in. */
  readonly parentId?: string | undefined;
  readonly profile: string;
  readonly resultHash?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Empty for an unknown tool. */
  readonly source: string;
  /** The target that an operator stopped or resumed, such as `tool:NAME`. */
  readonly target?: string | undefined;
  /** Estimated tokens of the result as text; absent while the call waits. */
  readonly tokens?: number | undefined;
  readonly tool: string;
  /** The id of the trace that the call belongs to. */
  readonly traceId?: string | undefined;
  readonly turn?: string | undefined;
  /** Time of the last of several refusals. */
  readonly until?: number | undefined;
}

/** A row before it has a number. The thread that writes it hashes the texts, if there are any. */
export interface DraftRow extends Pick<AuditEntry, UsualMember> {
  /** The arguments as canonical JSON, in place of their hash. */
  readonly argumentsText?: string | undefined;
  /** The result as JSON, in place of its hash. */
  readonly resultText?: string | undefined;
  /** The members that few rows have. */
  readonly rare?: Partial<Omit<AuditEntry, UsualMember | 'number'>> | undefined;
}

type UsualMember =
  | ('at' | 'callId' | 'caller' | 'conversation' | 'door' | 'durationMs' | 'kind' | 'outcome')
  | ('profile' | 'roles' | 'source' | 'tokens' | 'tool' | 'turn');

/** A row in its chain: `hash` is SHA-256 of the previous hash, a line feed and the entry as JSON with sorted keys. */
export interface AuditRow extends AuditEntry {
  readonly chain: string;
  readonly hash: string;
}

/** A row as stored: the text that was hashed, and the columns for queries. */
export interface StoredAuditRow {
  readonly number: number;
  readonly entry: string;
  readonly hash: string;
  readonly at: number;
  readonly callId: string;
  readonly tool: string;
  /** Empty for an anonymous caller. */
  readonly caller: string;
  readonly outcome: string;
}

/** Makes a text storable in every engine: PostgreSQL accepts neither NUL nor lone surrogates. */
export function indexText(text: string): string {
  return /[\0\ud800-\udfff]/.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text;
}

/** The header of a chain. One process at a time writes a chain, and its key signs it. */
export interface ChainHeader {
  readonly chain: string;
  /** The public key as base64. */
  readonly key: string;
  readonly startedAt: number;
  readonly signature: string;
}

/** The length of a chain at one moment, signed by its key. */
export interface Checkpoint {
  readonly chain: string;
  readonly count: number;
  /** The hash of row `count`. */
  readonly hash: string;
  readonly at: number;
  readonly signature: string;
}

/** Rows up to a checkpoint that were removed because of their age; signed by the process that removed them. */
export interface ChainCut extends Checkpoint {
  readonly key: string;
}

/** A chain with its cut. */
export interface StoredChain extends ChainHeader {
  readonly cut?: ChainCut;
}

/** The length of a chain and the hash of its last row. */
export type ChainPosition = Pick<Checkpoint, 'count' | 'hash'>;

/** Rows that continue a chain. The store numbers, hashes and chains them. */
export interface AuditBatch {
  readonly header: ChainHeader;
  /** Where the chain ended before. */
  readonly after: ChainPosition;
  /** Rows as `packRows` of the store made them. */
  readonly packed: readonly Uint8Array[];
  /** A checkpoint of rows up to `after`. */
  readonly checkpoint?: Checkpoint | undefined;
}

/** Sort key of a row among all rows, newest first. */
export type RowPlace = Pick<AuditRow, 'at' | 'chain' | 'number'>;

/** Filter for rows; all given conditions must hold. */
export interface RowQuery {
  readonly limit: number;
  readonly tool?: string | undefined;
  readonly caller?: string | undefined;
  readonly outcome?: string | undefined;
  readonly source?: string | undefined;
  readonly profile?: string | undefined;
  readonly conversation?: string | undefined;
  readonly turn?: string | undefined;
  /** The id of the enclosing call. */
  readonly parent?: string | undefined;
  /** Only calls that were refused or failed. */
  readonly isFailed?: true | undefined;
  /** Only nested calls. */
  readonly isNested?: true | undefined;
  /** Only rows from this time on, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Only rows before this time. */
  readonly until?: number | undefined;
  /** Only rows older than this. */
  readonly before?: RowPlace | undefined;
}

/** Rows of a chain without a header. */
interface HeadlessRows {
  readonly chain: string;
  readonly rows: number;
}

/** All rows of a chain, counted in the table itself. */
interface ChainExtent {
  readonly chain: string;
  readonly rows: number;
  /** The lowest and the highest number; NaN if a row has none. */
  readonly first: number;
  readonly last: number;
}

/** Storage for the rows of all processes. Rows are never changed; old ones can be removed from the beginning of a chain. */
export interface StoredAudit {
  /** A random id of the store, created by the first process that needs it. It stays when the store is moved. */
  storeId(): Promise<string>;
  /** Appends a batch atomically; returns the new end. Undefined if other rows have these numbers: another process writes to the chain. */
  append(batch: AuditBatch): Promise<ChainPosition | undefined>;
  /** The last row of a chain, or the cut if all rows were removed. */
  end(chain: string): Promise<ChainPosition | undefined>;
  /** All chains in order of creation. */
  chains(): Promise<readonly StoredChain[]>;
  /** Rows in order of their numbers, starting after `after`. */
  rows(chain: string, after: number, limit: number): Promise<readonly StoredAuditRow[]>;
  /** The last rows of a chain up to `number`, newest first. */
  rowsUpTo(chain: string, number: number, limit: number): Promise<readonly StoredAuditRow[]>;
  /** Rows and checkpoints whose chain has no header. Toolcrib never writes such rows. */
  headless(): Promise<readonly HeadlessRows[]>;
  /** The rows of each chain, also those that no query by number finds. */
  extents(): Promise<readonly ChainExtent[]>;
  checkpoints(chain: string, after: number, limit: number): Promise<readonly Checkpoint[]>;
  newestCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** Calls of all chains, newest first. */
  recent(query: RowQuery): Promise<readonly (StoredAuditRow & { readonly chain: string })[]>;
  /** Calls since a time, counted by tool and caller. */
  use(since: number): Promise<readonly ToolUse[]>;
  /** Number of rows that announced a run of the call, without a row for its end. */
  openIntents(callId: string): Promise<number>;
  /** The last ended call with this id. */
  find(callId: string): Promise<(StoredAuditRow & { readonly chain: string }) | undefined>;
  count(): Promise<number>;
  /** True for one process per `everyMs`, so that only one removes old rows. */
  claimTidying(everyMs: number): Promise<boolean>;
  /** The last checkpoint whose rows are all older than `before`. */
  lastBefore(chain: string, before: number): Promise<Checkpoint | undefined>;
  /** Stores the cut. Must come before removing rows, so that missing rows are always explained. */
  cut(cut: ChainCut): Promise<void>;
  /** Removes at most `limit` rows up to the cut, and older signatures; returns the number of rows. */
  removeCut(chain: string, limit: number): Promise<number>;
}

/** The key under which the audit extension exposes for how many days rows are kept; undefined means forever. */
export const KEPT_DAYS: unique symbol = Symbol('toolcrib.keptDays');

/** An extension that records calls. */
export interface Recording {
  readonly [KEPT_DAYS]: number | undefined;
}
