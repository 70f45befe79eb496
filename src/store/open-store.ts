import type { Clock } from '../core/ports/crib-context.ts';
import type { Store, StoreStatus } from '../core/ports/store.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { createHeartbeat } from './claims.ts';
import { type EngineOptions, type OpenedEngine, openEngine } from './engines/open-engine.ts';
import { numberOf, type SqlEngine, sql } from './engines/sql-engine.ts';
import { MIGRATIONS, type Migration, openTables } from './tables.ts';

/** Options for opening the store. */
export interface StoreOptions extends EngineOptions {
  /** The clock for timestamps; default: the clock of the store. */
  readonly now?: () => number;
  /** The clock for the heartbeat. */
  readonly clock?: Clock;
  /** Called with warnings about the place of the store, each time it is opened. */
  warn?(message: string): void;
}

/** Opens the store and migrates its schema. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const opened = await openEngine(options);
  const timed = await prepare(opened.engine);
  for (const warning of opened.warnings) options.warn?.(warning);
  const { engine } = timed;
  const { now = timed.now } = options;
  const heartbeat = createHeartbeat(engine, options.clock);
  return {
    ...openTables({ engine, now, machineNow: options.now ?? Date.now, heartbeat }),
    status: () => statusOf(opened),
    requireWritable: () => requireWritable(engine, now()),
    async close() {
      await heartbeat.close();
      await engine.close();
    },
  };
}

async function prepare(engine: SqlEngine) {
  try {
    await migrate(engine);
    return await timedEngine(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * Migrates the schema in one transaction, because a transaction takes longer than most steps. Each step runs once, even if
 * several processes start: the primary key admits it once, and the process that comes second is rolled back. Refuses a
 * store written by a newer version.
 */
export async function migrate(engine: SqlEngine, steps = MIGRATIONS): Promise<void> {
  for (;;) {
    const version = await schemaVersion(engine);
    if (version > steps.length) throw tooNew(engine.location, version, steps.length);
    if (version === steps.length) return;
    try {
      return await applySteps(engine, version, steps.slice(version));
    } catch (error) {
      if ((await schemaVersion(engine)) === version) throw error;
    }
  }
}

async function schemaVersion(engine: SqlEngine): Promise<number> {
  const found = await engine.read(engine.dialect.tableNamed('toolcrib_migrations'));
  if (found.length === 0) return 0;
  const [row] = await engine.read(sql`SELECT coalesce(max(id), 0) AS version FROM toolcrib_migrations`);
  return row === undefined ? 0 : numberOf(row, 'version');
}

async function applySteps(engine: SqlEngine, version: number, steps: readonly Migration[]): Promise<void> {
  const statements = steps.flatMap((step, index) => [
    sql`INSERT INTO toolcrib_migrations (id) VALUES (${version + index + 1})`,
    ...textsFor(engine, step).map((text) => ({ sql: text, params: [] })),
  ]);
  await engine.writeSlowly([
    ...engine.dialect.lockMigrations,
    sql`CREATE TABLE IF NOT EXISTS toolcrib_migrations (id BIGINT PRIMARY KEY)`,
    ...statements,
  ]);
}

function textsFor(engine: SqlEngine, step: Migration): readonly string[] {
  return step.flatMap((text) => {
    if (typeof text === 'string') return [text];
    if ('sqlite' in text) return engine.name === 'postgres' ? [] : [text.sqlite];
    return engine.name === 'postgres' ? [text.postgres] : [];
  });
}

function tooNew(location: string, version: number, known: number): ToolcribError {
  const message = `The store ${location} was written by a newer version of Toolcrib (schema ${version}, this one knows ${known}); update Toolcrib or set store.url to another store.`;
  return new ToolcribError('store_too_new', message);
}

async function requireWritable(engine: SqlEngine, at: number): Promise<void> {
  await engine.write([
    sql`
      INSERT INTO toolcrib_versions (name, version) VALUES ('written', ${at})
      ON CONFLICT (name) DO UPDATE SET version = excluded.version`,
  ]);
}

async function statusOf({ engine, warnings }: OpenedEngine): Promise<StoreStatus> {
  const where = { engine: engine.name, location: engine.location, warnings };
  try {
    await engine.read(sql`SELECT count(*) FROM toolcrib_versions`);
    return { ...where, reachable: true };
  } catch (error) {
    return { ...where, reachable: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Lifetime of a measured time; clocks drift slowly. */
const FRESH_MS = 30_000;
/** If the wall clock and the steady clock have drifted further apart since the last measurement, the machine slept or its clock was set. */
const MOST_APART_MS = 1000;

/** An engine with its clock for expiry. */
interface TimedEngine {
  readonly engine: SqlEngine;
  now(): number;
}

/**
 * Uses the time of a database that several machines share, so that a machine with a wrong clock cannot expire the data of
 * others. The time is measured now and then, and advanced by the steady clock of this machine. A local database uses the
 * time of the machine.
 */
async function timedEngine(engine: SqlEngine): Promise<TimedEngine> {
  if (engine.name !== 'postgres') return { engine, now: Date.now };
  let last = await measure(engine);
  let measuring: Promise<void> | undefined;
  const measureAgain = async (): Promise<void> => {
    last = await measure(engine).catch(() => last); // the next query reports that the database is gone
    measuring = undefined;
  };
  // Decisions follow a read, so the time is right after the read, even if the machine has slept.
  const whenMeasured = async <T>(asked: Promise<T>): Promise<T> => {
    const answer = await asked;
    await measuring;
    return answer;
  };
  return {
    engine: {
      ...engine,
      read: (statement) => whenMeasured(engine.read(statement)),
      write: (statements, survives) => whenMeasured(engine.write(statements, survives)),
    },
    now() {
      const passedMs = performance.now() - last.steady;
      const apartMs = Math.abs(Date.now() - last.wall - passedMs);
      if (passedMs > FRESH_MS || apartMs > MOST_APART_MS) measuring ??= measureAgain();
      return Math.round(last.at + passedMs);
    },
  };
}

/** One moment on three clocks. */
interface Moment {
  /** The time of the database. */
  readonly at: number;
  readonly steady: number;
  readonly wall: number;
}

async function measure(engine: SqlEngine): Promise<Moment> {
  const [row = {}] = await engine.read({ sql: `SELECT ${engine.dialect.nowMs} AS at`, params: [] });
  return { at: numberOf(row, 'at'), steady: performance.now(), wall: Date.now() };
}
