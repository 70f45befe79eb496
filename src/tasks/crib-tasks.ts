import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import type { ListedTask, TaskState } from '../core/ports/stored-tasks.ts';
import type { ToolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';

/** Members that a parked call does not have. */
type OfTask =
  | 'source'
  | 'priority'
  | 'runAt'
  | 'startedAt'
  | 'endedAt'
  | 'attempts'
  | 'approvalId'
  | 'cancelledBy'
  | 'progress'
  | 'outcome'
  | 'slot'
  | 'resentFrom';

/** A task, or a call that is parked until it is approved, without secrets. */
export interface Task
  extends Pick<ListedTask, 'id' | 'tool' | 'profile' | 'door' | 'state' | 'createdAt' | 'expiresAt'>,
    Partial<Pick<ListedTask, OfTask>> {
  readonly caller: { readonly id?: string; readonly roles?: readonly string[] };
  readonly conversation?: string;
  readonly turn?: string;
}

/** A task with its arguments, and its result after it ended. */
export interface TaskDetail extends Task {
  /** Absent for a parked call; its approval has them. */
  readonly arguments?: JsonObject;
  readonly result?: ToolResult;
}

/** Filter for listing tasks. */
export interface TaskFilter {
  readonly state?: TaskState;
  readonly outcome?: string;
  readonly tool?: string;
  /** Only tasks older than the one with this id. */
  readonly before?: string;
  readonly limit?: number;
}

/** The task after the change, or the reason why nothing was changed. */
export type TaskOutcome =
  | { readonly ok: true; readonly task: Task }
  | { readonly ok: false; readonly error: ToolError };

/** The tasks in the store of a crib. With `by`, only those of this caller, unless it is an operator. */
export interface CribTasks {
  /** The newest tasks and parked calls first. */
  list(filter?: TaskFilter, by?: Caller): Promise<readonly Task[]>;
  get(id: string, by?: Caller): Promise<TaskDetail | undefined>;
  /** Waits for the end of a task. Rejects if the signal aborts first. Undefined if there is no such task. */
  wait(id: string, options?: { readonly by?: Caller; readonly signal?: AbortSignal }): Promise<ToolResult | undefined>;
  /** Ends a task that has not begun, or requests the end of a running one. Never rejects. */
  cancel(id: string, by: Caller): Promise<TaskOutcome>;
  /** Submits an ended task again, as a new task of the same caller, who must still be allowed to. Never rejects. */
  resend(id: string, by: Caller): Promise<TaskOutcome>;
}
