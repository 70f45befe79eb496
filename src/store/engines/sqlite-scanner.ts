import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { failureError, storeUnavailable } from '../store-errors.ts';
import type { Row, Statement } from './engine.ts';
import type { ScanAnswer, ScanQuestion } from './sqlite-scan-thread.ts';
import type { WriterOptions } from './sqlite-writer-thread.ts';

type Pending = Map<number, PromiseWithResolvers<readonly Row[]>>;

/** Threads of queries that are seldom asked need not stay. */
const IDLE_MS = 10_000;

/** Reads over many rows, on a thread of their own: it starts with the first and ends when none came for a while. */
export class SqliteScanner {
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

  /** What is being read is not waited for: it is told that the store is closed. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#thread?.worker.terminate();
  }

  #start() {
    const url = new URL(`./sqlite-scan-thread${extname(import.meta.url)}`, import.meta.url); // .ts here, .js when built
    const worker = new Worker(url, { workerData: this.#options, name: 'toolcrib-scan', execArgv: [], env: {} });
    const pending: Pending = new Map();
    let crash: unknown;
    worker.on('message', (answer: ScanAnswer) => this.#settle(pending, answer));
    worker.on('error', (error) => {
      crash = error;
    });
    worker.on('exit', () => {
      this.#thread = undefined;
      const reason = 'was let go by the thread that read it, which ended; try again';
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
