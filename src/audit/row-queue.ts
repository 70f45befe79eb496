import type { Backlog } from '../core/ports/audit-trail.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { DraftRow } from '../core/ports/stored-audit.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { packRows } from '../store/audit-append.ts';
import { toGapRow } from './audit-entry.ts';

export interface RowQueueOptions {
  /** Writes all packed rows or none. Failed rows are passed again, unchanged. */
  write(packed: readonly Uint8Array[]): Promise<void>;
  readonly clock: Clock;
  /** A clock whose timers do not keep the process alive. */
  readonly idleClock: Clock;
  now(): number;
  warn(message: string): void;
}

interface Waiter {
  /** Waits until this many rows are written. */
  readonly count: number;
  readonly done: PromiseWithResolvers<void>;
}

const MAX_BATCH = 500;
const MAX_DELAY_MS = 100;
/** Limit of waiting rows while the store is unavailable: about 60 MB. */
const MAX_WAITING = 100_000;
/** A row holds shorter texts to be hashed later, unless the waiting rows hold this much already. */
const MAX_TEXT = { length: 2000, waitingBytes: 32_000_000 };
/** From here on calls wait for rows to be written (backpressure). */
const FULL = 80_000;
const MAX_WAIT_MS = 2000;
/** From here on a loop of synchronous calls yields to the event loop now and then. */
const MANY = 4 * MAX_BATCH;
const CALLS_PER_TURN = 256;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 5000;

/** The arrival time of a row, recorded once per batch, to know the age of the backlog. */
interface Mark {
  /** Number of rows pushed so far. */
  readonly count: number;
  readonly at: number;
}

/**
 * Queue of rows for the store: in order, in batches, one batch at a time. Rows wait while the store is unavailable,
 * up to a limit; beyond it they are counted, and one row records how many are missing. A class, because it must be
 * closed.
 */
export class RowQueue {
  readonly #options: RowQueueOptions;
  /** Batches of rows that may wait long, and the rows after them. */
  readonly #packs: Uint8Array[] = [];
  #packedBytes = 0;
  readonly #newest: DraftRow[] = [];
  #waiting = 0;
  /** Being written, or waiting for a retry. */
  #batch: readonly Uint8Array[] = [];
  /** Number of pushed rows in the batch; the row about lost ones does not count. */
  #taken = 0;
  #takenAt = 0;
  #isAllTaken = false;
  #running: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #waiters: Waiter[] = [];
  #room: Promise<void> | undefined;
  #pushed = 0;
  #written = 0;
  #marks: Mark[] = [];
  #lost = { count: 0, since: 0 };
  /** Above 0 while the store fails. */
  #retryMs = 0;
  #isStuck = false;
  #isClosed = false;
  #calls = 0;

  constructor(options: RowQueueOptions) {
    this.#options = options;
  }

  push(row: DraftRow): void {
    if (!this.#add(row) || this.#running !== undefined || this.#retryMs > 0) return;
    if (this.#waiting >= MAX_BATCH) this.#start();
    else this.#stopTimer ??= this.#options.clock.setTimer(MAX_DELAY_MS, () => this.#start());
  }

  /** Resolves when the row is written; rejects if that fails for now. The row keeps its place. */
  commit(row: DraftRow): Promise<void> {
    if (this.#add(row)) return this.#untilWritten(this.#pushed);
    return Promise.reject(new ToolcribError('store_unavailable', 'The audit log accepts no more rows.'));
  }

  /** Resolves when all pushed rows are written. */
  flush(): Promise<void> {
    if (this.#written === this.#pushed && this.#lost.count === 0) return Promise.resolve();
    return this.#untilWritten(this.#pushed);
  }

  /** A promise to wait for before a call begins (backpressure). Calls do not wait for a failing store. */
  room(): Promise<void> | undefined {
    if (this.#waiting < MANY || this.#retryMs > 0 || this.#isStuck) return undefined;
    if (this.#waiting >= FULL) return this.#untilRoom();
    return ++this.#calls % CALLS_PER_TURN === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }

  /** The longest text that a row may hold to be hashed later. */
  maxText(): number {
    return this.#packedBytes < MAX_TEXT.waitingBytes ? MAX_TEXT.length : 0;
  }

  /** True if a row was ever pushed. */
  isUsed(): boolean {
    return this.#pushed > 0;
  }

  backlog(): Backlog {
    const [oldest] = this.#marks;
    const oldestMs = oldest === undefined ? 0 : this.#options.clock.now() - oldest.at;
    return { rows: this.#pushed - this.#written, oldestMs, lost: this.#lost.count };
  }

  /** Closes the queue. Returns the number of rows that were not written. */
  close(): number {
    this.#isClosed = true;
    this.#stopTimer?.();
    return this.#pushed - this.#written + this.#lost.count;
  }

  #add(row: DraftRow): boolean {
    if (this.#isClosed) return false;
    if (this.#waiting < MAX_WAITING) {
      this.#pushed++;
      this.#waiting++;
      if (this.#newest.push(row) === MAX_BATCH) this.#pack();
      const marked = this.#marks.at(-1);
      if (marked === undefined || this.#pushed - marked.count >= MAX_BATCH)
        this.#marks.push({ count: this.#pushed, at: this.#options.clock.now() });
      return true;
    }
    const { count, since } = this.#lost;
    this.#lost = { count: count + 1, since: count === 0 ? this.#options.now() : since };
    this.#options.warn(
      'The audit log could not be written for too long, and rows are being lost. Their number will be recorded.',
    );
    return false;
  }

  #untilWritten(count: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiters.push({ count, done });
    this.#start();
    return done.promise;
  }

  #untilRoom(): Promise<void> {
    this.#room ??= new Promise((resolve) => {
      const leave = () => {
        stopTimer();
        this.#room = undefined;
        resolve();
      };
      const stopTimer = this.#options.clock.setTimer(MAX_WAIT_MS, () => {
        this.#isStuck = true;
        leave();
      });
      this.#untilWritten(this.#written + 1).then(leave, leave);
    });
    return this.#room;
  }

  #start(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
      this.#scheduleNext();
    });
  }

  #scheduleNext(): void {
    const { clock, idleClock } = this.#options;
    if (this.#waiters.length > 0) this.#start(); // they came while the last batch was being finished
    if (this.#running !== undefined || this.#isClosed || this.#waiting + this.#batch.length === 0) return;
    if (this.#retryMs > 0) this.#stopTimer = idleClock.setTimer(this.#retryMs, () => this.#start());
    else this.#stopTimer = clock.setTimer(MAX_DELAY_MS, () => this.#start());
  }

  async #drain(): Promise<void> {
    await null; // not inside the call that filled the batch
    do {
      if (this.#batch.length === 0) this.#batch = this.#take();
      if (this.#batch.length === 0) return;
      try {
        await this.#options.write(this.#batch);
      } catch (cause) {
        return this.#fail(cause);
      }
      this.#succeed();
    } while (this.#waiting >= MAX_BATCH || this.#waiters.length > 0);
  }

  #pack(): void {
    const packed = packRows(this.#newest.splice(0));
    this.#packs.push(packed);
    this.#packedBytes += packed.length;
  }

  #take(): readonly Uint8Array[] {
    if (this.#packs.length === 0 && this.#newest.length > 0) this.#pack();
    const batch = this.#packs.splice(0, 1);
    this.#packedBytes -= batch[0]?.length ?? 0;
    this.#taken = Math.min(this.#waiting, MAX_BATCH);
    this.#waiting -= this.#taken;
    this.#takenAt = this.#options.clock.now();
    this.#isAllTaken = this.#waiting === 0;
    const { count, since } = this.#lost;
    this.#lost = { count: 0, since: 0 };
    return count === 0 ? batch : [packRows([toGapRow(count, since, this.#options.now())]), ...batch];
  }

  #succeed(): void {
    this.#written += this.#taken;
    this.#dropMarks();
    this.#batch = [];
    this.#retryMs = 0;
    this.#isStuck = false;
    this.#settle(this.#written, ({ done }) => done.resolve());
  }

  /** Drops the marks of written rows. Remaining rows came after the batch was taken, or after its last marked row. */
  #dropMarks(): void {
    const written = this.#marks.filter(({ count }) => count <= this.#written).at(-1);
    const first = this.#isAllTaken ? { count: this.#written, at: this.#takenAt } : written;
    const later = this.#marks.filter(({ count }) => count > this.#written);
    this.#marks = this.#written === this.#pushed || first === undefined ? later : [first, ...later];
  }

  #fail(cause: unknown): void {
    this.#retryMs = Math.min(this.#retryMs === 0 ? FIRST_RETRY_MS : this.#retryMs * 2, MAX_RETRY_MS);
    this.#options.warn(`The audit log cannot be written; its rows are waiting: ${messageOf(cause)}`);
    this.#settle(Number.POSITIVE_INFINITY, ({ done }) => done.reject(cause));
  }

  #settle(count: number, end: (waiter: Waiter) => void): void {
    const over = this.#waiters.filter((waiter) => waiter.count <= count);
    this.#waiters = this.#waiters.filter((waiter) => waiter.count > count);
    over.forEach(end);
  }
}
