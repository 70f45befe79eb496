import { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { AuditBatch } from '../../core/ports/stored-audit.ts';
import { toAppend } from '../audit-append.ts';
import { type DatabaseFile, requireSameFile } from '../state-folder.ts';
import {
  commitGroups,
  createSession,
  type Group,
  type GroupOutcome,
  type PackedGroups,
  type Session,
  unpackGroups,
} from './group-commit.ts';
import { isBusy, sql, toFailure } from './sql-engine.ts';

/** Options of the writer thread. */
export interface WriterOptions {
  readonly file: DatabaseFile;
  readonly lockTimeoutMs: number;
}

/** Messages to the thread. */
export type WriterMessage = PackedGroups | AppendMessage | 'close';
/** Rows of the audit. */
interface AppendMessage {
  readonly id: number;
  readonly batch: AuditBatch;
}
/** The thread's answer: the outcome of each group. */
export type WriterAnswer = readonly GroupOutcome[];

const { file, lockTimeoutMs } = workerData as WriterOptions; // set by sqlite-writer.ts, which starts this file
const port = parentPort;
let session: Session | undefined;

port?.on('message', (first: WriterMessage) => {
  let waiting: readonly Group[] = [];
  for (let message: WriterMessage | undefined = first; message !== undefined; message = nextMessage()) {
    if (message === 'close') return close(); // the last message: the sender has waited for every answer
    waiting = waiting.concat('batch' in message ? toGroup(message) : unpackGroups(message));
  }
  while (waiting.length > 0) {
    const outcomes = commit(waiting);
    port.postMessage(outcomes satisfies WriterAnswer);
    waiting = waiting.slice(outcomes.length);
  }
});

/** The last statement answers where the chain ends. */
function toGroup({ id, batch }: AppendMessage): Group {
  const { statements, survives, end } = toAppend(batch);
  return { id, statements: [...statements, sql`SELECT ${end.count} AS count, ${end.hash} AS hash`], survives };
}

function nextMessage(): WriterMessage | undefined {
  return port === null ? undefined : receiveMessageOnPort(port)?.message;
}

function commit(groups: readonly Group[]): readonly GroupOutcome[] {
  try {
    requireSameFile(file);
    session ??= openSession();
    return commitGroups(session, groups);
  } catch (error) {
    const failure = toFailure(error);
    return groups.map(({ id }) => ({ id, failure }));
  }
}

function openSession(): Session {
  const database = new DatabaseSync(file.path, { timeout: lockTimeoutMs });
  try {
    switchToWal(database);
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
    return createSession(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Retries: here SQLite does not wait for a lock, and several processes may start at once. */
function switchToWal(database: DatabaseSync): void {
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(toFailure(error)) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function close(): void {
  session?.database.close();
  port?.close();
}
