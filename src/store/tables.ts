import type { Store } from '../core/ports/store.ts';
import { approvals } from './approval-table.ts';
import { audit } from './audit-table.ts';
import { claims, type Heartbeat } from './claims.ts';
import { CREATE_DEFINITIONS, definitions, labels } from './definition-table.ts';
import type { SqlEngine } from './engines/sql-engine.ts';
import { budgets, rates } from './limits.ts';
import { repeats } from './repeats.ts';
import { CREATE_SCHEDULES, schedules } from './schedule-table.ts';
import { activeSets, indexes, keys, lists, results, sealKeys, snapshots } from './small-tables.ts';
import { specs } from './spec-table.ts';
import { stops } from './stop-table.ts';
import { CREATE_JOURNALS, journals } from './tasks/task-journals.ts';
import { CREATE_TASKS } from './tasks/task-schema.ts';
import { createTaskSignals } from './tasks/task-signals.ts';
import { tasks } from './tasks/task-table.ts';

/** Dependencies of the tables. */
export interface TablePorts {
  readonly engine: SqlEngine;
  /** The time of the store. */
  now(): number;
  /** The time of this machine. */
  machineNow(): number;
  readonly heartbeat: Heartbeat;
}

/** The tables of the store. To add one, add a file here, a line below and a step at the end of `MIGRATIONS`. */
export function openTables({ engine, now, machineNow, heartbeat }: TablePorts) {
  const signals = createTaskSignals(engine, heartbeat.process);
  const taskClaims = new Map<string, string>();
  const storedApprovals = approvals({ engine, now, heartbeat, signals });
  storedApprovals.onAnswer(() => signals.tell('')); // tasks that waited for the answer can run
  return {
    specs: specs(engine, now),
    lists: lists(engine),
    activeSets: activeSets(engine, now),
    indexes: indexes(engine, now),
    snapshots: snapshots(engine, now),
    budgets: budgets(engine, now),
    rates: rates(engine),
    results: results(engine, now, machineNow),
    repeats: repeats(engine, now, heartbeat),
    keys: keys(engine, now),
    approvals: storedApprovals,
    tasks: tasks({ engine, now, heartbeat, signals, claims: taskClaims }),
    journals: journals(engine, (id) => ({ id, process: heartbeat.process, claim: taskClaims.get(id) ?? null })),
    claims: claims(engine, now, signals),
    audit: audit(engine, now),
    sealKeys: sealKeys(engine, now),
    stops: stops(engine, now),
    schedules: schedules(engine, now),
    definitions: definitions(engine, now),
    labels: labels(engine, now),
  } satisfies Partial<Store>;
}

/**
 * Checks all rates of a call and charges all of them, or none and returns the time to wait (GCRA), by the clock of the
 * database. The insert locks every row, in one order, so that calls that share rates run one after another.
 */
const CHARGE_RATES = `
CREATE FUNCTION toolcrib_charge(cells TEXT) RETURNS DOUBLE PRECISION LANGUAGE plpgsql AS $$
DECLARE
  moment DOUBLE PRECISION;
  excess DOUBLE PRECISION;
BEGIN
  INSERT INTO toolcrib_rates AS rate (name, full_until)
    SELECT name, 0 FROM json_to_recordset(cells::json) AS cell(name TEXT) ORDER BY name
    ON CONFLICT (name) DO UPDATE SET full_until = rate.full_until;
  moment := extract(epoch FROM clock_timestamp()) * 1000;
  SELECT max(greatest(rate.full_until, moment) - moment + cell."perMs" / cell.amount - cell."perMs") INTO excess
    FROM toolcrib_rates AS rate
    JOIN json_to_recordset(cells::json) AS cell(name TEXT, amount DOUBLE PRECISION, "perMs" DOUBLE PRECISION)
      ON cell.name = rate.name;
  IF excess > 0.001 THEN
    RETURN excess;
  END IF;
  UPDATE toolcrib_rates AS rate SET full_until = greatest(rate.full_until, moment) + cell."perMs" / cell.amount
    FROM json_to_recordset(cells::json) AS cell(name TEXT, amount DOUBLE PRECISION, "perMs" DOUBLE PRECISION)
    WHERE cell.name = rate.name;
  IF random() < 0.001 THEN
    DELETE FROM toolcrib_rates WHERE name IN
      (SELECT name FROM toolcrib_rates WHERE full_until < moment - 60000 LIMIT 1000 FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN 0;
END
$$`;

/** Statements applied together; some are for one engine only. */
export type Migration = readonly (string | { readonly postgres: string } | { readonly sqlite: string })[];

// PostgreSQL cannot parse JSON with some escaped characters; such requests stay unchanged until they end.
const MOVE_LONG_ARGUMENTS: Migration = [
  {
    sqlite: `UPDATE toolcrib_approvals SET
        arguments = json_extract(request, '$.arguments'),
        request = json_set(request, '$.arguments', json('{}'),
          '$.argumentsLength', length(json_extract(request, '$.arguments')))
      WHERE length(request) > 16000`,
  },
  {
    postgres: `UPDATE toolcrib_approvals SET
        arguments = CAST(CAST(request AS json) -> 'arguments' AS text),
        request = replace(request, CAST(CAST(request AS json) -> 'arguments' AS text),
          '{},"argumentsLength":' || length(CAST(CAST(request AS json) -> 'arguments' AS text)))
      WHERE length(request) > 16000 AND position('\\u' IN request) = 0`,
  },
];

/** The schema, step by step. Steps are only added: a released step never changes and cannot be reverted. */
export const MIGRATIONS: readonly Migration[] = [
  [
    'CREATE TABLE toolcrib_versions (name TEXT PRIMARY KEY, version BIGINT NOT NULL)',
    `CREATE TABLE toolcrib_specs (
      name TEXT PRIMARY KEY, spec TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL)`,
    `CREATE TABLE toolcrib_spec_history (
      version BIGINT PRIMARY KEY, name TEXT NOT NULL, what TEXT NOT NULL, spec TEXT NOT NULL,
      changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL)`,
    'CREATE INDEX toolcrib_spec_history_of_name ON toolcrib_spec_history (name, version)',
    'CREATE TABLE toolcrib_lists (source TEXT PRIMARY KEY, hash TEXT NOT NULL, specs TEXT NOT NULL, listed_at BIGINT NOT NULL)',
    `CREATE TABLE toolcrib_active_sets (
      profile TEXT PRIMARY KEY, names TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL)`,
  ],
  [
    'CREATE TABLE toolcrib_budgets (name TEXT PRIMARY KEY, spent DOUBLE PRECISION NOT NULL, ends_at BIGINT NOT NULL)',
    { postgres: 'CREATE UNLOGGED TABLE toolcrib_rates (name TEXT PRIMARY KEY, full_until DOUBLE PRECISION NOT NULL)' },
    { postgres: CHARGE_RATES },
    `CREATE TABLE toolcrib_results (
      id TEXT PRIMARY KEY, owner TEXT NOT NULL, tool TEXT NOT NULL, body TEXT NOT NULL,
      bytes BIGINT NOT NULL, expires_at BIGINT NOT NULL)`,
    'CREATE INDEX toolcrib_results_by_expiry ON toolcrib_results (expires_at)',
    `CREATE TABLE toolcrib_repeats (
      key TEXT PRIMARY KEY, call_id TEXT NOT NULL, arguments_hash TEXT NOT NULL,
      began_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, result TEXT)`,
    'CREATE INDEX toolcrib_repeats_by_expiry ON toolcrib_repeats (expires_at)',
  ],
  ['ALTER TABLE toolcrib_lists ADD COLUMN about TEXT'],
  [
    `CREATE TABLE toolcrib_indexes (
      file TEXT PRIMARY KEY, hash TEXT NOT NULL, content TEXT NOT NULL, written_at BIGINT NOT NULL)`,
  ],
  [
    `CREATE TABLE toolcrib_keys (
      id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, caller TEXT NOT NULL, roles TEXT NOT NULL,
      permissions TEXT NOT NULL, profiles TEXT, created_by TEXT NOT NULL, created_at BIGINT NOT NULL,
      expires_at BIGINT, revoked_by TEXT, revoked_at BIGINT, last_used_at BIGINT)`,
  ],
  [
    `CREATE TABLE toolcrib_approvals (
      id TEXT PRIMARY KEY, state TEXT NOT NULL, binding TEXT NOT NULL, is_parked BIGINT NOT NULL,
      created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, lifetime_ms BIGINT NOT NULL,
      request TEXT NOT NULL, subject TEXT NOT NULL, answer TEXT, claim TEXT, outcome TEXT)`,
    `CREATE UNIQUE INDEX toolcrib_approvals_parked ON toolcrib_approvals (binding)
      WHERE is_parked = 1 AND state IN ('waiting', 'approved')`,
    'CREATE INDEX toolcrib_approvals_of_binding ON toolcrib_approvals (binding, created_at)',
    'CREATE INDEX toolcrib_approvals_by_state ON toolcrib_approvals (state, created_at)',
    'CREATE INDEX toolcrib_approvals_by_time ON toolcrib_approvals (created_at)',
    'CREATE INDEX toolcrib_approvals_by_end ON toolcrib_approvals (expires_at)',
    `CREATE TABLE toolcrib_grants (
      id TEXT PRIMARY KEY, subject TEXT NOT NULL, given_by TEXT NOT NULL, given_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL)`,
    'CREATE INDEX toolcrib_grants_of_subject ON toolcrib_grants (subject, given_at)',
    'CREATE INDEX toolcrib_grants_by_end ON toolcrib_grants (expires_at)',
  ],
  [
    `CREATE TABLE toolcrib_audit_chains (
      chain TEXT PRIMARY KEY, public_key TEXT NOT NULL, started_at BIGINT NOT NULL, signature TEXT NOT NULL,
      cut_count BIGINT, cut_hash TEXT, cut_at BIGINT, cut_key TEXT, cut_signature TEXT)`,
    `CREATE TABLE toolcrib_audit (
      chain TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, call_id TEXT NOT NULL, tool TEXT NOT NULL,
      caller TEXT NOT NULL, outcome TEXT NOT NULL, entry TEXT NOT NULL, hash TEXT NOT NULL,
      PRIMARY KEY (chain, number))`,
    'CREATE INDEX toolcrib_audit_by_time ON toolcrib_audit (at, tool, caller, outcome)',
    'CREATE INDEX toolcrib_audit_of_call ON toolcrib_audit (call_id)',
    `CREATE TABLE toolcrib_audit_checkpoints (
      chain TEXT NOT NULL, row_count BIGINT NOT NULL, hash TEXT NOT NULL, made_at BIGINT NOT NULL,
      signature TEXT NOT NULL, PRIMARY KEY (chain, row_count))`,
  ],
  ['CREATE TABLE toolcrib_seal_keys (name TEXT PRIMARY KEY, secret TEXT NOT NULL, made_at BIGINT NOT NULL)'],
  [
    'ALTER TABLE toolcrib_approvals ADD COLUMN call_id TEXT',
    'ALTER TABLE toolcrib_approvals ADD COLUMN result TEXT',
    'ALTER TABLE toolcrib_approvals ADD COLUMN is_handed_over BIGINT NOT NULL DEFAULT 0',
    'CREATE INDEX toolcrib_approvals_of_call ON toolcrib_approvals (call_id)',
  ],
  [
    // SQLite has no BYTEA type, but keeps bytes as bytes in any column.
    'CREATE TABLE toolcrib_snapshots (name TEXT PRIMARY KEY, content BYTEA NOT NULL, written_at BIGINT NOT NULL)',
    "DELETE FROM toolcrib_indexes WHERE file = 'search'",
  ],
  [
    'ALTER TABLE toolcrib_approvals ADD COLUMN owner TEXT',
    'ALTER TABLE toolcrib_approvals ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0',
    // Long arguments are in the last column, so that lists do not read them.
    'ALTER TABLE toolcrib_approvals ADD COLUMN arguments TEXT',
    'UPDATE toolcrib_approvals SET bytes = length(request) + length(subject)',
    ...MOVE_LONG_ARGUMENTS,
    'CREATE INDEX toolcrib_approvals_kept ON toolcrib_approvals (state, owner, bytes)',
    'CREATE INDEX toolcrib_approvals_by_state_and_end ON toolcrib_approvals (state, expires_at)',
    'CREATE INDEX toolcrib_approvals_with_arguments ON toolcrib_approvals (expires_at) WHERE arguments IS NOT NULL',
    'ALTER TABLE toolcrib_repeats ADD COLUMN owner TEXT',
    'ALTER TABLE toolcrib_repeats ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0',
    'CREATE INDEX toolcrib_repeats_kept ON toolcrib_repeats (owner, bytes) WHERE owner IS NOT NULL',
  ],
  [
    // Older versions did not store everything that a call runs with: these must be requested again.
    "UPDATE toolcrib_approvals SET state = 'expired' WHERE state IN ('waiting', 'approved')",
    'DELETE FROM toolcrib_grants',
  ],
  [
    'CREATE TABLE toolcrib_processes (id TEXT PRIMARY KEY, seen_at BIGINT NOT NULL)',
    'ALTER TABLE toolcrib_approvals ADD COLUMN process TEXT',
    'ALTER TABLE toolcrib_approvals ADD COLUMN is_lost BIGINT NOT NULL DEFAULT 0',
    "CREATE INDEX toolcrib_approvals_of_process ON toolcrib_approvals (process) WHERE state = 'claimed'",
    'ALTER TABLE toolcrib_repeats ADD COLUMN process TEXT',
    'ALTER TABLE toolcrib_repeats ADD COLUMN lost_at BIGINT',
    `CREATE INDEX toolcrib_repeats_of_process ON toolcrib_repeats (process)
      WHERE process IS NOT NULL AND result IS NULL`,
    // Claims of older versions name no process: they are assigned to one that counts as gone.
    "UPDATE toolcrib_approvals SET process = 'an older version' WHERE state = 'claimed'",
    // From here on, `bytes` is the size of the arguments until a call ends, then that of its result.
    "UPDATE toolcrib_approvals SET bytes = coalesce(length(result), 0) WHERE state = 'done'",
    "UPDATE toolcrib_repeats SET process = 'an older version' WHERE result IS NULL AND owner IS NOT NULL",
    `INSERT INTO toolcrib_processes (id, seen_at) SELECT 'an older version', 0 WHERE
      EXISTS (SELECT 1 FROM toolcrib_approvals WHERE process IS NOT NULL)
      OR EXISTS (SELECT 1 FROM toolcrib_repeats WHERE process IS NOT NULL)`,
  ],
  CREATE_TASKS,
  [
    `CREATE TABLE toolcrib_stops (
      target TEXT PRIMARY KEY, id TEXT NOT NULL, note TEXT, stopped_by TEXT NOT NULL, stopped_at BIGINT NOT NULL,
      cancel_id TEXT)`,
  ],
  CREATE_SCHEDULES,
  [
    'ALTER TABLE toolcrib_approvals ADD COLUMN batch TEXT',
    'ALTER TABLE toolcrib_approvals ADD COLUMN is_sealed BIGINT NOT NULL DEFAULT 1',
    'CREATE INDEX toolcrib_approvals_of_batch ON toolcrib_approvals (batch) WHERE batch IS NOT NULL',
  ],
  ['ALTER TABLE toolcrib_grants ADD COLUMN uses_left BIGINT', 'ALTER TABLE toolcrib_grants ADD COLUMN terms TEXT'],
  CREATE_JOURNALS,
  CREATE_DEFINITIONS,
];
