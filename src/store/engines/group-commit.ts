import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { type Row, type SqliteFailure, type SqlValue, type Statement, type Survival, toFailure } from './sql-engine.ts';

/** Statements that are committed together or not at all. */
export interface Group {
  readonly id: number;
  readonly statements: readonly Statement[];
  readonly survives?: Survival | undefined;
}

/** The rows of each statement of a group, or the reason why the group failed. */
export type GroupOutcome =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: SqliteFailure };

/** An open database with its prepared statements. */
export interface Session {
  readonly database: DatabaseSync;
  prepare(sql: string): Prepared;
}

interface Prepared {
  run(params: Statement['params']): readonly Row[];
}

const MAX_PREPARED = 200;
const MAX_TRANSACTION_MS = 50;
const NO_ROWS: readonly Row[] = [];

/** Caches the prepared statements of one connection. */
export function createSession(database: DatabaseSync): Session {
  const prepared = new Map<string, Prepared>();
  return {
    database,
    prepare: (sql) => {
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      const made = toPrepared(database.prepare(sql));
      prepared.set(sql, made);
      return made;
    },
  };
}

function toPrepared(statement: StatementSync): Prepared {
  if (statement.columns().length > 0)
    return { run: (params): Record<string, SQLOutputValue>[] => statement.all(...params) };
  return {
    run: (params) => {
      statement.run(...params);
      return NO_ROWS;
    },
  };
}

/**
 * Commits as many groups from the front as fit into one transaction, and returns their outcomes. The lock is taken with
 * BEGIN, not at the first write: a transaction that reads first and writes later loses against other processes.
 */
export function commitGroups(session: Session, groups: readonly Group[]): readonly GroupOutcome[] {
  const { database } = session;
  const isDurable = groups.some(({ survives }) => survives === 'power loss');
  try {
    if (isDurable) database.exec('PRAGMA synchronous = FULL'); // not possible inside a transaction
    database.exec('BEGIN IMMEDIATE');
    const begun = performance.now();
    const outcomes: GroupOutcome[] = [];
    for (const group of groups) {
      outcomes.push(runGroup(session, group));
      if (performance.now() - begun > MAX_TRANSACTION_MS) break; // let other processes write
    }
    database.exec('COMMIT');
    return outcomes;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    const failure = toFailure(error);
    return groups.map(({ id }) => ({ id, failure }));
  } finally {
    if (isDurable) database.exec('PRAGMA synchronous = NORMAL');
  }
}

/** A failure rolls back only its own group. A failure that made SQLite end the whole transaction is thrown. */
function runGroup(session: Session, { id, statements }: Group): GroupOutcome {
  session.prepare('SAVEPOINT one_group').run([]);
  try {
    const rows = statements.map(({ sql, params }) => session.prepare(sql).run(params));
    session.prepare('RELEASE one_group').run([]);
    return { id, rows };
  } catch (error) {
    if (!session.database.isTransaction) throw error;
    session.database.exec('ROLLBACK TO one_group; RELEASE one_group');
    return { id, failure: toFailure(error) };
  }
}

/**
 * Groups as sent to the writer thread. Flat, with each SQL text once: cloning nested objects for every row would cost
 * more than inserting them.
 */
export interface PackedGroups {
  readonly ids: readonly number[];
  /** Number of statements in each group. */
  readonly sizes: readonly number[];
  readonly texts: readonly string[];
  /** For each statement, in order: the index of its text, and the number of its parameters. */
  readonly textIndexes: readonly number[];
  readonly paramCounts: readonly number[];
  readonly values: readonly SqlValue[];
  /** The strictest requirement of all groups. */
  readonly survives: Survival;
}

/** Packs groups for the writer thread. */
export function packGroups(groups: readonly Group[]): PackedGroups {
  const indexOf = new Map<string, number>();
  const textIndexes: number[] = [];
  const paramCounts: number[] = [];
  const values: SqlValue[] = [];
  for (const { statements } of groups) {
    for (const { sql, params } of statements) {
      const index = indexOf.get(sql) ?? indexOf.size;
      indexOf.set(sql, index);
      textIndexes.push(index);
      paramCounts.push(params.length);
      for (const param of params) values.push(param);
    }
  }
  const sizes = groups.map(({ statements }) => statements.length);
  const ids = groups.map(({ id }) => id);
  const survives = groups.some((group) => group.survives === 'power loss') ? 'power loss' : 'process';
  return { ids, sizes, texts: [...indexOf.keys()], textIndexes, paramCounts, values, survives };
}

/** Unpacks groups in the writer thread. */
export function unpackGroups(packed: PackedGroups): readonly Group[] {
  const { ids, sizes, texts, textIndexes, paramCounts, values, survives } = packed;
  let statement = 0;
  let value = 0;
  const nextStatement = (): Statement => {
    const params = values.slice(value, value + (paramCounts[statement] ?? 0));
    value += params.length;
    return { sql: texts[textIndexes[statement++] ?? 0] ?? '', params };
  };
  return ids.map((id, index) => ({
    id,
    statements: Array.from({ length: sizes[index] ?? 0 }, nextStatement),
    survives,
  }));
}
