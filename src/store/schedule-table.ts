import type {
  LastSlot,
  NewSchedule,
  Schedule,
  ScheduleProgress,
  StoredSchedule,
  StoredSchedules,
} from '../core/ports/stored-schedules.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** The tables of schedules. Of those of the configuration only the progress is stored. */
export const CREATE_SCHEDULES: readonly string[] = [
  `CREATE TABLE toolcrib_schedules (
    name TEXT PRIMARY KEY, schedule TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL, once_at BIGINT)`,
  `CREATE TABLE toolcrib_schedule_progress (
    name TEXT PRIMARY KEY, timing TEXT NOT NULL, handled_at BIGINT NOT NULL,
    claimed_slot BIGINT, claimed_at BIGINT, last TEXT)`,
];

/** The first statement of a change that counts: it locks out other writers. */
const LOCK = sql`
  INSERT INTO toolcrib_versions (name, version) VALUES ('schedules', 1)
  ON CONFLICT (name) DO UPDATE SET version = toolcrib_versions.version + 1`;

/** Schedules with a single slot are removed after this time. */
const KEPT_MS = 7 * 86_400_000;

/** A process that claimed a slot and did not submit it in this time is taken to be gone. */
const CLAIM_MS = 15_000;

/** Schedules and their progress, in an engine. */
export function schedules(engine: SqlEngine, now: () => number): StoredSchedules {
  return {
    list: async () => {
      const rows = await engine.read(sql`SELECT name, schedule, changed_by, changed_at FROM toolcrib_schedules`);
      return rows.map(toStored).sort((a, b) => (a.name < b.name ? -1 : 1)); // engines collate differently
    },
    put: (schedule, most) => putSchedule(engine, schedule, { most, at: now() }),
    async remove(name) {
      const [, removed] = await engine.write([
        LOCK,
        sql`DELETE FROM toolcrib_schedules WHERE name = ${name} RETURNING name`,
        sql`DELETE FROM toolcrib_schedule_progress WHERE name = ${name}`,
      ]);
      return removed?.length === 1;
    },
    async progress() {
      const rows = await engine.read(sql`SELECT * FROM toolcrib_schedule_progress`);
      return { now: now(), progress: rows.map(toProgress) };
    },
    async start(name, timing, handledAt) {
      await engine.write([startWhere({ name, timing, handledAt }, sql`1 = 1`)]);
    },
    async claim(name, timing, slot) {
      const at = now();
      const [rows] = await engine.write([
        sql`
          UPDATE toolcrib_schedule_progress SET claimed_slot = ${slot}, claimed_at = ${at}
          WHERE name = ${name} AND timing = ${timing} AND handled_at < ${slot}
            AND (claimed_slot IS NULL OR claimed_slot < ${slot} OR claimed_at <= ${at - CLAIM_MS} OR claimed_at > ${at})
          RETURNING name`,
      ]);
      return rows?.length === 1;
    },
    async release(name, slot) {
      await engine.write([
        sql`UPDATE toolcrib_schedule_progress SET claimed_at = 0 WHERE name = ${name} AND claimed_slot = ${slot}`,
      ]);
    },
    async handle(name, timing, { slot, last }) {
      const told = last === undefined ? null : JSON.stringify(last);
      await engine.write([
        sql`
          UPDATE toolcrib_schedule_progress SET handled_at = ${slot}, claimed_slot = NULL, claimed_at = NULL,
            last = coalesce(CAST(${told} AS TEXT), last)
          WHERE name = ${name} AND timing = ${timing} AND handled_at < ${slot}`,
      ]);
    },
  };
}

async function putSchedule(
  engine: SqlEngine,
  { name, schedule, timing, by, replace }: NewSchedule,
  { most, at }: { readonly most: number; readonly at: number },
): ReturnType<StoredSchedules['put']> {
  const once = schedule.at ?? null;
  const [, , , , , before, written] = await engine.write([
    LOCK,
    forgetOver('toolcrib_schedule_progress', at),
    forgetOver('toolcrib_schedules', at),
    // A process that saw a schedule just before its removal may have started it again.
    sql`
          DELETE FROM toolcrib_schedule_progress WHERE name = ${name}
            AND NOT EXISTS (SELECT 1 FROM toolcrib_schedules WHERE toolcrib_schedules.name = ${name})`,
    startWhere({ name, timing, handledAt: at }, put(name, replace, most)),
    sql`SELECT count(*) AS named FROM toolcrib_schedules WHERE name = ${name}`,
    {
      sql: `INSERT INTO toolcrib_schedules (name, schedule, changed_by, changed_at, once_at)
            SELECT name, schedule, changed_by, changed_at, once_at
            FROM (SELECT ? AS name, ? AS schedule, ? AS changed_by, CAST(? AS BIGINT) AS changed_at,
              CAST(? AS BIGINT) AS once_at) AS made
            WHERE ${put(name, replace, most).sql}
            ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule, changed_by = excluded.changed_by,
              changed_at = excluded.changed_at, once_at = excluded.once_at
            RETURNING name`,
      params: [name, JSON.stringify(schedule), by, at, once, ...put(name, replace, most).params],
    },
  ]);
  const isNamed = before?.[0] !== undefined && numberOf(before[0], 'named') > 0;
  if (written?.length === 1) return isNamed ? 'changed' : 'added';
  return isNamed ? 'taken' : 'full';
}

/** SQL condition: the name is free and there is room, or the schedule may be replaced. */
function put(name: string, replace: boolean, most: number): Statement {
  const isThere = 'EXISTS (SELECT 1 FROM toolcrib_schedules AS one WHERE one.name = ?)';
  return replace
    ? { sql: `(${isThere} OR (SELECT count(*) FROM toolcrib_schedules) < ?)`, params: [name, most] }
    : { sql: `(NOT ${isThere} AND (SELECT count(*) FROM toolcrib_schedules) < ?)`, params: [name, most] };
}

/** Starts the progress of a schedule under a condition. The same timing continues. */
function startWhere(start: { name: string; timing: string; handledAt: number }, where: Statement): Statement {
  return {
    sql: `INSERT INTO toolcrib_schedule_progress (name, timing, handled_at)
      SELECT name, timing, handled_at
      FROM (SELECT ? AS name, ? AS timing, CAST(? AS BIGINT) AS handled_at) AS made WHERE ${where.sql}
      ON CONFLICT (name) DO UPDATE SET timing = excluded.timing, handled_at = excluded.handled_at,
        claimed_slot = NULL, claimed_at = NULL
      WHERE toolcrib_schedule_progress.timing <> excluded.timing`,
    params: [start.name, start.timing, start.handledAt, ...where.params],
  };
}

/** Removes rows of schedules whose only slot is long over. */
function forgetOver(table: 'toolcrib_schedules' | 'toolcrib_schedule_progress', at: number): Statement {
  return {
    sql: `DELETE FROM ${table} WHERE name IN (SELECT name FROM toolcrib_schedules WHERE once_at < ?)`,
    params: [at - KEPT_MS],
  };
}

function toStored(row: Row): StoredSchedule {
  return {
    name: textOf(row, 'name'),
    schedule: jsonOf(row, 'schedule') as Schedule, // only schedules are written
    by: textOf(row, 'changed_by'),
    at: numberOf(row, 'changed_at'),
  };
}

function toProgress(row: Row): ScheduleProgress {
  return {
    name: textOf(row, 'name'),
    timing: textOf(row, 'timing'),
    handledAt: numberOf(row, 'handled_at'),
    ...(row.claimed_slot !== null && { claimedSlot: numberOf(row, 'claimed_slot') }),
    ...(row.last !== null && { last: jsonOf(row, 'last') as LastSlot }), // only such objects are written
  };
}
