import type { ApprovalDecision } from '../../approvals/approvals.ts';
import { APPROVAL_STATES, type ApprovalState } from '../../core/ports/approval-states.ts';
import { toShownApproval } from '../shown.ts';
import { notFound, ok, refuseFor } from './answers.ts';
import type { Route, RouteRequest } from './route.ts';
import { anyObject, anything, choice, flag, list, object, shortText, text, time, whole } from './shapes.ts';

/** The shape of a request for approval. */
export const APPROVAL = object({
  id: text(),
  state: choice(APPROVAL_STATES),
  tool: text(),
  'title?': text(),
  description: text(),
  arguments: anyObject('Cut to a few kilobytes in lists, events and answers; whole at GET /api/approvals/{id}.'),
  'argumentsLength?': whole('How many characters the whole takes as JSON; present where arguments is cut.', 0),
  caller: object({ 'id?': text(), 'roles?': list(text()) }),
  profile: text(),
  'conversation?': text(),
  'turn?': text(),
  'timeZone?': text(),
  'idempotencyKey?': text(),
  'inputResponses?': anyObject('Answers to questions of the tool, which it gets with the arguments.'),
  'inside?': list(text(), 'The tools inside whose calls it was called, the nearest first.'),
  door: text('Where the call came in.'),
  reason: text('Why somebody is asked.'),
  'question?': text(
    'What the tool asks in the middle of its call, which waits for the answer; absent where the question is whether it may run.',
  ),
  approvers: list(text(), 'Who may answer besides an operator.'),
  'notByCaller?': text('Why the caller is not among them although policy names it.'),
  isParked: flag('Nobody waits for the answer in memory.'),
  createdAt: time(),
  expiresAt: time(),
  'answer?': anyObject('What was decided, by whom and when.'),
  'claim?': anyObject('The call that took it up.'),
  'outcome?': text('How that call ended.'),
});

const REMEMBER = anything('For what else a yes counts: "conversation", "arguments" or { forMs }.');

/** Calls that wait for a person. */
export const APPROVAL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/approvals',
    group: 'approvals',
    says: 'Requests for approval: all for an operator, else those that who asks may answer or has made.',
    who: 'credential',
    query: {
      'state?': choice(APPROVAL_STATES, 'Those in this state; in every state if absent.'),
      'limit?': whole('The newest so many; 100 if absent.', 1, 1000),
    },
    answers: { 200: { says: 'Oldest first.', schema: object({ approvals: list(APPROVAL) }) } },
    run: listApprovals,
  },
  {
    method: 'GET',
    path: '/api/approvals/{id}',
    group: 'approvals',
    says: 'One request, with whole arguments while it waits, is approved or runs. For an operator, or a caller that may answer or has made it.',
    who: 'credential',
    answers: { 200: { says: 'The request as it is now.', schema: object({ approval: APPROVAL }) } },
    run: showApproval,
  },
  {
    method: 'POST',
    path: '/api/approvals/{id}',
    group: 'approvals',
    says: 'Answers a request. The first answer counts; the call of a yes is run by the server.',
    who: 'credential',
    body: object({
      decision: choice(['approve', 'deny']),
      'note?': shortText('What the caller is told.', 2000),
      'remember?': REMEMBER,
    }),
    answers: { 200: { says: 'The request as it is now.', schema: object({ approval: APPROVAL }) } },
    run: answerApproval,
  },
];

async function listApprovals({ crib, asker, query }: RouteRequest) {
  const { limit = 100, state } = query as { readonly limit?: number; readonly state?: ApprovalState }; // as its schema demands
  const approvals = await crib.approvals.list({ limit, ...(state !== undefined && { state }) }, asker.caller);
  return ok({ approvals: approvals.map(toShownApproval) });
}

async function showApproval({ crib, asker, params }: RouteRequest) {
  const { id = '' } = params;
  const approval = await crib.approvals.get(id, asker.caller);
  return approval === undefined ? noSuchApproval(id) : ok({ approval: toShownApproval(approval) });
}

function noSuchApproval(id: string) {
  return notFound(`There is no approval "${id}".`);
}

async function answerApproval({ crib, asker, params, body }: RouteRequest) {
  const { id = '' } = params;
  if ((await crib.approvals.get(id, asker.caller)) === undefined) return noSuchApproval(id); // nor for who has no business with it
  const outcome = await crib.approvals.answer(id, body as unknown as ApprovalDecision, asker.caller); // it is checked there once more
  return outcome.ok ? ok({ approval: toShownApproval(outcome.approval) }) : refuseFor(outcome.error);
}
