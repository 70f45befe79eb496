import { type Caller, readCaller } from '../core/caller.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import type { ListedApproval } from '../core/ports/stored-approvals.ts';
import type { ListedTask, StoredTask, StoredTasks } from '../core/ports/stored-tasks.ts';
import { describe } from '../core/read-options.ts';
import { redactData, redactResult } from '../core/redact-result.ts';
import { ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { cancelledResult, type TaskChest } from './run-task.ts';
import {
  concerns,
  isParkedCall,
  parkedCalls,
  readTaskFilter,
  type Task,
  type TaskDetail,
  type TaskFilter,
  toParkedTask,
  toTask,
} from './task-listing.ts';

/** The task after the change, or the reason why nothing was changed. */
export type TaskOutcome =
  | { readonly ok: true; readonly task: Task }
  | { readonly ok: false; readonly error: ToolError };

/** The tasks in the store of a crib. With `by`, only those of this caller, unless it is an operator. */
export interface CribTasks {
  /** The newest tasks and parked calls first. */
  list(filter?: TaskFilter, by?: Caller): Promise<readonly Task[]>;
  get(id: string, by?: Caller): Promise<TaskDetail | undefined>;
  /** Waits for the end of a task. Rejects if the signal aborts first. Undefined if the task is unknown. */
  wait(id: string, options?: { readonly by?: Caller; readonly signal?: AbortSignal }): Promise<ToolResult | undefined>;
  /** Ends a task that has not begun, or requests the end of a running one. Never rejects. */
  cancel(id: string, by: Caller): Promise<TaskOutcome>;
  /** Submits an ended task again, as a new task of the same caller, who must still be allowed to. Never rejects. */
  resend(id: string, by: Caller): Promise<TaskOutcome>;
}

/** The crib as its tasks see it. */
export interface CribTasksPorts extends Pick<CribContext, 'store' | 'redact'> {
  openAgain(made: { readonly profile: string; readonly caller: Caller }): Promise<TaskChest>;
  /** Submits the call of a task again. */
  submitAgain(task: StoredTask): Promise<ToolResult>;
  /** The state and result of a parked call, by the id of its approval. */
  parkedResult(id: string): Promise<ToolResult | undefined>;
  /** Runs `work` now and then. */
  poll(work: () => Promise<void>): { look(): Promise<void>; stop(): void };
}

const USUAL_LIMIT = 100;

/** Creates the tasks of a crib; without a store the list is empty. */
export function createTasks(ports: CribTasksPorts): CribTasks {
  const { store, redact } = ports;
  const show = (task: ListedTask): Task => redactData(toTask(task), redact);
  const mine = async (id: unknown, by: Caller | undefined): Promise<StoredTask | undefined> => {
    const task = typeof id === 'string' ? await store?.tasks.get(id) : undefined;
    return task === undefined || !concerns(task.caller, by) ? undefined : task;
  };
  const parked = async (id: unknown, by: Caller | undefined): Promise<ListedApproval | undefined> => {
    const found = typeof id === 'string' ? await store?.approvals.get(id) : undefined;
    return found === undefined || !isParkedCall(found) || !concerns(found.caller, by) ? undefined : found;
  };
  const change = async (id: unknown, given: unknown, work: Change): Promise<TaskOutcome> => {
    try {
      const by = readCaller(given as Caller); // readCaller checks it
      const task = await mine(id, by);
      const waiting = task === undefined ? await parked(id, by) : undefined;
      if (store === undefined || (task === undefined && waiting === undefined))
        return refuse('invalid_input', `The task ${describe(id)} was not found.`);
      return await (task === undefined ? work.ofParked(waiting as ListedApproval) : work.ofTask(task, nameOf(by))); // one of both was found
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      return /^(invalid|unknown)_option$/.test(cause.code)
        ? { ok: false, error: toolError('invalid_input', cause.message, { cause }) }
        : refuse('unavailable', 'The store with the tasks is not available. Try again later.');
    }
  };
  const shown = async (id: string): Promise<TaskOutcome> => {
    const task = await store?.tasks.get(id);
    return task === undefined
      ? refuse('invalid_input', `The task "${id}" was not found.`)
      : { ok: true, task: show(task) };
  };
  const cancel: Change = {
    async ofTask(task, by) {
      const result = cancelledResult(task.tool, by);
      const state = await store?.tasks.cancel(task.id, by, result);
      if (state === 'over')
        return refuse('conflict', `The task ${task.id} has already ended as ${task.outcome ?? 'done'}.`);
      // Records the end of a task that never ran; without its profile there is no chest to record it in.
      const chest = state === 'cancelled' ? await ports.openAgain(task).catch(() => undefined) : undefined;
      if (task.approvalId !== undefined) await store?.approvals.end(task.approvalId, 'withdrawn');
      await chest?.refuse(task, result.error);
      return shown(task.id);
    },
    async ofParked(approval) {
      if ((await store?.approvals.end(approval.id, 'withdrawn')) === true)
        return { ok: true, task: { ...toParkedTask(approval), state: 'done', outcome: 'cancelled' } };
      return refuse(
        'conflict',
        `The parked call ${approval.id} is no longer waiting: its request is ${approval.state}.`,
      );
    },
  };
  const resend: Change = {
    async ofTask(task) {
      if (task.state !== 'done')
        return refuse('conflict', `The task ${task.id} has not ended yet: it is ${task.state}.`);
      const result = await ports.submitAgain(task);
      if (result.status === 'waiting') return shown(result.waiting.id);
      const error = result.status === 'failed' ? result.error : toolError('internal', 'The task was not stored.');
      return { ok: false, error };
    },
    ofParked: async ({ id }) =>
      refuse('conflict', `The call ${id} is parked until it is approved. Only an ended task can be sent again.`),
  };

  return {
    async list(filter = {}, by) {
      const { limit = USUAL_LIMIT, ...rest } = readTaskFilter(filter);
      if (store === undefined) return [];
      const callerId = by === undefined || by.operator === true ? {} : { callerId: by.id ?? '' };
      const found = await store.tasks.list({ ...rest, ...callerId, limit });
      const waiting = rest.before === undefined ? await parkedCalls(store.approvals, rest) : [];
      const theirs = waiting.filter(({ caller }) => concerns(caller, by)).map(toParkedTask);
      return [...found.map(toTask), ...theirs]
        .toSorted((a, b) => b.createdAt - a.createdAt)
        .slice(0, limit)
        .map((task) => redactData(task, redact));
    },
    async get(id, by) {
      const task = await mine(id, by);
      if (task === undefined) {
        const waiting = await parked(id, by);
        if (waiting === undefined) return undefined;
        return redactData(withResult(toParkedTask(waiting), await ports.parkedResult(waiting.id)), redact);
      }
      const result = task.state === 'done' ? await store?.tasks.result(task.id) : undefined;
      const detail = { ...show(task), arguments: redactData(task.arguments, redact) };
      return withResult(detail, result && redactResult(result, redact));
    },
    async wait(id, { by, signal } = {}) {
      const task = await mine(id, by);
      if (task === undefined || store === undefined) return undefined;
      return untilEnded(task.id, store.tasks, { signal, poll: ports.poll });
    },
    cancel: (id, by) => change(id, by, cancel),
    resend: (id, by) => change(id, by, resend),
  };
}

/** A change to a task, or to a parked call. */
interface Change {
  ofTask(task: StoredTask, by: string): Promise<TaskOutcome>;
  ofParked(approval: ListedApproval): Promise<TaskOutcome>;
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

function nameOf({ id, operator }: Caller): string {
  return id ?? (operator === true ? 'operator' : 'a caller without an id');
}

function refuse(code: ToolErrorCode, message: string): Extract<TaskOutcome, { ok: false }> {
  return { ok: false, error: toolError(code, message) };
}
