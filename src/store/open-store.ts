import type { Clock } from '../core/ports/crib-context.ts';
import type { Store, StoreStatus } from '../core/ports/store.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { createHeartbeat } from './claims.ts';
import { type EngineOptions, type OpenedEngine, openEngine } from './engines/open-engine.ts';
import { numberOf, type SqlEngine, sql } from './engines/sql-engine.ts';
import { MIGRATIONS, type Migration, openTables } from './tables.ts';

/** Where the store is, and its clocks. */
export interface StoreOptions extends EngineOptions {
  /** Says when something changed; that of the store itself if absent. */
  readonly now?: () => number;
  /** Says when the process gives its next sign of life. */
  readonly clock?: Clock;
  /** Is told what the operator should know about the place of the store, each time that it is opened. */
  warn?(message: string): void;
}

/** Opens the store with its schema up to date. */
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

/** Brings the schema up to date, each step once however many processes start; refuses what a newer version wrote. */
export async function migrate(engine: SqlEngine, steps = MIGRATIONS): Promise<void> {
  for (;;) {
    const version = await schemaVersion(engine);
    if (version > steps.length) throw tooNew(engine.location, version, steps.length);
    const next = steps[version];
    if (next === undefined) return;
    await applyStep(engine, version + 1, next);
  }
}

async function schemaVersion(engine: SqlEngine): Promise<number> {
  const found = await engine.read(engine.dialect.tableNamed('toolcrib_migrations'));
  if (found.length === 0) return 0;
  const [row] = await engine.read(sql`SELECT coalesce(max(id), 0) AS version FROM toolcrib_migrations`);
  return row === undefined ? 0 : numberOf(row, 'version');
}

/** The primary key lets a step in once: whoever comes second is rolled back and finds it done. */
async function applyStep(engine: SqlEngine, id: number, step: Migration): Promise<void> {
  const texts = step.flatMap((text) => {
    if (typeof text === 'string') return [text];
    if ('sqlite' in text) return engine.name === 'postgres' ? [] : [text.sqlite];
    return engine.name === 'postgres' ? [text.postgres] : [];
  });
  try {
    await engine.writeSlowly([
      ...engine.dialect.lockMigrations,
      sql`CREATE TABLE IF NOT EXISTS toolcrib_migrations (id BIGINT PRIMARY KEY)`,
      sql`INSERT INTO toolcrib_migrations (id) VALUES (${id})`,
      ...texts.map((text) => ({ sql: text, params: [] })),
    ]);
  } catch (error) {
    if ((await schemaVersion(engine)) < id) throw error;
  }
}

function tooNew(location: string, version: number, known: number): ToolcribError {
  const message = `The store ${location} was written by a newer version of Toolcrib (schema ${version}, this one knows ${known}); update Toolcrib or name another store under store.url.`;
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

/** A measured time is good for so long: clocks run apart by a little. */
const FRESH_MS = 30_000;
/** The machine slept, or its clock was set, where its two clocks differ by more since the last measurement. */
const MOST_APART_MS = 1000;

/** An engine, and the time by which what it keeps is over. */
interface TimedEngine {
  readonly engine: SqlEngine;
  now(): number;
}

/**
 * The time of a database that several machines share: one whose clock is wrong must not end what others keep there. It is
 * measured from time to time, and counted on by the steady clock of this machine. A database of this machine alone goes by
 * the time of the machine.
 */
async function timedEngine(engine: SqlEngine): Promise<TimedEngine> {
  if (engine.name !== 'postgres') return { engine, now: Date.now };
  let last = await measure(engine);
  let measuring: Promise<void> | undefined;
  const measureAgain = async (): Promise<void> => {
    last = await measure(engine).catch(() => last); // who asks the database for more is told that it is gone
    measuring = undefined;
  };
  // Who decides reads first: after that the time is right, also where the machine has slept.
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

/** One moment by three clocks. */
interface Moment {
  /** Of the database. */
  readonly at: number;
  readonly steady: number;
  readonly wall: number;
}

async function measure(engine: SqlEngine): Promise<Moment> {
  const [row = {}] = await engine.read({ sql: `SELECT ${engine.dialect.nowMs} AS at`, params: [] });
  return { at: numberOf(row, 'at'), steady: performance.now(), wall: Date.now() };
}
