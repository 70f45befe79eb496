import { type Caller, readCaller } from '../core/caller.ts';
import type { ListedApproval } from '../core/ports/stored-approvals.ts';
import type { StoredTask } from '../core/ports/stored-tasks.ts';
import { describe } from '../core/read-options.ts';
import { redactData } from '../core/redact-result.ts';
import { ToolcribError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import type { CribTasks, CribTasksPorts, TaskLookup } from './crib-tasks.ts';
import { cancelledResult } from './run-task.ts';
import { type TaskOutcome, toParkedTask, toTask } from './task-listing.ts';

/** A change to a task, or to a parked call. */
interface Change {
  ofTask(task: StoredTask, by: Caller): Promise<TaskOutcome>;
  ofParked(approval: ListedApproval): Promise<TaskOutcome>;
}

/** Creates the changes that callers make to tasks. */
export function createChanges(find: TaskLookup, ports: CribTasksPorts): Pick<CribTasks, 'cancel' | 'resend'> {
  const change = async (id: unknown, given: unknown, work: Change): Promise<TaskOutcome> => {
    try {
      const by = readCaller(given as Caller); // readCaller checks it
      const task = await find.task(id, by);
      if (task !== undefined) return await work.ofTask(task, by);
      const waiting = await find.parked(id, by);
      return waiting === undefined
        ? refuse('invalid_input', `The task ${describe(id)} was not found.`)
        : await work.ofParked(waiting);
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      return /^(invalid|unknown)_option$/.test(cause.code)
        ? { ok: false, error: toolError('invalid_input', cause.message, { cause }) }
        : refuse('unavailable', 'The store with the tasks is not available. Try again later.');
    }
  };
  return {
    cancel: (id, by) => change(id, by, cancelling(ports)),
    resend: (id, by, options) => change(id, by, resending(ports, options?.door)),
  };
}

async function shown(id: string, { store, redact }: CribTasksPorts): Promise<TaskOutcome> {
  const task = await store?.tasks.get(id);
  return task === undefined
    ? refuse('invalid_input', `The task "${id}" was not found.`)
    : { ok: true, task: redactData(toTask(task), redact) };
}

function cancelling(ports: CribTasksPorts): Change {
  const { store } = ports;
  return {
    async ofTask(task, given) {
      const by = nameOf(given);
      const result = cancelledResult(task.tool, by);
      const state = await store?.tasks.cancel(task.id, by, result);
      if (state === 'over')
        return refuse('conflict', `The task ${task.id} has already ended as ${task.outcome ?? 'done'}.`);
      // Records the end of a task that never ran. A chest can only be opened while its profile exists.
      const chest = state === 'cancelled' ? await ports.openAgain(task).catch(() => undefined) : undefined;
      for (const id of await requestsOf(task, ports)) await store?.approvals.end(id, 'withdrawn');
      await chest?.refuse(task, result.error);
      return shown(task.id, ports);
    },
    async ofParked(approval) {
      if ((await store?.approvals.end(approval.id, 'withdrawn')) === true)
        return { ok: true, task: { ...toParkedTask(approval), state: 'done', outcome: 'cancelled' } };
      return refuse(
        'conflict',
        `The parked call ${approval.id} cannot be cancelled: its approval request is ${approval.state}.`,
      );
    },
  };
}

/** The approval requests that a task waits for, or has waited for. */
async function requestsOf({ approvalId, batch }: StoredTask, { store }: CribTasksPorts): Promise<readonly string[]> {
  if (batch === undefined) return approvalId === undefined ? [] : [approvalId];
  return ((await store?.approvals.ofBatch(batch)) ?? []).map(({ id }) => id);
}

function resending(ports: CribTasksPorts, door: string | undefined): Change {
  return {
    async ofTask(task, by) {
      if (task.state !== 'done')
        return refuse('conflict', `The task ${task.id} has not ended yet: it is ${task.state}.`);
      const result = await ports.submitAgain(task, by, door);
      if (result.status === 'waiting') return shown(result.waiting.id, ports);
      const error = result.status === 'failed' ? result.error : toolError('internal', 'The task was not stored.');
      return { ok: false, error };
    },
    ofParked: async ({ id }) =>
      refuse('conflict', `The call ${id} is parked until it is approved. Only an ended task can be sent again.`),
  };
}

function nameOf({ id, operator }: Caller): string {
  return id ?? (operator === true ? 'operator' : 'a caller without an id');
}

function refuse(code: ToolErrorCode, message: string): Extract<TaskOutcome, { ok: false }> {
  return { ok: false, error: toolError(code, message) };
}
