import { TASK_STATES } from '../../../core/ports/stored-tasks.ts';
import { defined } from '../../../core/read-options.ts';
import { toolError } from '../../../core/tool-error.ts';
import type { TaskDetail, TaskFilter, TaskOutcome } from '../../../tasks/task-listing.ts';
import { toShownTask } from '../../shown.ts';
import { type Answer, notFound, ok, refuse, refuseFor } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, anything, choice, flag, list, object, RESULT, shortText, text, time, whole } from '../shapes.ts';

const LISTED = {
  id: text('The id of the task, and of its call.'),
  state: choice(TASK_STATES, 'A task is waiting while its call requires approval.'),
  'outcome?': text('done, or an error code. Present once the task is done.'),
  tool: text(),
  'source?': text(),
  profile: text(),
  door: text('The door at which the task was submitted.'),
  caller: object({ 'id?': text(), 'roles?': list(text()) }),
  'conversation?': text(),
  'turn?': text(),
  'priority?': whole('Tasks with a higher number run first.', -100, 100),
  'attempts?': whole('Number of attempts that have begun.'),
  createdAt: time(),
  'runAt?': time('Time of the next attempt of a queued task.'),
  'startedAt?': time('Start of the last attempt.'),
  'endedAt?': time(),
  expiresAt: time('The task must have begun by then.'),
  'approvalId?': text('The approval request that the task waits for, or has waited for.'),
  'cancelledBy?': text('The caller that has cancelled the task.'),
  'progress?': anything('The last progress that the tool reported.'),
  'slot?': text('The schedule and the time that the task was made for.'),
  'resentFrom?': text('The task that this one repeats.'),
};

const TASK = object(LISTED);

const ONE_TASK = object({ task: TASK });

/** Routes of background calls. Parked calls are listed with them. */
export const TASK_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/tasks',
    group: 'tasks',
    says: 'Lists background calls and parked calls. An operator sees all of them, a caller its own.',
    who: 'caller',
    query: {
      'state?': choice(TASK_STATES, 'Only tasks in this state.'),
      'outcome?': shortText('Only tasks that ended with this outcome: done, or an error code.'),
      'tool?': shortText('Only tasks of this tool.'),
      'before?': shortText('Only tasks older than the task with this id: nextBefore of the previous page.'),
      'limit?': whole('Maximum number of tasks. Default: 50.', 1, 1000),
    },
    answers: {
      200: {
        says: 'The tasks, newest first, without arguments and results.',
        schema: object({ tasks: list(TASK), 'nextBefore?': text('Present if there may be older tasks.') }),
      },
    },
    run: listTasks,
  },
  {
    method: 'GET',
    path: '/api/tasks/{id}',
    group: 'tasks',
    says: 'Returns one task with its arguments and, once it is done, its result. For its caller or an operator.',
    who: 'caller',
    answers: {
      200: {
        says: 'The task as it is now.',
        schema: object({
          task: object({
            ...LISTED,
            'arguments?': anyObject('Absent for a parked call; its approval has them.'),
            'result?': RESULT,
          }),
        }),
      },
    },
    async run({ crib, asker, params }) {
      const { id = '' } = params;
      const task = await crib.tasks.get(id, asker.caller);
      return task === undefined ? noSuchTask(id) : ok({ task: toShownTask(task) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/tasks/{id}',
    group: 'tasks',
    says: 'Cancels a task, for its caller or an operator. Cancelling a cancelled task changes nothing.',
    who: 'caller',
    answers: {
      200: { says: 'The task is cancelled.', schema: ONE_TASK },
      202: { says: 'The task is running. It was told to end.', schema: ONE_TASK },
    },
    run: cancelTask,
  },
  {
    method: 'POST',
    path: '/api/tasks/{id}/resend',
    group: 'tasks',
    says: 'Submits an ended task again as a new task of the same caller, with the rights that the sender has now. An operator sends it with the rights of the task, if its caller still has them.',
    who: 'caller',
    answers: { 202: { says: 'The new task; Location has its address.', schema: ONE_TASK } },
    run: resendTask,
  },
];

const USUAL_LIMIT = 50;

async function listTasks({ crib, asker, query }: RouteRequest): Promise<Answer> {
  const { limit = USUAL_LIMIT, ...filter } = query as TaskFilter; // as its schema demands
  const tasks = await crib.tasks.list({ ...filter, limit }, asker.caller);
  const last = tasks.at(-1);
  return ok({
    tasks: tasks.map(toShownTask),
    ...(tasks.length === limit && last !== undefined && { nextBefore: last.id }),
  });
}

async function cancelTask({ crib, asker, params }: RouteRequest): Promise<Answer> {
  const { id = '' } = params;
  if ((await crib.tasks.get(id, asker.caller)) === undefined) return noSuchTask(id); // also if the caller may not see it
  const outcome = await crib.tasks.cancel(id, asker.caller);
  if (outcome.ok) return shown(outcome, outcome.task.state === 'done' ? 200 : 202);
  const after = await crib.tasks.get(id, asker.caller); // it may have been cancelled before
  return after?.outcome === 'cancelled' ? shown({ ok: true, task: after }, 200) : refuseFor(outcome.error);
}

async function resendTask({ crib, asker, params }: RouteRequest): Promise<Answer> {
  const { id = '' } = params;
  if ((await crib.tasks.get(id, asker.caller)) === undefined) return noSuchTask(id);
  const outcome = await crib.tasks.resend(id, asker.caller, { door: 'rest' });
  const answer = shown(outcome, 202);
  return outcome.ok ? { ...answer, headers: taskAddress(outcome.task.id) } : answer;
}

function shown(outcome: TaskOutcome, status: number): Answer {
  if (!outcome.ok) return refuseFor(outcome.error);
  const { arguments: _arguments, result: _result, ...task }: TaskDetail = outcome.task;
  return ok({ task: toShownTask(task) }, status);
}

function noSuchTask(id: string): Answer {
  return notFound(`The task "${id}" was not found. It may have been deleted some time after its end.`);
}

/** The header with the address of a task. */
export function taskAddress(id: string): Readonly<Record<string, string>> {
  return { location: `/api/tasks/${encodeURIComponent(id)}` };
}

const YEAR_MS = 366 * 86_400_000;

/** Members of the body of a call that runs in the background. */
export const TASK_MEMBERS = {
  'async?': flag('Runs the call in the background. The answer is 202, and Location has the address of the task.'),
  'at?': {
    anyOf: [time(), whole()],
    description: 'Runs the task at this time: ISO 8601, or milliseconds since 1970. A past time means at once.',
  },
  'delayMs?': whole('Runs the task after this time.', 0, YEAR_MS),
  'priority?': whole('Tasks with a higher number run first. Default: 0.', -100, 100),
  'expiresMs?': whole('Time after "at" or "delayMs" in which the task must begin.', 1, YEAR_MS),
  'notify?': shortText('The webhook of the configuration that is told about the end of the task.'),
};

/** The members of the body of a call that concern background calls. */
export interface TaskBody {
  readonly async?: boolean;
  readonly at?: string | number;
  readonly delayMs?: number;
  readonly priority?: number;
  readonly expiresMs?: number;
  readonly notify?: string;
}

type TaskOptions = Omit<TaskBody, 'async' | 'at'> & { readonly at?: number };

/** The options of a background call; undefined for a call that is answered with its result; or the refusal. */
export function readTaskBody(
  { async: isTask, at, ...rest }: TaskBody,
  approvalId: string | undefined,
  { request: { headers }, asker }: Pick<RouteRequest, 'request' | 'asker'>,
): { readonly options: TaskOptions | undefined } | { readonly refusal: Answer } {
  const given = defined({ at, ...rest });
  const { priority = 0 } = rest;
  const { maxPriority = priority } = asker;
  if (isTask !== true) {
    const [name] = Object.keys(given);
    return name === undefined
      ? { options: undefined }
      : invalid(`"${name}" is only for background calls. Add "async": true.`);
  }
  if (priority > maxPriority) {
    const message = `The roles of this caller allow the priority ${maxPriority} at most, not ${priority}. Use ${maxPriority}, or ask the operator for a role with maxPriority.`;
    return { refusal: refuseFor(toolError('denied', message)) };
  }
  if (approvalId !== undefined)
    return invalid(
      'A background call waits for its own approval. Remove "approvalId", or send the call without "async".',
    );
  if (headers.get('accept')?.includes('text/event-stream') === true)
    return invalid(
      'A background call is not streamed. Remove "Accept: text/event-stream"; GET /api/tasks/{id} returns its progress and result.',
    );
  return { options: { ...rest, ...(at !== undefined && { at: typeof at === 'number' ? at : Date.parse(at) }) } };
}

function invalid(message: string): { readonly refusal: Answer } {
  return { refusal: refuse(400, { code: 'invalid_input', message, retryable: false }) };
}
