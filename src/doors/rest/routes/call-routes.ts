import type { CallQuery } from '../../../audit/recorded-calls.ts';
import type { AuditRow } from '../../../core/ports/stored-audit.ts';
import type { RunningCall } from '../../../crib/console/running-calls.ts';
import { toShownApproval, toShownCall, toShownRunning, toTime } from '../../shown.ts';
import { type Answer, notFound, ok } from '../answers.ts';
import { type Route, type RouteRequest, readCursor } from '../route.ts';
import { anyObject, anything, choice, list, number, object, RESULT, shortText, text, time, whole } from '../shapes.ts';
import { APPROVAL } from './approval-routes.ts';

const STATUSES = ['running', 'waiting', 'done', 'failed'] as const;

const RUNNING = object({
  callId: text(),
  'parentId?': text(),
  tool: text(),
  source: text(),
  profile: text(),
  door: text(),
  'caller?': text(),
  'conversation?': text(),
  'turn?': text(),
  outcome: { const: 'running' },
  at: time(),
});

/** Members of a recorded call. */
export const CALL = {
  callId: text(),
  tool: text(),
  source: text(),
  profile: text(),
  door: text(),
  'caller?': text(),
  'roles?': list(text()),
  'operator?': { const: true },
  'conversation?': text(),
  'turn?': text(),
  'parentId?': text('The id of the call that made this call.'),
  outcome: text('done, waiting, or an error code.'),
  at: time(),
  'until?': time(),
  'count?': whole('Number of refusals that this row summarizes.'),
  'durationMs?': number(),
  'traceId?': text('The id of the trace that the call belongs to.'),
  'tokens?': whole('Estimate of the tokens that the text of the result costs a model.', 0),
  'approval?': anyObject('The approval of the call, and the approver.'),
  'argumentsHash?': text(),
  'resultHash?': text(),
  'intents?': whole(),
  'isReplayed?': { const: true, description: 'Answered without running the tool.' },
  row: anyObject('The position of the call in the audit log.'),
};

/** A call in a list: recorded, or in flight. */
export const LISTED_CALL = { anyOf: [object(CALL), RUNNING] };

/** Routes of recorded calls. */
export const CALL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/calls',
    group: 'calls',
    says: 'Lists recorded calls, or those in flight in this process. An operator sees all of them, a caller its own.',
    who: 'credential',
    query: {
      'tool?': shortText('Only calls of this tool.'),
      'source?': shortText('Only calls of tools of this source.'),
      'caller?': shortText('Only calls of this caller. Only for operators.'),
      'profile?': shortText('Only calls under this profile.'),
      'conversation?': shortText('Only calls of this conversation.'),
      'turn?': shortText('Only calls of this turn.'),
      'parent?': shortText('Only calls directly inside the call with this id.'),
      'status?': choice(STATUSES, 'Only calls in this state; running: those in flight in this process.'),
      'outcome?': shortText('Only calls with this outcome: done, waiting, or an error code.'),
      'code?': shortText('Only calls that failed with this error code.'),
      'since?': time('Only calls that began at this time or later.'),
      'until?': time('Only calls that began before this time.'),
      'limit?': whole('Maximum number of calls. Default: 50.', 1, 1000),
      'cursor?': shortText('Continue after this place: nextCursor of the previous page.', 1000),
    },
    answers: {
      200: { says: 'The calls, newest first.', schema: object({ calls: list(LISTED_CALL), 'nextCursor?': text() }) },
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
          'traceUrl?': text('The address of its trace, if server.traceUrl is configured.'),
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

interface ListQuery extends Omit<CallQuery, 'since' | 'until' | 'failed' | 'nested' | 'before'> {
  readonly status?: (typeof STATUSES)[number];
  readonly code?: string;
  readonly since?: string;
  readonly until?: string;
  readonly cursor?: string;
}

async function listCalls(asked: RouteRequest): Promise<Answer> {
  const { cursor, status, code, since, until, ...given } = asked.query as ListQuery; // as its schema demands
  const { crib, asker } = asked;
  const rest = asker.operator ? given : { ...given, caller: asker.caller.id ?? '' };
  const times = {
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
  if (status === 'running') return ok({ calls: runningCalls(asked, { ...rest, ...times }) });
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const outcome = code ?? (status === 'done' || status === 'waiting' ? status : undefined);
  const wanted = {
    ...rest,
    ...times,
    ...(outcome !== undefined && { outcome }),
    ...(status === 'failed' && { failed: true }),
    ...(before !== undefined && { before: before as AuditRow }), // the crib rejects an invalid one
  };
  if (outcome !== undefined && rest.outcome !== undefined && rest.outcome !== outcome) return ok({ calls: [] });
  const rows = await crib.calls.list(wanted);
  const last = rows.at(-1);
  const isFull = rows.length === (rest.limit ?? 50);
  return ok({
    calls: rows.map(toShownCall),
    ...(isFull && last !== undefined && { nextCursor: placeOf(last) }),
  });
}

/** The calls in flight that match a query, newest first. */
function runningCalls({ crib }: RouteRequest, { limit = 50, ...query }: CallQuery): readonly object[] {
  const isMeant = (call: RunningCall): boolean =>
    (['tool', 'source', 'caller', 'profile', 'conversation', 'turn'] as const).every(
      (key) => query[key] === undefined || call[key] === query[key],
    ) &&
    (query.parent === undefined || call.parentId === query.parent) &&
    (query.since === undefined || call.at >= query.since) &&
    (query.until === undefined || call.at < query.until);
  const found = crib.server.running.list().filter(isMeant);
  return found.toReversed().slice(0, limit).map(toShownRunning);
}

function placeOf({ at, chain, number: place }: AuditRow): string {
  return Buffer.from(JSON.stringify({ at, chain, number: place })).toString('base64url');
}

async function showCall({ crib, asker, params }: RouteRequest) {
  const { id = '' } = params;
  const { caller } = asker;
  const [parked, row] = await Promise.all([crib.server.parked(id, caller), crib.server.callRow(id)]);
  const { traceUrl } = crib.server.serverSettings();
  const isOwn = asker.operator || (row?.caller !== undefined && row.caller === caller.id);
  if (parked === undefined && !(row !== undefined && isOwn)) return notFound(`The call "${id}" was not found.`);
  return ok({
    callId: id,
    state: parked?.state ?? 'ended',
    ...(row !== undefined && isOwn && { call: toShownCall(row) }),
    ...(parked?.approval !== undefined && { approval: toShownApproval(parked.approval) }),
    ...(parked?.result !== undefined && { result: parked.result }),
    ...(isOwn &&
      row?.traceId !== undefined &&
      traceUrl !== undefined && {
        traceUrl: traceUrl.replaceAll('{traceId}', row.traceId),
      }),
  });
}
