import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseFile, requireSameFile } from '../place/database-file.ts';
import { isBusy, toFailure, toStoreError } from '../store-errors.ts';
import type { Row, Statement } from './engine.ts';
import { createSession } from './group-commit.ts';

const RETRY_MS = 10;

/** A connection that only reads and never makes the thread wait. */
export interface SqliteReader {
  read(statement: Statement): Promise<readonly Row[]>;
  close(): void;
}

/** Opens the file for reading. Where it is locked all the same (somebody recovers it, or it is not in WAL mode yet), a timer waits. */
export async function openReader(file: DatabaseFile, lockTimeoutMs: number): Promise<SqliteReader> {
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
