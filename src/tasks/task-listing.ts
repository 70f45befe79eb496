import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import type { Store } from '../core/ports/store.ts';
import type { ApprovalListing, ListedApproval } from '../core/ports/stored-approvals.ts';
import { type ListedTask, TASK_STATES, type TaskState } from '../core/ports/stored-tasks.ts';
import { TASK_DOOR } from '../core/ports/task-states.ts';
import { defined, describe, didYouMean, readOptions } from '../core/read-options.ts';
import { ToolcribError, type ToolError } from '../core/tool-error.ts';
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

/** The task after the change, or the reason why nothing was changed. */
export type TaskOutcome =
  | { readonly ok: true; readonly task: Task }
  | { readonly ok: false; readonly error: ToolError };

/** Filter for listing tasks. */
export interface TaskFilter {
  readonly state?: TaskState;
  readonly outcome?: string;
  readonly tool?: string;
  /** Only tasks older than the one with this id. */
  readonly before?: string;
  readonly limit?: number;
}

const MOST = 1000;

const TASK_KEYS = [
  'id',
  'tool',
  'profile',
  'door',
  'state',
  'createdAt',
  'expiresAt',
  'source',
  'priority',
  'runAt',
  'startedAt',
  'endedAt',
  'attempts',
  'approvalId',
  'cancelledBy',
  'progress',
  'outcome',
  'slot',
  'resentFrom',
] as const;

/** A task as shown. */
export function toTask(task: ListedTask): Task {
  const { conversation, turn } = task.call;
  return {
    ...defined(task, TASK_KEYS),
    caller: defined(task.caller, ['id', 'roles']),
    ...defined({ conversation, turn }),
  } as Task; // the required keys are always there
}

/** A parked call as a task. Its id is that of its approval. */
export function toParkedTask(approval: ListedApproval): Task {
  const { id, tool, profile, door, createdAt, expiresAt, caller, outcome, conversation, turn } = approval;
  const state = PARKED_STATES[approval.state] ?? 'done';
  return {
    id,
    tool,
    profile,
    door,
    state,
    createdAt,
    expiresAt,
    caller,
    approvalId: id,
    ...defined({ outcome: outcome ?? UNRUN_OUTCOMES[approval.state], conversation, turn }),
  };
}

/** The outcomes of parked calls that were never run. */
const UNRUN_OUTCOMES: Readonly<Partial<Record<string, string>>> = {
  denied: 'denied',
  expired: 'timeout',
  withdrawn: 'cancelled',
};

const PARKED_STATES: Readonly<Partial<Record<string, TaskState>>> = {
  waiting: 'waiting',
  approved: 'queued',
  claimed: 'running',
};

/** True for a call that is parked until it is approved. Calls of tasks are listed as tasks, and calls inside a script with the script. */
export function isParkedCall({ isParked, door, question, batch }: ListedApproval): boolean {
  return isParked && batch === undefined && door !== TASK_DOOR && question === undefined;
}

const USUAL_LIMIT = 100;

/** The tasks and parked calls of one page, newest first. Nothing comes after a task that is unknown or of another caller. */
export async function listPage(
  { tasks, approvals }: Pick<Store, 'tasks' | 'approvals'>,
  { before, limit = USUAL_LIMIT, ...filter }: TaskFilter,
  by: Caller | undefined,
): Promise<readonly Task[]> {
  const place = before === undefined ? undefined : await findPlace({ tasks, approvals }, before, by);
  if (before !== undefined && place === undefined) return [];
  const callerId = by === undefined || by.operator === true ? {} : { callerId: by.id ?? '' };
  const after = place !== undefined && isParkedTask(place) ? { createdBefore: place.createdAt } : defined({ before });
  const found = await tasks.list({ ...filter, ...callerId, ...after, limit });
  const parked = (await parkedCalls(approvals, { ...filter, ...callerId }))
    .filter(({ caller }) => concerns(caller, by))
    .map(toParkedTask)
    .filter((call) => place === undefined || byAge(place, call) < 0);
  return [...found.map(toTask), ...parked].toSorted(byAge).slice(0, limit);
}

/** The task or parked call after which a page begins. */
async function findPlace(
  { tasks, approvals }: Pick<Store, 'tasks' | 'approvals'>,
  id: string,
  by: Caller | undefined,
): Promise<Task | undefined> {
  const task = await tasks.get(id);
  if (task !== undefined) return concerns(task.caller, by) ? toTask(task) : undefined;
  const call = await approvals.get(id);
  return call !== undefined && isParkedCall(call) && concerns(call.caller, by) ? toParkedTask(call) : undefined;
}

/** Newest first. Of the same millisecond, tasks come first, in the order of the store. */
function byAge(a: Task, b: Task): number {
  const order = b.createdAt - a.createdAt || Number(isParkedTask(a)) - Number(isParkedTask(b));
  return order !== 0 || !isParkedTask(a) ? order : Number(a.id < b.id) - Number(a.id > b.id);
}

/** True for a parked call that is listed as a task; only tasks have a source. */
function isParkedTask({ source }: Task): boolean {
  return source === undefined;
}

/** The parked calls that have not ended, as far as they fit the filter. */
async function parkedCalls(
  approvals: {
    list(options: ApprovalListing): Promise<readonly ListedApproval[]>;
  },
  { state, outcome, tool, ...callerId }: TaskFilter & Pick<ApprovalListing, 'callerId'>,
): Promise<readonly ListedApproval[]> {
  if (outcome !== undefined || state === 'done') return [];
  const states = (['waiting', 'approved', 'claimed'] as const).filter(
    (one) => state === undefined || PARKED_STATES[one] === state,
  );
  const found = await Promise.all(
    states.map((one) => approvals.list({ state: one, ...defined(callerId, ['callerId']), limit: MOST })),
  );
  return found.flat().filter((approval) => isParkedCall(approval) && (tool === undefined || approval.tool === tool));
}

/** True if a caller may see what another caller submitted: its own, or everything as operator. */
export function concerns({ id }: Pick<Caller, 'id'>, by: Caller | undefined): boolean {
  return by === undefined || by.operator === true || (by.id !== undefined && by.id === id);
}

/** Validates a filter for listing tasks. */
export function readTaskFilter(value: unknown): TaskFilter {
  const given = readOptions<TaskFilter>(value, ['state', 'outcome', 'tool', 'before', 'limit'], 'tasks.list');
  const { state, limit } = given;
  if (state !== undefined && !TASK_STATES.includes(state))
    throw invalid(
      `"state" must be one of ${TASK_STATES.join(', ')}, got ${describe(state)}.${didYouMean(String(state), TASK_STATES)}`,
    );
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0 && limit <= MOST))
    throw invalid(`"limit" must be a whole number from 1 to ${MOST}, got ${describe(limit)}.`);
  for (const key of ['outcome', 'tool', 'before'] as const)
    if (given[key] !== undefined && typeof given[key] !== 'string') throw invalid(`"${key}" must be a text.`);
  return given;
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
