import { ToolcribError } from '../../core/tool-error.ts';

/** What a column can hold in every engine. */
export type SqlValue = string | number | null | Uint8Array;

/** One line of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/** SQL with `?` for each parameter, in the subset that SQLite and PostgreSQL share. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** What committed statements outlive: the end of the process, or that of the machine, which costs a wait for the disk. */
export type Survival = 'process' | 'power loss';

/** Runs statements. Tables are written once over this; what the engines say differently is in `dialect`. */
export interface SqlEngine {
  readonly name: 'memory' | 'sqlite' | 'postgres';
  /** What errors and the status call it. */
  readonly location: string;
  readonly dialect: SqlDialect;
  /** Sees everything committed before, by whomever. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** The same for a statement that may look at many rows: it takes longer to begin, may take a minute, and never holds up this thread. */
  scan(statement: Statement): Promise<readonly Row[]>;
  /** All statements or none; resolves with the rows of each once they are committed. */
  write(statements: readonly Statement[], survives?: Survival): Promise<readonly (readonly Row[])[]>;
  /** The same for changes of the schema, which may take minutes. */
  writeSlowly(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  /** Waits for writes under way. */
  close(): Promise<void>;
}

/** Where SQL differs. */
export interface SqlDialect {
  /** First in the transaction of a migration, so that only one process migrates at a time. */
  readonly lockMigrations: readonly Statement[];
  /** First in a transaction that counts before it writes: transactions with the same lock wait for each other. */
  lock(what: 'approvals' | 'repeats'): readonly Statement[];
  /** The time of the database in milliseconds since 1970, as an expression. */
  readonly nowMs: string;
  /** Answers a row if there is a table of this name. */
  tableNamed(name: string): Statement;
}

/**
 * A statement whose interpolated values are parameters, never text.
 * Plain SQL and no query builder: a dozen statements in a common subset read better so, and Kysely costs 80 ms to load.
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
  const message = `The store holds ${value === null ? 'nothing' : `a ${typeof value}`} under "${column}" that this version cannot read; restore it from a backup.`;
  return new ToolcribError('store_unavailable', message, { cause });
}

/** An error of SQLite as plain data, so that it can cross from the writer thread. */
export interface SqliteFailure {
  readonly message: string;
  /** The extended result code; its low byte says what kind. */
  readonly errcode?: number;
  /** The code of an error of Node's. */
  readonly code?: string;
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** What happened and what to do, by the result code of SQLite. */
const SQLITE_REASONS: Readonly<Record<number, string>> = {
  3: 'may not be opened; give this user the right to read and write it',
  [SQLITE_BUSY]: 'is locked by another process that does not let go; end that process or try again',
  [SQLITE_LOCKED]: 'is locked by another process that does not let go; end that process or try again',
  8: 'is read-only; make the file and its folder writable',
  10: 'cannot be read or written, the disk fails; check the disk',
  11: 'is damaged; restore it from a backup, or move it away to begin a new one',
  13: 'is full; make room on its disk and try again',
  14: 'cannot be opened; check that its folder exists and is writable',
  26: 'is not a SQLite database; move it away, or name another file under store.url',
};

/** A store that exists is never left for another place without a word of the operator. */
const ANOTHER_PLACE = 'No other place is used unless store.url names one, and a store there begins empty';

/** The same by the code of a file system or network error. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  EACCES: `may not be written; give this user the right to read and write it and its folder. ${ANOTHER_PLACE}`,
  EPERM: `may not be written; give this user the right to read and write it and its folder. ${ANOTHER_PLACE}`,
  EROFS: `lies on a read-only disk; make that writable. ${ANOTHER_PLACE}`,
  ENOSPC: 'is full; make room on its disk and try again',
  EDQUOT: 'is full; make room on its disk and try again',
  ENOENT: 'is gone; restore it, or restart Toolcrib to begin a new one',
  ESTALE: 'was replaced while in use; restart Toolcrib to use the new one',
  ENOTDIR: 'lies in something that is not a folder; name another file under store.url',
  ELOOP: 'is a circle of links; name another file under store.url',
  EEXIST: 'lies in something that is not a folder; name another file under store.url',
};

/** A failure of SQLite or of the file system as data. */
export function toFailure(error: unknown): SqliteFailure {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, errcode, code } = error as Error & { errcode?: unknown; code?: unknown }; // what Node's errors carry
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

/** The one error a store in a file rejects with. */
export function toStoreError(error: unknown, file: string): ToolcribError {
  if (error instanceof ToolcribError) return error;
  return failureError(toFailure(error), file, error);
}

/** The same for a failure that came from the writer thread. */
export function failureError(failure: SqliteFailure, file: string, cause: unknown = failure): ToolcribError {
  const reason = SQLITE_REASONS[(failure.errcode ?? 0) & 0xff] ?? SYSTEM_REASONS[failure.code ?? ''];
  return storeUnavailable(file, reason ?? `failed: ${failure.message}`, cause);
}

/** Failures after which the statements may have been committed all the same. */
const uncertain = new WeakSet<Error>();

/** Notes that the answer to a commit was lost. */
export function noteUncertain(error: Error): void {
  uncertain.add(error);
}

/** True if nobody knows whether the statements that failed with it were committed. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Error && uncertain.has(error);
}

/** Says in one sentence what is the matter with the store at `location`. */
export function storeUnavailable(location: string, reason: string, cause?: unknown): ToolcribError {
  return new ToolcribError('store_unavailable', `The store ${location} ${reason}.`, { cause });
}
