import type { CallQuery } from '../../../audit/calls.ts';
import type { AuditRow } from '../../../core/ports/stored-audit.ts';
import { toShownApproval, toShownCall, toTime } from '../../shown.ts';
import { notFound, ok } from '../answers.ts';
import { readCursor } from '../cursor.ts';
import { RESULT } from '../result-shapes.ts';
import type { Asked, Route } from '../route.ts';
import { anyObject, anything, choice, list, number, object, shortText, text, time, whole } from '../schema-builders.ts';
import { APPROVAL } from './approvals.ts';

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

async function listCalls({ crib, query }: Asked) {
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

async function showCall({ crib, asker, params }: Asked) {
  const { id = '' } = params;
  const { caller } = asker;
  const [parked, row] = await Promise.all([crib.server.parked(id, caller), crib.calls.get(id)]);
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
