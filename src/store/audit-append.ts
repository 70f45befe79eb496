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

/**
 * Rows as bytes: the members of all rows in one list, because a list is written and read much faster than objects. Up to
 * a hundred thousand rows may wait; as objects or texts the garbage collector would move them again and again.
 */
export function packRows(rows: readonly DraftRow[]): Uint8Array {
  const values: unknown[] = [];
  for (const row of rows)
    values.push(
      row.rare,
      row.argumentsText,
      row.at,
      row.callId,
      row.caller,
      row.conversation,
      row.door,
      row.durationMs,
      row.kind,
      row.outcome,
      row.profile,
      row.resultText,
      row.roles,
      row.source,
      row.tokens,
      row.tool,
      row.turn,
    );
  return serialize(values);
}

/** How many members `packRows` writes for a row. */
const MEMBERS = 17;

/** The rows of `packRows`, numbered from `first`. */
export function unpackRows(packed: Uint8Array, first: number): readonly NumberedRow[] {
  const values: readonly unknown[] = deserialize(packed);
  return Array.from({ length: values.length / MEMBERS }, (_, index) => {
    const entry = toEntry(values, index * MEMBERS, first + index);
    return { entry, text: JSON.stringify(entry) };
  });
}

/** Reads the members in the order in which `packRows` wrote them: sorted, so that the entry as JSON is canonical. */
function toEntry(values: readonly unknown[], begin: number, number: number): AuditEntry {
  let index = begin;
  const next = () => values[index++] as never; // written by packRows
  const hashOf = (text: string | undefined) => (text === undefined ? undefined : hash('sha256', text));
  const rare = next() as DraftRow['rare']; // likewise
  const entry: AuditEntry = {
    argumentsHash: hashOf(next()),
    at: next(),
    callId: next(),
    caller: next(),
    conversation: next(),
    door: next(),
    durationMs: next(),
    kind: next(),
    number,
    outcome: next(),
    profile: next(),
    resultHash: hashOf(next()),
    roles: next(),
    source: next(),
    tokens: next(),
    tool: next(),
    turn: next(),
  };
  if (rare === undefined) return entry;
  const { argumentsHash = entry.argumentsHash, resultHash = entry.resultHash } = rare;
  return sortKeys({ ...entry, ...rare, argumentsHash, resultHash });
}

function sortKeys(entry: AuditEntry): AuditEntry {
  const members = Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members) as unknown as AuditEntry; // the same members
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
