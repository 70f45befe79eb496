import { resolve } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';
import { databaseIn, type Environment } from '../state-folder.ts';
import { recordBegun, settleStateFolder } from '../store-place.ts';
import { isMemoryUrl, sqliteFileOf } from '../store-url.ts';
import type { SqlEngine } from './sql-engine.ts';

/** The place of a store, and its timeout. */
export interface EngineOptions {
  /** `sqlite:path`, `postgres://...`, `memory:` or `sqlite::memory:`; default: SQLite in the state folder. */
  readonly url?: string | undefined;
  /** The base of relative paths; the state folder lies in it. */
  readonly configFolder?: string | undefined;
  readonly env: Environment;
  /** Timeout for a lock held by another process. */
  readonly lockTimeoutMs?: number;
}

/** An engine, with warnings for the operator about its place. */
export interface OpenedEngine {
  readonly engine: SqlEngine;
  readonly warnings: readonly string[];
}

const LOCK_TIMEOUT_MS = 5_000;

/** Opens the engine that a URL names. The code of other engines is not loaded. */
export async function openEngine(options: EngineOptions): Promise<OpenedEngine> {
  const { url, configFolder = '.', lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  if (url === undefined) return openInStateFolder(options, lockTimeoutMs);
  if (isMemoryUrl(url)) return { engine: await openMemory(), warnings: [] };
  const file = sqliteFileOf(url);
  if (file !== undefined) return { engine: await openSqlite(resolve(configFolder, file), lockTimeoutMs), warnings: [] };
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./postgres-engine.ts');
    return { engine: await openPostgres(url, lockTimeoutMs), warnings: [] };
  }
  throw unknownUrl(url);
}

async function openInStateFolder({ configFolder, env }: EngineOptions, lockTimeoutMs: number): Promise<OpenedEngine> {
  if (configFolder === undefined) {
    const warning =
      'No configuration folder to keep state in: all state is lost when this process ends. Set store.url to keep it.';
    return { engine: await openMemory(), warnings: [warning] };
  }
  const { path, warnings } = settleStateFolder(configFolder, env);
  if (path === undefined) return { engine: await openMemory(), warnings };
  const engine = await openSqlite(databaseIn(path), lockTimeoutMs);
  recordBegun(path, configFolder, env);
  return { engine, warnings };
}

async function openMemory(): Promise<SqlEngine> {
  const memory = await import('./sqlite-engine.ts');
  return memory.openMemory();
}

async function openSqlite(path: string, lockTimeoutMs: number): Promise<SqlEngine> {
  const sqlite = await import('./sqlite-engine.ts');
  return sqlite.openSqlite(path, lockTimeoutMs);
}

/** Repeats only the scheme, because the rest may contain a password. */
function unknownUrl(url: string): ToolcribError {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0];
  const what = scheme === undefined ? 'store.url has no scheme' : `store.url starts with "${scheme}"`;
  return new ToolcribError('invalid_store', `${what}; use sqlite:path, postgres://... or memory:.`);
}
