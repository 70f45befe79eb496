import type { Caller } from '../core/caller.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import type { Store } from '../core/ports/store.ts';
import type { ListedApproval } from '../core/ports/stored-approvals.ts';
import type { StoredTask, StoredTasks } from '../core/ports/stored-tasks.ts';
import { defined } from '../core/read-options.ts';
import { redactData, redactResult } from '../core/redact-result.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { createChanges } from './change-task.ts';
import type { TaskChest } from './run-task.ts';
import {
  concerns,
  isParkedCall,
  listPage,
  readTaskFilter,
  type Task,
  type TaskDetail,
  type TaskFilter,
  type TaskOutcome,
  toParkedTask,
  toTask,
} from './task-listing.ts';

/** The tasks in the store of a crib. With `by`, only those of this caller, unless it is an operator. */
export interface CribTasks {
  /** The newest tasks and parked calls first. */
  list(filter?: TaskFilter, by?: Caller): Promise<readonly Task[]>;
  get(id: string, by?: Caller): Promise<TaskDetail | undefined>;
  /** Waits for the end of a task. Rejects if the signal aborts first. Undefined if the task is unknown. */
  wait(id: string, options?: { readonly by?: Caller; readonly signal?: AbortSignal }): Promise<ToolResult | undefined>;
  /** Ends a task that has not begun, or requests the end of a running one. Never rejects. */
  cancel(id: string, by: Caller): Promise<TaskOutcome>;
  /** Submits an ended task again, as a new task of the same caller: with the rights of `by`, or, if an operator sends it, with those of the task, which the caller must still have. `door` is where that was requested. Never rejects. */
  resend(id: string, by: Caller, options?: { readonly door?: string }): Promise<TaskOutcome>;
}

/** The crib as its tasks see it. */
export interface CribTasksPorts extends Pick<CribContext, 'store' | 'redact'> {
  openAgain(made: { readonly profile: string; readonly caller: Caller }): Promise<TaskChest>;
  /** Submits the call of a task again on behalf of `by`; the default door is that of the library. */
  submitAgain(task: StoredTask, by: Caller, door: string | undefined): Promise<ToolResult>;
  /** The state and result of a parked call, by the id of its approval. */
  parkedResult(id: string): Promise<ToolResult | undefined>;
  /** Runs `work` now and then. */
  poll(work: () => Promise<void>): { look(): Promise<void>; stop(): void };
}

/** Finds tasks and parked calls that a caller may see. */
export interface TaskLookup {
  task(id: unknown, by: Caller | undefined): Promise<StoredTask | undefined>;
  parked(id: unknown, by: Caller | undefined): Promise<ListedApproval | undefined>;
}

function createLookup(store: CribContext['store']): TaskLookup {
  return {
    async task(id, by) {
      const task = typeof id === 'string' ? await store?.tasks.get(id) : undefined;
      return task === undefined || !concerns(task.caller, by) ? undefined : task;
    },
    async parked(id, by) {
      const found = typeof id === 'string' ? await store?.approvals.get(id) : undefined;
      return found === undefined || !isParkedCall(found) || !concerns(found.caller, by) ? undefined : found;
    },
  };
}

/** Creates the tasks of a crib; without a store the list is empty. */
export function createTasks(ports: CribTasksPorts): CribTasks {
  const { store, redact } = ports;
  const find = createLookup(store);
  return {
    ...createChanges(find, ports),
    async list(filter = {}, by) {
      const wanted = readTaskFilter(filter);
      if (store === undefined) return [];
      return (await listPage(store, wanted, by)).map((task) => redactData(task, redact));
    },
    async get(id, by) {
      const task = await find.task(id, by);
      if (task === undefined) {
        const waiting = await find.parked(id, by);
        if (waiting === undefined) return undefined;
        return redactData(withResult(toParkedTask(waiting), await ports.parkedResult(waiting.id)), redact);
      }
      const result = task.state === 'done' ? await store?.tasks.result(task.id) : undefined;
      const detail = { ...redactData(toTask(task), redact), arguments: redactData(task.arguments, redact) };
      return withResult(detail, result && redactResult(result, redact));
    },
    async wait(id, { by, signal } = {}) {
      const task = await find.task(id, by);
      if (task === undefined || store === undefined) return undefined;
      return untilEnded(task.id, store.tasks, { signal, poll: ports.poll });
    },
  };
}

/** The state of a script that waited for approvals of its calls. */
interface ScriptState {
  readonly state: 'waiting' | 'running' | 'ended';
  /** The request that it waits for, or waited for last. */
  readonly approvalId?: string;
  readonly result?: ToolResult;
}

/** The state of the script of a direct call, for its caller or an operator. Undefined for others, and for calls that did not wait. */
export async function scriptStateOf(
  callId: string,
  by: Caller,
  { tasks, journals, approvals }: Pick<Store, 'tasks' | 'journals' | 'approvals'>,
): Promise<ScriptState | undefined> {
  const task = await tasks.get(callId);
  const isOwner = (task?.caller.id ?? '') === (by.id ?? '');
  if (task?.batch === undefined || !(isOwner || by.operator === true)) return undefined;
  const { batch, approvalId } = task;
  if (task.state === 'done') {
    const result = await tasks.result(callId);
    if (isOwner && result !== undefined) await journals.handOver(callId);
    return { state: 'ended', ...defined({ approvalId, result }) };
  }
  const asked = task.state === 'waiting' ? await approvals.ofBatch(batch) : [];
  const isWaiting = asked.some(({ state }) => state === 'waiting');
  return { state: isWaiting ? 'waiting' : 'running', ...defined({ approvalId }) };
}

interface Waiting {
  readonly signal: AbortSignal | undefined;
  readonly poll: CribTasksPorts['poll'];
}

/** Waits until a task is done; returns its result. */
async function untilEnded(id: string, tasks: StoredTasks, { signal, poll }: Waiting): Promise<ToolResult | undefined> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    const task = await tasks.get(id);
    if (task === undefined || task.state === 'done') resolve();
  };
  const polling = poll(look);
  const stopListening = tasks.onChange((changed) => [id, ''].includes(changed) && void look().catch(() => undefined)); // the poll tries again
  const abort = () => reject(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    void polling.look();
    await promise;
    return await tasks.result(id);
  } finally {
    signal?.removeEventListener('abort', abort);
    stopListening();
    polling.stop();
  }
}

function withResult(task: TaskDetail, result: ToolResult | undefined): TaskDetail {
  return result === undefined ? task : { ...task, result };
}
