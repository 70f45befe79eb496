import type { CallQuery } from '../../../audit/recorded-calls.ts';
import { createCallId } from '../../../call/call-input.ts';
import type { AuditRow } from '../../../core/ports/stored-audit.ts';
import { defined } from '../../../core/read-options.ts';
import type { FailedResult, ToolResult, WaitingResult } from '../../../core/tool-result.ts';
import { toShownApproval, toShownCall, toTime } from '../../shown.ts';
import { type Answer, notFound, ok, refuse, statusOf } from '../answers.ts';
import { openToCall, type Route, type RouteRequest, readCursor } from '../route.ts';
import {
  anyObject,
  anything,
  CALL_DONE,
  CALL_WAITING,
  choice,
  list,
  number,
  object,
  RESULT,
  shortText,
  text,
  time,
  whole,
} from '../shapes.ts';
import { APPROVAL } from './approval-routes.ts';
import { readTaskBody, TASK_MEMBERS, type TaskBody, taskAddress } from './task-routes.ts';

const CALL = {
  callId: text(),
  tool: text(),
  source: text(),
  profile: text(),
  door: text(),
  'caller?': text(),
  'roles?': list(text()),
  'operator?': { const: true },
  'conversation?': text(),
  'parentId?': text('The id of the call that made this call.'),
  outcome: text('done, waiting, or an error code.'),
  at: time(),
  'until?': time(),
  'count?': whole('Number of refusals that this row summarizes.'),
  'durationMs?': number(),
  'approval?': anyObject('The approval of the call, and the approver.'),
  'argumentsHash?': text(),
  'resultHash?': text(),
  'intents?': whole(),
  'isReplayed?': { const: true, description: 'Answered without running the tool.' },
  row: anyObject('The position of the call in the audit log.'),
};

/** Routes of recorded calls. */
export const CALL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/calls',
    group: 'calls',
    says: 'Lists recorded calls.',
    who: 'operator',
    query: {
      'tool?': shortText('Only calls of this tool.'),
      'caller?': shortText('Only calls of this caller.'),
      'outcome?': shortText('Only calls with this outcome: done, waiting, or an error code.'),
      'limit?': whole('Maximum number of calls. Default: 50.', 1, 1000),
      'cursor?': shortText('Continue after this place: nextCursor of the previous page.', 1000),
    },
    answers: {
      200: { says: 'The calls, newest first.', schema: object({ calls: list(object(CALL)), 'nextCursor?': text() }) },
    },
    run: listCalls,
  },
  {
    method: 'GET',
    path: '/api/calls/{id}',
    group: 'calls',
    says: 'Returns one call, for its caller or an operator. If the call required approval, its result is included.',
    who: 'caller',
    answers: {
      200: {
        says: 'The call.',
        schema: object({
          callId: text(),
          state: choice(['waiting', 'running', 'ended']),
          'call?': object(CALL, 'Its row in the audit log.'),
          'approval?': APPROVAL,
          'result?': RESULT,
        }),
      },
    },
    run: showCall,
  },
  {
    method: 'GET',
    path: '/api/results/{id}',
    group: 'calls',
    says: 'Returns a result that was too large for its answer, for the caller of the tool or an operator.',
    who: 'caller',
    answers: {
      200: {
        says: 'The full result.',
        schema: object({
          id: text(),
          tool: text(),
          text: text(),
          'data?': anything('The result as data. Absent if the text contains the same.'),
          expiresAt: time(),
        }),
      },
    },
    async run({ crib, asker, params }) {
      const { id = '' } = params;
      const found = await crib.server.keptResult(id, asker.caller);
      if (found === undefined) return notFound(`The result "${id}" was not found. It may have expired.`);
      return ok({ ...found, expiresAt: toTime(found.expiresAt) });
    },
  },
];

async function listCalls({ crib, query }: RouteRequest) {
  const { cursor, ...rest } = query as CallQuery & { readonly cursor?: string }; // as its schema demands
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const wanted = { ...rest, ...(before !== undefined && { before: before as AuditRow }) }; // the crib rejects an invalid one
  const rows = await crib.calls.list(wanted);
  const last = rows.at(-1);
  const isFull = rows.length === (rest.limit ?? 50);
  return ok({
    calls: rows.map(toShownCall),
    ...(isFull && last !== undefined && { nextCursor: placeOf(last) }),
  });
}

function placeOf({ at, chain, number: place }: AuditRow): string {
  return Buffer.from(JSON.stringify({ at, chain, number: place })).toString('base64url');
}

async function showCall({ crib, asker, params }: RouteRequest) {
  const { id = '' } = params;
  const { caller } = asker;
  const [parked, row] = await Promise.all([crib.server.parked(id, caller), crib.server.callRow(id)]);
  const isOwn = asker.operator || (row?.caller !== undefined && row.caller === caller.id);
  if (parked === undefined && !(row !== undefined && isOwn)) return notFound(`The call "${id}" was not found.`);
  return ok({
    callId: id,
    state: parked?.state ?? 'ended',
    ...(row !== undefined && isOwn && { call: toShownCall(row) }),
    ...(parked !== undefined && { approval: toShownApproval(parked.approval) }),
    ...(parked?.result !== undefined && { result: parked.result }),
  });
}

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
