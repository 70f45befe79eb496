import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../system/thread-environment.ts';
import { createPrivateFile, type DatabaseFile, requireSameFile } from '../state-folder.ts';
import { commitGroups, createSession } from './group-commit.ts';
import {
  failureError,
  isBusy,
  numberOf,
  type Row,
  type SqlDialect,
  type SqlEngine,
  type Statement,
  sql,
  storeUnavailable,
  toFailure,
  toStoreError,
} from './sql-engine.ts';
import type { ScanAnswer, ScanQuestion } from './sqlite-scan-thread.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import type { WriterOptions } from './sqlite-writer-thread.ts';

/** The dialect of SQLite, in a file or in memory. */
const SQLITE_DIALECT: SqlDialect = {
  lockMigrations: [], // every write takes the lock
  lock: () => [],
  skipLocked: '', // likewise
  nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  tableNamed: (name) => sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ${name}`,
};

/**
 * SQLite in a file. Writes run on a thread, because they may wait for a lock of another process; long reads of a large
 * file run on another. All other reads stay on this thread: in WAL mode writers do not block them, and a command that only reads
 * need not start a thread.
 */
export async function openSqlite(path: string, lockTimeoutMs: number): Promise<SqlEngine> {
  const file = createPrivateFile(path);
  const reader = await openReader(file, lockTimeoutMs);
  const writer = new SqliteWriter({ file, lockTimeoutMs });
  const scanner = new SqliteScanner({ file, lockTimeoutMs });
  let closed: Promise<void> | undefined;
  const requireOpen = () => {
    if (closed !== undefined) throw storeUnavailable(path, 'is closed');
  };
  const write: SqlEngine['write'] = async (statements, survives) => {
    requireOpen();
    return writer.write(statements, survives);
  };
  const close = async () => {
    await scanner.close();
    reader.close(); // the writer closes last: only it can checkpoint and remove the log
    await writer.close();
  };
  return {
    name: 'sqlite',
    location: path,
    dialect: SQLITE_DIALECT,
    read: async (statement) => {
      requireOpen();
      return reader.read(statement);
    },
    scan: async (statement) => {
      requireOpen();
      return (await isSmall(reader)) ? reader.read(statement) : scanner.scan(statement);
    },
    write,
    append: async (batch) => {
      requireOpen();
      return writer.append(batch);
    },
    writeSlowly: write,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Up to this size, any statement takes a few milliseconds: less than starting a thread, which also takes 13 MB. */
const SMALL_PAGES = 500;

async function isSmall(reader: SqliteReader): Promise<boolean> {
  const [row = {}] = await reader.read(sql`SELECT page_count FROM pragma_page_count`);
  return numberOf(row, 'page_count') <= SMALL_PAGES;
}

const RETRY_MS = 10;

/** A read-only connection that never blocks the thread. */
interface SqliteReader {
  read(statement: Statement): Promise<readonly Row[]>;
  close(): void;
}

/** Opens the file for reading. If it is locked (another process recovers it, or it is not in WAL mode yet), a timer retries. */
async function openReader(file: DatabaseFile, lockTimeoutMs: number): Promise<SqliteReader> {
  const { DatabaseSync } = await import('node:sqlite');
  const { database, prepare } = openSession();
  return {
    read: async ({ sql, params }) => {
      const deadline = performance.now() + lockTimeoutMs;
      for (;;) {
        try {
          requireSameFile(file);
          return prepare(sql).run(params);
        } catch (error) {
          if (!isBusy(toFailure(error)) || performance.now() > deadline) throw toStoreError(error, file.path);
        }
        await delay(RETRY_MS);
      }
    },
    close: () => database.close(),
  };

  function openSession() {
    try {
      return createSession(new DatabaseSync(file.path, { readOnly: true, timeout: 0 }));
    } catch (error) {
      throw toStoreError(error, file.path);
    }
  }
}

type Pending = Map<number, PromiseWithResolvers<readonly Row[]>>;

/** The scan thread ends after this idle time. */
const IDLE_MS = 10_000;

/** Runs reads of many rows on their own thread, which starts with the first read and ends when idle. */
class SqliteScanner {
  readonly #options: WriterOptions;
  #thread: { readonly worker: Worker; readonly pending: Pending } | undefined;
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  scan({ sql, params }: Statement): Promise<readonly Row[]> {
    const id = ++this.#lastId;
    this.#thread ??= this.#start();
    const { worker, pending } = this.#thread;
    const found = Promise.withResolvers<readonly Row[]>();
    pending.set(id, found);
    clearTimeout(this.#timer);
    worker.ref();
    worker.postMessage({ id, sql, params } satisfies ScanQuestion);
    return found.promise;
  }

  /** Does not wait for running reads: they are rejected. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#thread?.worker.terminate();
  }

  #start() {
    const url = new URL(`./sqlite-scan-thread${extname(import.meta.url)}`, import.meta.url); // .ts here, .js when built
    const worker = new Worker(url, {
      workerData: this.#options,
      name: 'toolcrib-scan',
      execArgv: [],
      env: threadEnvironment(),
    });
    const pending: Pending = new Map();
    let crash: unknown;
    worker.on('message', (answer: ScanAnswer) => this.#settle(pending, answer));
    worker.on('error', (error) => {
      crash = error;
    });
    worker.on('exit', () => {
      this.#thread = undefined;
      const reason = 'could not be read: the reader thread ended; try again';
      for (const { reject } of pending.values()) reject(storeUnavailable(this.#options.file.path, reason, crash));
    });
    return { worker, pending };
  }

  #settle(pending: Pending, answer: ScanAnswer): void {
    const found = pending.get(answer.id);
    pending.delete(answer.id);
    if ('rows' in answer) found?.resolve(answer.rows);
    else found?.reject(failureError(answer.failure, this.#options.file.path));
    if (pending.size > 0) return;
    this.#thread?.worker.unref();
    this.#timer = setTimeout(() => void this.#thread?.worker.terminate(), IDLE_MS).unref();
  }
}

const LOCATION = 'in memory';

/** SQLite in memory: the same statements, without waiting. */
export async function openMemory(): Promise<SqlEngine> {
  const { DatabaseSync } = await import('node:sqlite');
  const session = createSession(new DatabaseSync(':memory:'));
  const requireOpen = () => {
    if (!session.database.isOpen) throw storeUnavailable(LOCATION, 'is closed');
  };
  const read: SqlEngine['read'] = async ({ sql, params }) => {
    requireOpen();
    try {
      return session.prepare(sql).run(params);
    } catch (error) {
      throw toStoreError(error, LOCATION);
    }
  };
  const write: SqlEngine['write'] = async (statements) => {
    requireOpen();
    const [outcome] = commitGroups(session, [{ id: 0, statements }]);
    if (outcome === undefined) return [];
    if ('rows' in outcome) return outcome.rows;
    throw failureError(outcome.failure, LOCATION);
  };
  return {
    name: 'memory',
    location: LOCATION,
    dialect: SQLITE_DIALECT,
    read,
    scan: read, // a store in memory is small
    write,
    writeSlowly: write,
    close: async () => {
      if (session.database.isOpen) session.database.close();
    },
  };
}
