import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { AuditBatch, ChainPosition } from '../../core/ports/stored-audit.ts';
import { threadEnvironment } from '../../system/thread-environment.ts';
import { type Group, packGroups } from './group-commit.ts';
import {
  failureError,
  numberOf,
  type Row,
  type Statement,
  type Survival,
  storeUnavailable,
  textOf,
  toFailure,
} from './sql-engine.ts';
import type { WriterAnswer, WriterMessage, WriterOptions } from './sqlite-writer-thread.ts';

type Rows = readonly (readonly Row[])[];

interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, PromiseWithResolvers<Rows>>;
}

/** The main thread's side of the writer thread, which starts with the first write and restarts after a crash. */
export class SqliteWriter {
  readonly #options: WriterOptions;
  #thread: Thread | undefined;
  #queue: Group[] = [];
  #lastId = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  write(statements: readonly Statement[], survives?: Survival): Promise<Rows> {
    const { id, written } = this.#expect();
    if (this.#queue.push({ id, statements, survives }) === 1) queueMicrotask(() => this.#send());
    return written;
  }

  /** Hands rows of the audit over as they are. */
  async append(batch: AuditBatch): Promise<ChainPosition> {
    const { id, thread, written } = this.#expect();
    thread.worker.postMessage({ id, batch } satisfies WriterMessage);
    const [end = {}] = (await written).at(-1) ?? [];
    return { count: numberOf(end, 'count'), hash: textOf(end, 'hash') };
  }

  #expect(): { readonly id: number; readonly thread: Thread; readonly written: Promise<Rows> } {
    const id = ++this.#lastId;
    const thread = this.#ensureThread();
    const written = Promise.withResolvers<Rows>();
    thread.pending.set(id, written);
    thread.worker.ref(); // pending writes keep the process alive; an idle thread does not
    return { id, thread, written: written.promise };
  }

  /** Closes the file after all pending writes. */
  async close(): Promise<void> {
    if (this.#thread === undefined) return;
    const { worker, pending } = this.#thread;
    await Promise.allSettled(Array.from(pending.values(), ({ promise }) => promise));
    if (this.#thread === undefined) return;
    worker.ref();
    await new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
      worker.postMessage('close' satisfies WriterMessage);
    });
  }

  /** Sends the writes of one event loop turn as one message. */
  #send(): void {
    const groups = this.#queue;
    this.#queue = [];
    const thread = this.#ensureThread();
    try {
      thread.worker.postMessage(packGroups(groups) satisfies WriterMessage);
    } catch (error) {
      const failure = toFailure(error); // a value that cannot be cloned
      settle(
        thread,
        groups.map(({ id }) => ({ id, failure })),
        this.#options.file.path,
      );
    }
  }

  #ensureThread(): Thread {
    this.#thread ??= this.#start();
    return this.#thread;
  }

  #start(): Thread {
    const url = new URL(`./sqlite-writer-thread${extname(import.meta.url)}`, import.meta.url); // .ts here, .js when built
    const worker = new Worker(url, {
      workerData: this.#options,
      name: 'toolcrib-store',
      execArgv: [],
      env: threadEnvironment(),
    });
    const thread: Thread = { worker, pending: new Map() };
    let crash: unknown;
    worker.on('message', (answer: WriterAnswer) => settle(thread, answer, this.#options.file.path));
    worker.on('error', (error) => {
      crash = error;
    });
    worker.on('exit', () => {
      this.#thread = undefined;
      rejectAll(thread, this.#options.file.path, crash);
    });
    return thread;
  }
}

function settle({ worker, pending }: Thread, answer: WriterAnswer, path: string): void {
  for (const outcome of answer) {
    const written = pending.get(outcome.id);
    pending.delete(outcome.id);
    if ('rows' in outcome) written?.resolve(outcome.rows);
    else written?.reject(failureError(outcome.failure, path));
  }
  if (pending.size === 0) worker.unref();
}

function rejectAll({ pending }: Thread, path: string, crash: unknown): void {
  const reason =
    'could not be written: the writer thread ended. Check whether the last change was written, and try again';
  for (const { reject } of pending.values()) reject(storeUnavailable(path, reason, crash));
  pending.clear();
}
