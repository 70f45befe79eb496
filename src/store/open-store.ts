import type { Clock } from '../core/ports/ports.ts';
import type { Store, StoreStatus } from '../core/ports/store.ts';
import { approvals } from './approvals.ts';
import { audit } from './audit.ts';
import { claims, createHeartbeat } from './claims.ts';
import { type Engine, sql } from './engines/engine.ts';
import { type EngineOptions, type OpenedEngine, openEngine } from './engines/open-engine.ts';
import { keys } from './keys.ts';
import { budgets, rates } from './limits.ts';
import { migrate } from './migrations.ts';
import { activeSets, indexes, lists, sealKeys, snapshots } from './named-values.ts';
import { repeats } from './repeats.ts';
import { results } from './results.ts';
import { specs } from './specs.ts';
import { timedEngine } from './store-clock.ts';

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

async function prepare(engine: Engine) {
  try {
    await migrate(engine);
    return await timedEngine(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function requireWritable(engine: Engine, at: number): Promise<void> {
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
