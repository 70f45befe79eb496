import { createCallId } from '../../../call/call-id.ts';
import type { FailedResult, ToolResult, WaitingResult } from '../../../core/tool-result.ts';
import { type Answer, refuse, statusOf } from '../answers.ts';
import { openToCall } from '../open-chest.ts';
import { CALL_DONE, CALL_WAITING } from '../result-shapes.ts';
import type { Asked, Route } from '../route.ts';
import { anything, flag, object, shortText } from '../schema-builders.ts';

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

async function execute(asked: Asked): Promise<Answer> {
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
