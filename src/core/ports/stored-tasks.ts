import type { Caller } from '../caller.ts';
import type { JsonObject } from '../json.ts';
import type { Progress } from '../tool-call.ts';
import type { ToolResult } from '../tool-result.ts';
import type { Journal, ScriptWait } from './stored-journals.ts';
import type { KeepBound, KeepBounds } from './stored-results.ts';

/** States of a task. A task is `waiting` while an approval request is open. */
export const TASK_STATES = ['queued', 'running', 'waiting', 'done'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** The options of the call that a task makes. All of them are plain data. */
export interface TaskCall {
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  readonly traceparent?: string;
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** True if the result is stored completely. */
  readonly wholeResult?: true;
  /** True if the caller of a direct call waits for the end: the call fails like a direct one, instead of being tried again later. */
  readonly isAwaited?: true;
}

/** How a call is stored to run later. */
export interface Submission {
  readonly call: TaskCall;
  readonly delayMs: number;
  readonly priority: number;
  /** Default: the setting of the crib. */
  readonly lifetimeMs?: number;
  readonly notify?: string;
  readonly slot?: string;
  readonly resentFrom?: string;
  /** Default: now. */
  readonly identifiedAt?: number;
}

/** A call that a task makes. Tells whether its tool began. */
export interface TaskRun {
  hasBegun: boolean;
  /** Set if the call is a script that waits for approvals of its calls. */
  wait?: ScriptWait;
}

/** A script that becomes a task because it waits. */
export interface ParkedScript extends ScriptWait {
  readonly journal: Journal;
  /** Equal for the same script of the same caller. */
  readonly binding: string;
}

/** A call to run later. */
export interface NewTask {
  /** The id of the task, and of the call that it makes. */
  readonly id: string;
  readonly tool: string;
  /** The source of the tool when the task was submitted. A process without that source leaves the task. */
  readonly source: string;
  readonly profile: string;
  readonly caller: Omit<Caller, 'approve'>;
  /** Time at which the caller was identified. */
  readonly identifiedAt: number;
  readonly arguments: JsonObject;
  readonly call: TaskCall;
  /** The door at which the task was submitted. */
  readonly door: string;
  /** Tasks with a higher number run first. */
  readonly priority: number;
  /** True if only a worker may run it. */
  readonly isForWorkers: boolean;
  /** True if running the tool twice has the same effect as running it once. */
  readonly isRepeatable: boolean;
  /** Time to wait before the first attempt. */
  readonly delayMs: number;
  /** Time after the delay in which the task must begin. */
  readonly lifetimeMs: number;
  /** Time to keep the ended task with its result. */
  readonly keepMs: number;
  /** The webhook of the configuration that is told about the end. */
  readonly notify?: string;
  /** The slot of a schedule, for example `nightly@1794888000000`. There is one task per slot. */
  readonly slot?: string;
  /** The task that this one repeats. */
  readonly resentFrom?: string;
}

/** A stored task. */
export interface StoredTask extends Omit<NewTask, 'delayMs' | 'lifetimeMs' | 'keepMs'> {
  readonly state: TaskState;
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number;
  /** Time of the next attempt of a queued task. */
  readonly runAt: number;
  readonly expiresAt: number;
  /** Start and end of the last attempt. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Number of attempts that have begun. */
  readonly attempts: number;
  /** The approval request that the task waits for, or has waited for; of a script that of its batch. */
  readonly approvalId?: string;
  /** The batch of requests that a script waits for, or has waited for. */
  readonly batch?: string;
  /** Set if the end of a running task was requested. */
  readonly cancelledBy?: string;
  readonly progress?: Progress;
  /** `done`, or an error code; present once the task is done. */
  readonly outcome?: string;
}

/** A task as listed: without its arguments. */
export type ListedTask = Omit<StoredTask, 'arguments'>;

/** Filter for listing tasks. */
export interface TaskListing {
  readonly state?: TaskState;
  /** Only tasks that ended with this outcome: `done`, or an error code. */
  readonly outcome?: string;
  readonly tool?: string;
  /** Only tasks of this caller. */
  readonly callerId?: string;
  /** Only tasks older than this one. */
  readonly before?: string;
  /** Only tasks created before this time. */
  readonly createdBefore?: number;
  readonly limit: number;
}

/** The tasks that a process can run. */
export interface TaskClaim {
  /** The sources whose tools it has. */
  readonly sources: readonly string[];
  /** Only tasks of these profiles; absent means all. */
  readonly profiles?: readonly string[];
  readonly isWorker: boolean;
  /** Only this task, whatever its source. */
  readonly task?: string;
  readonly limit: number;
}

type AddedTask =
  /** `isNew` is false if there was a task with the same slot or id. */
  | { readonly ok: true; readonly isNew: boolean; readonly id: string }
  | { readonly ok: false; readonly broken: KeepBound };

/** A task whose process is gone. */
export interface LostTask {
  readonly callId: string;
  /** Start of the lost attempt. */
  readonly at: number;
  readonly task: StoredTask;
  /** True if it was queued again, because its tool may be repeated. */
  readonly isQueued: boolean;
}

/** Storage for tasks. Each transition is a single statement: if several processes try, one succeeds. */
export interface StoredTasks {
  /**
   * Adds a task if the bounds of tasks that are not done leave room. Each process counts from a reading of the last second,
   * so several of them can exceed a bound by what they add within a second, at most 1,000 tasks each.
   */
  add(task: NewTask, bounds: KeepBounds): Promise<AddedTask>;
  /** Adds a script that waits, with its journal, and seals its batch. */
  park(task: NewTask, script: ParkedScript, bounds: KeepBounds): Promise<AddedTask>;
  get(id: string): Promise<StoredTask | undefined>;
  /** The result of a task that is done, while it is stored. */
  result(id: string): Promise<ToolResult | undefined>;
  /** The newest first. Nothing if `before` names no stored task. */
  list(filter: TaskListing): Promise<readonly ListedTask[]>;
  /**
   * Claims tasks for this process, by priority and age: queued tasks that are due, and waiting tasks whose approval request
   * was answered or has ended. One process claims a task, and keeps it while that process sends its heartbeat. The process
   * finishes a claimed task with `cancelledBy` as cancelled: a caller cancelled it just before it was postponed or lost.
   */
  claim(what: TaskClaim): Promise<readonly StoredTask[]>;
  /**
   * Queues a claimed task again because its tool did not begin. Without `approvalId`, a new approval is requested. Times are
   * those of the store: if its clock is set back, tasks that are due later are delayed by as much.
   */
  postpone(id: string, options: { readonly pauseMs: number; readonly approvalId?: string }): Promise<void>;
  /** Sets a claimed task aside until its approval request is answered, or all requests of its batch, which it seals. False if another process has the task. */
  await(id: string, approvalId: string, script?: Pick<ScriptWait, 'batch' | 'state'>): Promise<boolean>;
  /**
   * Stores the end of a claimed task. Works even if its process counted as gone, unless another process has the task, or a
   * caller ended it meanwhile: then it returns false. A result that alone exceeds the bytes of a caller is replaced by
   * `instead`. Ended tasks are kept for their `keepMs`, or until newer ended ones need their bytes; the last one of a
   * schedule stays. If the store does not answer, it rejects, and the end is written as soon as the store answers again.
   */
  finish(id: string, end: TaskEnd): Promise<boolean>;
  /** Ends a task that is queued or waiting, or requests the end of a running one. Undefined if the task is unknown. */
  cancel(id: string, by: string, result: ToolResult): Promise<'cancelled' | 'requested' | 'over' | undefined>;
  /** Ends tasks that were not begun in time, at most 100 at once; returns them as they are now. */
  expire(resultOf: (task: StoredTask) => ToolResult): Promise<readonly StoredTask[]>;
  /** Returns the running tasks of this process among these whose end was requested, each with the name of the caller. */
  cancelled(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Stores the progress of a running task of this process. Progress above 10,000 bytes is not stored. */
  noteProgress(id: string, progress: Progress): Promise<void>;
  /** Tells the listeners of this object what a running task reports. Nothing of it is stored. */
  tellProgress(id: string, progress: Progress): void;
  onProgress(listener: (id: string, progress: Progress) => void): () => void;
  /** Numbers of tasks by state, for metrics. */
  counts(): Promise<Readonly<Record<Exclude<TaskState, 'done'>, number>>>;
  /**
   * Calls `listener` when a task may have become runnable or has ended: by this object at once, by other processes on
   * PostgreSQL as soon as the database says so. '' means any task, for example after an approval was answered. Other
   * changes must be polled.
   */
  onChange(listener: (id: string) => void): () => void;
}

/** The end of a task. */
export interface TaskEnd {
  /** `done`, or an error code. */
  readonly outcome: string;
  readonly result: ToolResult;
  readonly instead: ToolResult;
  readonly bounds: KeepBounds;
}
