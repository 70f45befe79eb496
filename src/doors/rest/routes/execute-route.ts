import { type CallOptions, createCallId } from '../../../call/call-input.ts';
import type { Caller } from '../../../core/caller.ts';
import { defined } from '../../../core/read-options.ts';
import { toolError } from '../../../core/tool-error.ts';
import type { FailedResult, ToolResult, WaitingResult } from '../../../core/tool-result.ts';
import type { Chest } from '../../../crib/chest.ts';
import { type Answer, ok as answerOk, refuse, refuseFor, statusOf } from '../answers.ts';
import { EVENT_HEADERS } from '../event-stream.ts';
import { openToCall, type Route, type RouteRequest } from '../route.ts';
import {
  anyObject,
  anything,
  CALL_DONE,
  CALL_WAITING,
  choice,
  flag,
  ISSUES,
  list,
  number,
  object,
  shortText,
  text,
} from '../shapes.ts';
import { readTaskBody, TASK_MEMBERS, type TaskBody, taskAddress } from './task-routes.ts';

interface ExecuteBody extends TaskBody {
  readonly arguments?: unknown;
  readonly profile?: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  readonly approvalId?: string;
  readonly dryRun?: boolean;
  readonly caller?: Caller;
}

const CALLER = object(
  {
    'id?': shortText('Its id.'),
    'roles?': list(shortText('A role.')),
    'permissions?': list(shortText('A permission.')),
  },
  'With dryRun: the caller to judge for. Only for operators. Default: the caller of the request.',
);

const DRY_RUN = object({
  ok: flag('True if the call would run now.'),
  status: { const: 'dryRun' },
  would: text('run, ask (the call would wait for an approval) or refuse.', { pattern: '^(run|ask|refuse)$' }),
  tool: text(),
  profile: text(),
  caller: object({ 'id?': text(), 'roles?': list(text()) }),
  visible: flag('True if the caller sees the tool.'),
  'valid?': flag('True if the arguments are valid. Absent if the tool is not visible.'),
  'issues?': ISSUES,
  layers: list(
    object({
      layer: text('The extension, or entry for what is decided before any of them.'),
      verdict: choice(
        ['pass', 'ask', 'refuse', 'unknown'],
        'unknown: an extension of the host decides when the call is made.',
      ),
      says: text(),
      'code?': text('The error code of the refusal.'),
      'retryAfterMs?': number(),
    }),
    'The verdicts, outermost first.',
  ),
  'reasons?': list(text(), 'Why the tool is visible or not. Only for operators.'),
  'policy?': anyObject('Each limit with the layers that set it. Only for operators.'),
});

/** The route that calls a tool. */
export const EXECUTE_ROUTE: Route = {
  method: 'POST',
  path: '/api/tools/execute/{name}',
  group: 'tools',
  says: 'Calls a tool. With `Accept: text/event-stream` the answer is a stream: started, progress, result.',
  who: 'caller',
  body: object({
    'arguments?': anything('The arguments of the tool, an object. Default: {}.'), // the crib validates and records them
    'profile?': shortText('The profile of the call. Default: the default profile; for an operator, all tools.'),
    'conversation?': shortText('The conversation the call belongs to.'),
    'turn?': shortText('The turn of that conversation.'),
    'timeZone?': shortText('The time zone of the user.'),
    'idempotencyKey?': shortText('Deduplicates calls: a second call with the same key gets the result of the first.'),
    'approvalId?': shortText('Runs the call that waits for this approval, or waits for its result if it is running.'),
    'dryRun?': flag('Answers what would happen. Nothing runs, is charged, is asked or is recorded.'),
    'caller?': CALLER,
    ...TASK_MEMBERS,
  }),
  answers: {
    200: {
      says: 'The tool ran. It returned a result, or it failed (error.code is tool_error). With dryRun: the verdicts.',
      schema: { anyOf: [CALL_DONE, DRY_RUN] },
      type: 'text/event-stream',
    },
    202: {
      says: 'The call requires approval and runs after it was approved, or it runs in the background.',
      schema: CALL_WAITING,
    },
  },
  run: execute,
};

async function execute(asked: RouteRequest): Promise<Answer | Response> {
  const { request, params } = asked;
  const { async, at, delayMs, priority, expiresMs, notify, ...body } = asked.body as ExecuteBody; // as its schema demands
  const { arguments: input, profile, dryRun, caller, ...said } = body;
  const task = readTaskBody(defined({ async, at, delayMs, priority, expiresMs, notify }), said.approvalId, asked);
  if ('refusal' in task) return task.refusal;
  if (dryRun === true && task.options !== undefined) return refuseFor(DRY_RUN_OF_TASK);
  if (dryRun === true) return judge(asked, defined({ ...said, input, profile, caller }));
  if (caller !== undefined) return refuseFor(CALLER_WITHOUT_DRY_RUN);
  const chest = await openToCall(asked, profile);
  const traceparent = request.headers.get('traceparent');
  const { name = '' } = params;
  const options = { ...said, id: createCallId(), door: 'rest', ...(traceparent !== null && { traceparent }) };
  if (task.options !== undefined) {
    const begin = performance.now();
    const result = await chest.submit(name, input, { ...options, ...task.options });
    return toAnswer(result, { callId: options.id, durationMs: elapsed(begin) });
  }
  const call = { chest, name, input, options: { ...options, park: true, signal: request.signal } };
  return request.headers.get('accept')?.includes('text/event-stream') === true ? stream(asked, call) : make(call);
}

const DRY_RUN_OF_TASK = toolError('invalid_input', 'A dry run judges a call that is made at once. Remove "async".');
const CALLER_WITHOUT_DRY_RUN = toolError('invalid_input', '"caller" is only for a dry run. Add "dryRun": true.');

interface Made {
  readonly chest: Chest;
  readonly name: string;
  readonly input: unknown;
  readonly options: CallOptions & { readonly id: string };
}

async function make({ chest, name, input, options }: Made): Promise<Answer> {
  const begin = performance.now();
  const result = await chest.call(name, input, options);
  return toAnswer(result, { callId: options.id, durationMs: elapsed(begin) });
}

function elapsed(begin: number): number {
  return Math.round((performance.now() - begin) * 1000) / 1000;
}

/** Makes the call and streams its progress. If the client goes away, the call is cancelled. */
function stream({ feed, asker }: RouteRequest, call: Made): Answer | Response {
  const events = feed.openOwn(
    ({ send, finish }) => {
      const gone = new AbortController();
      const { signal = gone.signal, id } = call.options;
      send('started', { callId: id });
      const options = {
        ...call.options,
        signal: AbortSignal.any([signal, gone.signal]),
        onProgress: (progress: unknown) => send('progress', { progress }),
      };
      void make({ ...call, options }).then(({ status, body }) => {
        send('result', { httpStatus: status, body });
        finish();
      });
      return () => gone.abort();
    },
    asker.operator ? {} : { caller: asker.caller },
  );
  if (events !== undefined) return new Response(events, { headers: EVENT_HEADERS });
  const message = 'Too many clients listen to events. Call without "Accept: text/event-stream", or try again later.';
  return refuse(503, { code: 'unavailable', message, retryable: true });
}

interface Judged extends Omit<CallOptions, 'id'> {
  readonly input?: unknown;
  readonly profile?: string;
  readonly caller?: Caller;
}

async function judge(asked: RouteRequest, { input, profile, caller, ...said }: Judged): Promise<Answer> {
  const { crib, asker } = asked;
  if (caller !== undefined && !asker.operator) return refuseFor(NOT_FOR_OTHERS);
  const chest = await (caller === undefined ? openToCall(asked, profile) : crib.open(profile, caller));
  const { name = '' } = asked.params;
  const layers = await crib.server.dryRun(chest, name, input, { ...said, door: 'rest', park: true });
  const refusal = layers.find(({ verdict }) => verdict === 'refuse');
  // Rules ask by the approval layer, which knows whether a remembered approval covers the call.
  const isCovered = layers.some(({ layer, verdict }) => layer === 'approval' && verdict === 'pass');
  const asks = !isCovered && layers.some(({ verdict }) => verdict === 'ask');
  const visible = chest.get(name) !== undefined;
  const issues = layers.flatMap(({ error }) => (error?.code === 'invalid_input' ? (error.issues ?? []) : []));
  const isInvalid = layers.some(({ error }) => error?.code === 'invalid_input');
  return answerOk({
    ok: refusal === undefined && !asks,
    status: 'dryRun',
    would: refusal !== undefined ? 'refuse' : asks ? 'ask' : 'run',
    tool: name,
    profile: chest.profile,
    caller: defined(caller ?? asker.caller, ['id', 'roles']),
    visible,
    ...(visible && { valid: !isInvalid }),
    ...(issues.length > 0 && { issues }),
    layers: layers.map(({ error, detail, ...layer }) => ({
      ...layer,
      // Prices and budgets are policy, which callers do not see.
      ...(detail !== undefined && asker.operator && { says: `${layer.says} ${detail}` }),
      ...defined({ code: error?.code, retryAfterMs: error?.retryAfterMs }),
    })),
    ...(asker.operator && explained(asked, { name, profile, caller })),
  });
}

const NOT_FOR_OTHERS = toolError('denied', 'Only operators can name another caller. Remove "caller".');

function explained(
  { crib, asker }: RouteRequest,
  {
    name,
    profile,
    caller,
  }: { readonly name: string; readonly profile: string | undefined; readonly caller: Caller | undefined },
) {
  if (profile === undefined && caller === undefined) return {}; // the operator's chest has all tools
  const { reasons, policy } = crib.explain(caller ?? asker.caller, profile, name);
  return { reasons, policy };
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
