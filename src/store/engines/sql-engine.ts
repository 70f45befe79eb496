import type { AuditBatch, ChainPosition } from '../../core/ports/stored-audit.ts';
import { ToolcribError } from '../../core/tool-error.ts';

/** Values that a column can hold in every engine. */
export type SqlValue = string | number | null | Uint8Array;

/** One row of a result. */
export type Row = Readonly<Record<string, unknown>>;

/** SQL with `?` for each parameter, in the subset that SQLite and PostgreSQL share. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /**
   * True if an index must find the rows of a write, in its order. PostgreSQL would read and sort all rows of a queue,
   * because its statistics are from a time when the queue was short.
   */
  readonly byIndex?: boolean;
}

/** Durability of a commit: it survives the end of the process, or also a power loss, which costs a wait for the disk. */
export type Survival = 'process' | 'power loss';

/** Runs statements. Tables are written once for all engines; the differences are in `dialect`. */
export interface SqlEngine {
  readonly name: 'memory' | 'sqlite' | 'postgres';
  /** The name in errors and in the status. */
  readonly location: string;
  readonly dialect: SqlDialect;
  /** Sees everything that any process committed before. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** Like `read`, for statements that may read many rows: it may take a minute, and never blocks this thread. */
  scan(statement: Statement): Promise<readonly Row[]>;
  /** Commits all statements or none, and resolves with the rows of each. */
  write(statements: readonly Statement[], survives?: Survival): Promise<readonly (readonly Row[])[]>;
  /** Hashes and chains rows of the audit on the thread that writes; absent if the engine has none. */
  readonly append?: (batch: AuditBatch) => Promise<ChainPosition>;
  /** Like `write`, for schema changes, which may take minutes. */
  writeSlowly(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  /**
   * Listens to messages of other processes until the returned function is called; absent if the engine has none. '' means
   * that messages may have been missed. It does not keep the process alive.
   */
  readonly listen?: (channel: string, onMessage: (message: string) => void) => () => void;
  /** Waits for pending writes. */
  close(): Promise<void>;
}

/** Differences between SQL engines. */
export interface SqlDialect {
  /** The first statements of a migration, so that only one process migrates at a time. */
  readonly lockMigrations: readonly Statement[];
  /** The first statements of a transaction that counts before it writes. Transactions with the same lock run one after another. */
  lock(what: 'approvals' | 'repeats'): readonly Statement[];
  /** The end of a SELECT of rows to change: rows that another transaction changes are left to it. */
  readonly skipLocked: string;
  /** SQL expression for the time of the database in milliseconds since 1970. */
  readonly nowMs: string;
  /** Returns a row if there is a table with this name. */
  tableNamed(name: string): Statement;
}

/**
 * Creates a statement whose interpolated values are parameters, never text. Plain SQL instead of a query builder: a dozen
 * statements in a common subset are easier to read, and Kysely takes 80 ms to load.
 */
export function sql(texts: TemplateStringsArray, ...params: readonly SqlValue[]): Statement {
  return { sql: texts.join('?'), params };
}

/** The text in a column. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw unreadable(column, value);
}

/** The number in a column. */
export function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  throw unreadable(column, value);
}

/** The JSON in a text column. */
export function jsonOf(row: Row, column: string): unknown {
  const text = textOf(row, column);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(column, text, cause);
  }
}

function unreadable(column: string, value: unknown, cause?: unknown): ToolcribError {
  const message = `The store has an unreadable value in the column "${column}" (${value === null ? 'null' : typeof value}); restore the store from a backup.`;
  return new ToolcribError('store_unavailable', message, { cause });
}

/** A SQLite error as plain data, so that it can be sent between threads. */
export interface SqliteFailure {
  readonly message: string;
  /** The extended result code; its low byte is the primary code. */
  readonly errcode?: number;
  /** The code of a Node error. */
  readonly code?: string;
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** Reasons and remedies, by SQLite result code. */
const SQLITE_REASONS: Readonly<Record<number, string>> = {
  3: 'cannot be opened (permission denied); give this user read and write access',
  [SQLITE_BUSY]: 'is locked by another process; end that process or try again',
  [SQLITE_LOCKED]: 'is locked by another process; end that process or try again',
  8: 'is read-only; make the file and its folder writable',
  10: 'cannot be read or written (disk error); check the disk',
  11: 'is damaged; restore it from a backup, or move it away to start with a new one',
  13: 'is on a full disk; free some space and try again',
  14: 'cannot be opened; check that its folder exists and is writable',
  26: 'is not a SQLite database; move it away, or set store.url to another file',
};

/** An existing store is never abandoned for another place unless the operator decides so. */
const ANOTHER_PLACE = 'To use another place, set store.url; a store there starts empty';

/** Reasons and remedies, by the code of a file system or network error. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  EACCES: `cannot be written (permission denied); give this user read and write access to it and its folder. ${ANOTHER_PLACE}`,
  EPERM: `cannot be written (permission denied); give this user read and write access to it and its folder. ${ANOTHER_PLACE}`,
  EROFS: `is on a read-only disk; make the disk writable. ${ANOTHER_PLACE}`,
  ENOSPC: 'is on a full disk; free some space and try again',
  EDQUOT: 'is over the disk quota; free some space and try again',
  ENOENT: 'was removed; restore it, or restart Toolcrib to start with a new one',
  ESTALE: 'was replaced while in use; restart Toolcrib to use the new one',
  ENOTDIR: 'has a parent that is not a folder; set store.url to another file',
  ELOOP: 'is a cycle of links; set store.url to another file',
  EEXIST: 'has a parent that is not a folder; set store.url to another file',
};

/** Converts an error of SQLite or the file system to data. */
export function toFailure(error: unknown): SqliteFailure {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, errcode, code } = error as Error & { errcode?: unknown; code?: unknown }; // fields of Node errors
  return {
    message,
    ...(typeof errcode === 'number' && { errcode }),
    ...(typeof code === 'string' && { code }),
  };
}

/** True if another connection holds the lock. */
export function isBusy({ errcode }: SqliteFailure): boolean {
  const kind = (errcode ?? 0) & 0xff;
  return kind === SQLITE_BUSY || kind === SQLITE_LOCKED;
}

/** Converts any error of a file store to a `store_unavailable` error. */
export function toStoreError(error: unknown, file: string): ToolcribError {
  if (error instanceof ToolcribError) return error;
  return failureError(toFailure(error), file, error);
}

/** Converts a failure from the writer thread to a `store_unavailable` error. */
export function failureError(failure: SqliteFailure, file: string, cause: unknown = failure): ToolcribError {
  const reason = SQLITE_REASONS[(failure.errcode ?? 0) & 0xff] ?? SYSTEM_REASONS[failure.code ?? ''];
  return storeUnavailable(file, reason ?? `failed: ${failure.message}`, cause);
}

/** Errors after which the statements may have been committed nevertheless. */
const uncertain = new WeakSet<Error>();

/** Records that the answer to a commit was lost. */
export function noteUncertain(error: Error): void {
  uncertain.add(error);
}

/** True if it is unknown whether the failed statements were committed. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Error && uncertain.has(error);
}

/** Creates the error for an unavailable store; `reason` completes the sentence "The store ...". */
export function storeUnavailable(location: string, reason: string, cause?: unknown): ToolcribError {
  return new ToolcribError('store_unavailable', `The store ${location} ${reason}.`, { cause });
}
