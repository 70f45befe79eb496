import type { CallQuery } from '../../audit/recorded-calls.ts';
import { createCallId } from '../../call/call-input.ts';
import type { AuditRow } from '../../core/ports/stored-audit.ts';
import type { FailedResult, ToolResult, WaitingResult } from '../../core/tool-result.ts';
import { toShownApproval, toShownCall, toTime } from '../shown.ts';
import { type Answer, notFound, ok, refuse, statusOf } from './answers.ts';
import { APPROVAL } from './approval-routes.ts';
import { openToCall, type Route, type RouteRequest, readCursor } from './route.ts';
import {
  anyObject,
  anything,
  CALL_DONE,
  CALL_WAITING,
  choice,
  flag,
  list,
  number,
  object,
  RESULT,
  shortText,
  text,
  time,
  whole,
} from './shapes.ts';

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
  'parentId?': text('The call inside which it was made.'),
  outcome: text('done, waiting or the code of an error.'),
  at: time(),
  'until?': time(),
  'count?': whole('How many refusals the row stands for.'),
  'durationMs?': number(),
  'approval?': anyObject('Under which it ran, and who gave it.'),
  'argumentsHash?': text(),
  'resultHash?': text(),
  'intents?': whole(),
  'isReplayed?': { const: true, description: 'Answered without running the tool.' },
  row: anyObject('Its place in the audit.'),
};

/** The record of calls. */
export const CALL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/calls',
    group: 'calls',
    says: 'Calls that were made.',
    who: 'operator',
    query: {
      'tool?': shortText('Calls of this tool.'),
      'caller?': shortText('Calls of this caller.'),
      'outcome?': shortText('Calls that ended so: done, waiting or the code of an error.'),
      'limit?': whole('At most so many; 50 if absent.', 1, 1000),
      'cursor?': shortText('Where to go on: nextCursor of the page before.', 1000),
    },
    answers: {
      200: { says: 'Newest first.', schema: object({ calls: list(object(CALL)), 'nextCursor?': text() }) },
    },
    run: listCalls,
  },
  {
    method: 'GET',
    path: '/api/calls/{id}',
    group: 'calls',
    says: 'One call, for who made it or an operator; with its result where it waited for an approval.',
    who: 'caller',
    answers: {
      200: {
        says: 'As far as it is known.',
        schema: object({
          callId: text(),
          state: choice(['waiting', 'running', 'ended']),
          'call?': object(CALL, 'Its row in the audit.'),
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
    says: 'A result that was too large to hand over, for whose call it was or an operator.',
    who: 'caller',
    answers: {
      200: {
        says: 'All of it.',
        schema: object({
          id: text(),
          tool: text(),
          text: text(),
          'data?': anything('As data, where the text does not say the same.'),
          expiresAt: time(),
        }),
      },
    },
    async run({ crib, asker, params }) {
      const { id = '' } = params;
      const found = await crib.server.keptResult(id, asker.caller);
      if (found === undefined) return notFound(`There is no result "${id}"; it may have expired.`);
      return ok({ ...found, expiresAt: toTime(found.expiresAt) });
    },
  },
];

async function listCalls({ crib, query }: RouteRequest) {
  const { cursor, ...rest } = query as CallQuery & { readonly cursor?: string }; // as its schema demands
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const wanted = { ...rest, ...(before !== undefined && { before: before as AuditRow }) }; // the crib says so if it is none
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
  if (parked === undefined && !(row !== undefined && isOwn)) return notFound(`There is no call "${id}".`);
  return ok({
    callId: id,
    state: parked?.state ?? 'ended',
    ...(row !== undefined && isOwn && { call: toShownCall(row) }),
    ...(parked !== undefined && { approval: toShownApproval(parked.approval) }),
    ...(parked?.result !== undefined && { result: parked.result }),
  });
}

interface ExecuteBody {
  readonly arguments?: unknown;
  readonly profile?: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  readonly approvalId?: string;
  readonly async?: boolean;
}

/** Calling a tool. */
export const EXECUTE_ROUTE: Route = {
  method: 'POST',
  path: '/api/tools/execute/{name}',
  group: 'tools',
  says: 'Runs a tool.',
  who: 'caller',
  body: object({
    'arguments?': anything('What the tool is given: an object, {} if absent.'), // the crib judges it, and notes the attempt
    'profile?': shortText('The profile to call under; the default one if absent, all tools for an operator.'),
    'conversation?': shortText('The conversation the call belongs to.'),
    'turn?': shortText('The turn of that conversation.'),
    'timeZone?': shortText('The time zone of whoever is meant.'),
    'idempotencyKey?': shortText('Two calls with the same key are one: the second gets the result of the first.'),
    'approvalId?': shortText('Takes up a call that waited for this approval; waits for its result if it runs.'),
    'async?': flag('Not available in this version.'),
  }),
  answers: {
    200: { says: 'The tool ran: it answered, or it failed (error.code is tool_error).', schema: CALL_DONE },
    202: { says: 'Somebody has to say yes first; the call runs then.', schema: CALL_WAITING },
  },
  run: execute,
};

async function execute(asked: RouteRequest): Promise<Answer> {
  const { arguments: input, profile, async: isLater, ...said } = asked.body as ExecuteBody; // as its schema demands
  if (isLater === true) {
    const message = 'Calls in the background are not available in this version; leave out "async".';
    return refuse(501, { code: 'not_available', message, retryable: false });
  }
  const chest = await openToCall(asked, profile);
  const traceparent = asked.request.headers.get('traceparent');
  const callId = createCallId();
  const begin = performance.now();
  const result = await chest.call(asked.params.name ?? '', input, {
    ...said,
    id: callId,
    door: 'rest',
    park: true,
    signal: asked.request.signal,
    ...(traceparent !== null && { traceparent }),
  });
  return toAnswer(result, { callId, durationMs: Math.round((performance.now() - begin) * 1000) / 1000 });
}

interface Ran {
  readonly callId: string;
  readonly durationMs: number;
}

/** A result as HTTP says it. */
function toAnswer(result: ToolResult, { callId, durationMs }: Ran): Answer {
  if (result.status === 'failed') return toFailure(result, { callId, durationMs });
  if (result.status === 'waiting') return toWaiting(result, callId);
  const { ok, status, content, ...rest } = result;
  return { status: 200, body: { ok, status, callId, content, ...rest, durationMs } };
}

/** The call under whose id the result will be found may be an earlier one. */
function toWaiting({ ok, status, waiting, ...rest }: WaitingResult, ownId: string): Answer {
  const { callId = ownId, ...shown } = waiting;
  return { status: 202, body: { ok, status, callId, waiting: shown, ...rest } };
}

function toFailure({ error, ok: _ok, status: _status, ...rest }: FailedResult, ran: Ran): Answer {
  return refuse(statusOf(error.code), error, { callId: ran.callId, ...rest, durationMs: ran.durationMs });
}
