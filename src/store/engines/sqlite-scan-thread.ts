import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { requireSameFile } from '../state-folder.ts';
import { createSession, type Session } from './group-commit.ts';
import { type Row, type SqliteFailure, type Statement, toFailure } from './sql-engine.ts';
import type { WriterOptions } from './sqlite-writer-thread.ts';

/** A statement to run on the scan thread. */
export interface ScanQuestion extends Statement {
  readonly id: number;
}

/** The rows of a statement, or its failure. */
export type ScanAnswer =
  | { readonly id: number; readonly rows: readonly Row[] }
  | { readonly id: number; readonly failure: SqliteFailure };

const { file, lockTimeoutMs } = workerData as WriterOptions; // set by sqlite-engine.ts, which starts this file
const port = parentPort;
let session: Session | undefined;

port?.on('message', ({ id, sql, params }: ScanQuestion) => {
  try {
    requireSameFile(file);
    session ??= createSession(new DatabaseSync(file.path, { readOnly: true, timeout: lockTimeoutMs }));
    port.postMessage({ id, rows: session.prepare(sql).run(params) } satisfies ScanAnswer);
  } catch (error) {
    port.postMessage({ id, failure: toFailure(error) } satisfies ScanAnswer);
  }
});
