import { createPrivateFile } from '../place/database-file.ts';
import { storeUnavailable } from '../store-errors.ts';
import { type Dialect, type Engine, sql } from './engine.ts';
import { openReader } from './sqlite-reader.ts';
import { SqliteScanner } from './sqlite-scanner.ts';
import { SqliteWriter } from './sqlite-writer.ts';

/** SQLite, in a file or in memory. */
export const SQLITE_DIALECT: Dialect = {
  lockMigrations: [], // every write takes the lock
  lock: () => [],
  nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  tableNamed: (name) => sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ${name}`,
};

/**
 * SQLite in a file. A thread writes, because a lock of another process may have to be waited for, and a thread reads what
 * takes long. All other reads stay on this thread: in WAL mode no writer locks them out, and a command that only reads
 * need not start a thread.
 */
export async function openSqlite(path: string, lockTimeoutMs: number): Promise<Engine> {
  const file = createPrivateFile(path);
  const reader = await openReader(file, lockTimeoutMs);
  const writer = new SqliteWriter({ file, lockTimeoutMs });
  const scanner = new SqliteScanner({ file, lockTimeoutMs });
  let closed: Promise<void> | undefined;
  const requireOpen = () => {
    if (closed !== undefined) throw storeUnavailable(path, 'is closed');
  };
  const write: Engine['write'] = async (statements, survives) => {
    requireOpen();
    return writer.write(statements, survives);
  };
  const close = async () => {
    await scanner.close();
    reader.close(); // the writer goes last: only it can bring the log into the file and remove it
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
      return scanner.scan(statement);
    },
    write,
    writeSlowly: write,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
