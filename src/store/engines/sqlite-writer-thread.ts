import { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
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
import { isBusy, toFailure } from './sql-engine.ts';

/** What the thread is started with. */
export interface WriterOptions {
  readonly file: DatabaseFile;
  readonly lockTimeoutMs: number;
}

/** What the thread is told. */
export type WriterMessage = PackedGroups | 'close';
/** What it tells: how each group fared. */
export type WriterAnswer = readonly GroupOutcome[];

const { file, lockTimeoutMs } = workerData as WriterOptions; // sqlite-writer.ts starts this file with these
const port = parentPort;
let session: Session | undefined;

port?.on('message', (first: WriterMessage) => {
  let waiting: readonly Group[] = [];
  for (let message: WriterMessage | undefined = first; message !== undefined; message = nextMessage()) {
    if (message === 'close') return close(); // comes last: its sender has waited for every answer
    waiting = waiting.concat(unpackGroups(message));
  }
  while (waiting.length > 0) {
    const outcomes = commit(waiting);
    port.postMessage(outcomes satisfies WriterAnswer);
    waiting = waiting.slice(outcomes.length);
  }
});

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

/** SQLite does not wait for a lock here by itself, and processes that start together meet. */
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
