import { hash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import {
  type AuditBatch,
  type AuditEntry,
  type ChainPosition,
  type Checkpoint,
  type DraftRow,
  indexText,
} from '../core/ports/stored-audit.ts';
import { type SqlValue, type Statement, type Survival, sql } from './engines/sql-engine.ts';

/** A row with its number. */
interface NumberedRow {
  readonly entry: AuditEntry;
  /** The entry as JSON with sorted keys, which is hashed and stored. */
  readonly text: string;
}

/** The members of a packed row, sorted, so that entries built in this order are canonical JSON. */
const MEMBERS = Object.keys({
  approval: true,
  argumentsHash: true,
  argumentsText: true,
  at: true,
  callId: true,
  caller: true,
  cancels: true,
  conversation: true,
  count: true,
  door: true,
  durationMs: true,
  intents: true,
  isReplayed: true,
  kind: true,
  note: true,
  number: true,
  operator: true,
  outcome: true,
  parentId: true,
  profile: true,
  resultHash: true,
  resultText: true,
  roles: true,
  source: true,
  target: true,
  tokens: true,
  tool: true,
  traceId: true,
  turn: true,
  until: true,
} satisfies Record<keyof DraftRow, true>) as readonly (keyof DraftRow)[]; // all of them

/**
 * Rows as bytes: the members of all rows in one list. Up to a hundred thousand rows may wait; as objects or texts the
 * garbage collector would move them again and again, and the thread that writes would get copies one by one.
 */
export function packRows(rows: readonly DraftRow[]): Uint8Array {
  const values: unknown[] = [];
  for (const row of rows) for (const member of MEMBERS) values.push(row[member]);
  return serialize(values);
}

/** The rows of `packRows`, numbered from `first`. */
export function unpackRows(packed: Uint8Array, first: number): readonly NumberedRow[] {
  const values: readonly unknown[] = deserialize(packed);
  return Array.from({ length: values.length / MEMBERS.length }, (_, index) => {
    const entry = toEntry(values, index * MEMBERS.length, first + index);
    return { entry, text: JSON.stringify(entry) };
  });
}

function toEntry(values: readonly unknown[], begin: number, number: number): AuditEntry {
  const entry: Record<string, unknown> = {};
  for (const [index, member] of MEMBERS.entries()) {
    const value = member === 'number' ? number : values[begin + index];
    if (value === undefined) continue;
    if (member === 'argumentsText') entry.argumentsHash = hash('sha256', String(value));
    else if (member === 'resultText') entry.resultHash = hash('sha256', String(value));
    else entry[member] = value;
  }
  return entry as unknown as AuditEntry; // the members of a row
}

/** The hash of a row after one with the hash `previous`. */
export function nextHash(previous: string, entry: string): string {
  return hash('sha256', `${previous}\n${entry}`);
}

/** The statements that append a batch to its chain. */
export interface Append {
  readonly statements: readonly Statement[];
  readonly survives: Survival;
  /** Where the chain ends then. */
  readonly end: ChainPosition;
}

/**
 * Hashes and chains the rows of a batch. The same batch gives the same rows, so it can be written again. It runs on the
 * thread that writes, if there is one.
 */
export function toAppend({ header, after, packed, checkpoint }: AuditBatch): Append {
  const { chain, key, startedAt, signature } = header;
  let { count: number, hash: previous } = after;
  let hasIntent = false;
  const params: SqlValue[] = [];
  for (const rows of packed) {
    for (const { entry, text } of unpackRows(rows, number + 1)) {
      const { at, callId, tool, caller = '', outcome } = entry;
      number = entry.number;
      previous = nextHash(previous, text);
      hasIntent ||= outcome === 'intent';
      params.push(chain, number, at, indexText(callId), indexText(tool), indexText(caller), outcome, text, previous);
    }
  }
  return {
    statements: [
      sql`
        INSERT INTO toolcrib_audit_chains (chain, public_key, started_at, signature)
        VALUES (${chain}, ${key}, ${startedAt}, ${signature}) ON CONFLICT (chain) DO NOTHING`,
      ...insertRows(params),
      ...(checkpoint === undefined ? [] : [insertCheckpoint(checkpoint)]),
    ],
    // An intent (the tool is about to run) and a checkpoint (also stored elsewhere) must survive a power loss.
    survives: hasIntent || checkpoint !== undefined ? 'power loss' : 'process',
    end: { count: number, hash: previous },
  };
}

/** Rows per insert: few statements to prepare, and few round trips to a server. */
const ROWS_AT_ONCE = [64, 8, 1] as const;
const COLUMNS = 9;

function insertRows(params: readonly SqlValue[]): readonly Statement[] {
  const statements: Statement[] = [];
  let next = 0;
  for (const rows of ROWS_AT_ONCE) {
    const size = rows * COLUMNS;
    for (; params.length - next >= size; next += size)
      statements.push({ sql: insertText(rows), params: params.slice(next, next + size) });
  }
  return statements;
}

function insertText(rows: number): string {
  const values = `(${'?, '.repeat(COLUMNS - 1)}?)`;
  const all = Array.from({ length: rows }, () => values).join(', ');
  return `INSERT INTO toolcrib_audit (chain, number, at, call_id, tool, caller, outcome, entry, hash) VALUES ${all}`;
}

function insertCheckpoint({ chain, count, hash: last, at, signature }: Checkpoint): Statement {
  return sql`
    INSERT INTO toolcrib_audit_checkpoints (chain, row_count, hash, made_at, signature)
    VALUES (${chain}, ${count}, ${last}, ${at}, ${signature}) ON CONFLICT (chain, row_count) DO NOTHING`;
}
