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
export interface Engine {
  readonly name: 'memory' | 'sqlite' | 'postgres';
  /** What errors and the status call it. */
  readonly location: string;
  readonly dialect: Dialect;
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
export interface Dialect {
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
