import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '../core/ports/crib-context.ts';
import { LONGEST_TIMER_MS, systemClock } from './clock.ts';

/** Queues that are kept for their next task. Callers may name any delay. */
const MAX_IDLE_QUEUES = 32;

/**
 * A clock for many timers that are mostly stopped before their time, such as the timeouts of calls: one timer of Node
 * for each delay instead of one for each task. A task never runs early. Its timers keep the process alive as long as a
 * task waits.
 */
export function createDeadlines(): Clock {
  const queues = new Map<number, DeadlineQueue>();
  // Its own: a shared timer must not run the task of one call in the context of another, whose caller may differ.
  const context = new AsyncResource('toolcrib.deadlines');
  return {
    now: systemClock.now,
    setTimer(delayMs, task) {
      let queue = queues.get(delayMs);
      if (queue === undefined) {
        if (queues.size >= MAX_IDLE_QUEUES) removeIdle(queues);
        queue = new DeadlineQueue(delayMs, context);
        queues.set(delayMs, queue);
      }
      return queue.add(task);
    },
  };
}

function removeIdle(queues: Map<number, DeadlineQueue>): void {
  for (const [delayMs, queue] of queues) if (queue.endIfIdle()) queues.delete(delayMs);
}

interface Deadline {
  readonly at: number;
  readonly task: () => void;
  previous: Deadline | undefined;
  next: Deadline | undefined;
  isWaiting: boolean;
}

/** The tasks with one delay, so that the first to come is the first that is due. */
class DeadlineQueue {
  readonly #delayMs: number;
  readonly #context: AsyncResource;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  /** Runs at the latest when the first task is due; kept without tasks, since the next one comes soon. */
  #timer: NodeJS.Timeout | undefined;

  constructor(delayMs: number, context: AsyncResource) {
    this.#delayMs = delayMs;
    this.#context = context;
  }

  add(task: () => void): () => void {
    const at = systemClock.now() + this.#delayMs;
    const deadline: Deadline = { at, task, previous: this.#last, next: undefined, isWaiting: true };
    if (this.#last === undefined) this.#first = deadline;
    else this.#last.next = deadline;
    this.#last = deadline;
    if (this.#timer === undefined) this.#start(this.#delayMs);
    else if (this.#first === deadline) this.#timer.ref();
    return () => this.#remove(deadline);
  }

  /** Stops the timer if no task waits. */
  endIfIdle(): boolean {
    if (this.#first !== undefined) return false;
    clearTimeout(this.#timer);
    return true;
  }

  #remove(deadline: Deadline): void {
    if (!deadline.isWaiting) return;
    deadline.isWaiting = false;
    const { previous, next } = deadline;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    deadline.previous = undefined; // who stops it late must not keep others in memory
    deadline.next = undefined;
    if (this.#first === undefined) this.#timer?.unref();
  }

  #start(delayMs: number): void {
    const waitMs = Math.min(Math.max(1, Math.ceil(delayMs)), LONGEST_TIMER_MS);
    this.#timer = this.#context.runInAsyncScope(() => setTimeout(() => this.#runDue(), waitMs));
  }

  #runDue(): void {
    this.#timer = undefined;
    try {
      const now = systemClock.now();
      for (let due = this.#first; due !== undefined && due.at <= now; due = this.#first) {
        this.#remove(due);
        due.task();
      }
    } finally {
      if (this.#first !== undefined && this.#timer === undefined) this.#start(this.#first.at - systemClock.now());
    }
  }
}
