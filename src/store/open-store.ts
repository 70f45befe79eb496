import type { Clock } from '../core/ports/crib-context.ts';
import type { Store, StoreStatus } from '../core/ports/store.ts';
import { approvals } from './approval-table.ts';
import { audit } from './audit-table.ts';
import { claims, createHeartbeat } from './claims.ts';
import { type EngineOptions, type OpenedEngine, openEngine } from './engines/open-engine.ts';
import { numberOf, type SqlEngine, sql } from './engines/sql-engine.ts';
import { budgets, rates } from './limits.ts';
import { migrate } from './migrations.ts';
import { repeats } from './repeats.ts';
import { activeSets, indexes, keys, lists, results, sealKeys, snapshots } from './small-tables.ts';
import { specs } from './spec-table.ts';

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
    specs: specs(engine, now),
    lists: lists(engine),
    activeSets: activeSets(engine, now),
    indexes: indexes(engine, now),
    snapshots: snapshots(engine, now),
    budgets: budgets(engine, now),
    rates: rates(engine),
    results: results(engine, now, options.now ?? Date.now),
    repeats: repeats(engine, now, heartbeat),
    keys: keys(engine, now),
    approvals: approvals(engine, now, heartbeat),
    claims: claims(engine, now),
    audit: audit(engine, now),
    sealKeys: sealKeys(engine, now),
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
