import { createCallId } from '../../../call/call-input.ts';
import { defined } from '../../../core/read-options.ts';
import type { FailedResult, ToolResult, WaitingResult } from '../../../core/tool-result.ts';
import { type Answer, refuse, statusOf } from '../answers.ts';
import { openToCall, type Route, type RouteRequest } from '../route.ts';
import { anything, CALL_DONE, CALL_WAITING, object, shortText } from '../shapes.ts';
import { readTaskBody, TASK_MEMBERS, type TaskBody, taskAddress } from './task-routes.ts';

interface ExecuteBody extends TaskBody {
  readonly arguments?: unknown;
  readonly profile?: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  readonly approvalId?: string;
}

/** The route that calls a tool. */
export const EXECUTE_ROUTE: Route = {
  method: 'POST',
  path: '/api/tools/execute/{name}',
  group: 'tools',
  says: 'Calls a tool.',
  who: 'caller',
  body: object({
    'arguments?': anything('The arguments of the tool, an object. Default: {}.'), // the crib validates and records them
    'profile?': shortText('The profile of the call. Default: the default profile; for an operator, all tools.'),
    'conversation?': shortText('The conversation the call belongs to.'),
    'turn?': shortText('The turn of that conversation.'),
    'timeZone?': shortText('The time zone of the user.'),
    'idempotencyKey?': shortText('Deduplicates calls: a second call with the same key gets the result of the first.'),
    'approvalId?': shortText('Runs the call that waits for this approval, or waits for its result if it is running.'),
    ...TASK_MEMBERS,
  }),
  answers: {
    200: { says: 'The tool ran. It returned a result, or it failed (error.code is tool_error).', schema: CALL_DONE },
    202: {
      says: 'The call requires approval and runs after it was approved, or it runs in the background.',
      schema: CALL_WAITING,
    },
  },
  run: execute,
};

async function execute(asked: RouteRequest): Promise<Answer> {
  const { request, params } = asked;
  const { async, at, delayMs, priority, expiresMs, notify, ...body } = asked.body as ExecuteBody; // as its schema demands
  const { arguments: input, profile, ...said } = body;
  const task = readTaskBody(defined({ async, at, delayMs, priority, expiresMs, notify }), said.approvalId, request);
  if ('refusal' in task) return task.refusal;
  const chest = await openToCall(asked, profile);
  const traceparent = request.headers.get('traceparent');
  const callId = createCallId();
  const begin = performance.now();
  const options = { ...said, id: callId, door: 'rest', ...(traceparent !== null && { traceparent }) };
  const { name = '' } = params;
  const result =
    task.options === undefined
      ? await chest.call(name, input, { ...options, park: true, signal: request.signal })
      : await chest.submit(name, input, { ...options, ...task.options });
  return toAnswer(result, { callId, durationMs: Math.round((performance.now() - begin) * 1000) / 1000 });
}

interface Ran {
  readonly callId: string;
  readonly durationMs: number;
}

/** Converts a result to an HTTP answer. */
function toAnswer(result: ToolResult, { callId, durationMs }: Ran): Answer {
  if (result.status === 'failed') return toFailure(result, { callId, durationMs });
  if (result.status === 'waiting') return toWaiting(result, callId);
  const { ok, status, content, ...rest } = result;
  return { status: 200, body: { ok, status, callId, content, ...rest, durationMs } };
}

/** `callId` can be that of an earlier call: the result will be found under that id. */
function toWaiting({ ok, status, waiting, ...rest }: WaitingResult, ownId: string): Answer {
  const { callId = waiting.for === 'task' ? waiting.id : ownId, ...shown } = waiting;
  const headers = waiting.for === 'task' ? { headers: taskAddress(waiting.id) } : {};
  return { status: 202, ...headers, body: { ok, status, callId, waiting: shown, ...rest } };
}

function toFailure({ error, ok: _ok, status: _status, ...rest }: FailedResult, ran: Ran): Answer {
  return refuse(statusOf(error.code), error, { callId: ran.callId, ...rest, durationMs: ran.durationMs });
}
