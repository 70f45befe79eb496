import type { ApprovalDecision } from '../../../approvals/read-decision.ts';
import { APPROVAL_STATES, type ApprovalState } from '../../../core/ports/approval-states.ts';
import { toShownApproval } from '../../shown.ts';
import { notFound, ok, refuseFor } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, anything, choice, flag, list, object, shortText, text, time, whole } from '../shapes.ts';

const CUT_ARGUMENTS = {
  arguments: anyObject(
    'The arguments of the call. Lists and events cut them to a few kilobytes; GET /api/approvals/{id} returns them in full.',
  ),
  'argumentsLength?': whole('Length of the full arguments as JSON, in characters. Present if arguments is cut.', 0),
};

/** The members of a request that belong to its own call. */
const OF_ONE_CALL = {
  id: text(),
  state: choice(APPROVAL_STATES),
  tool: text(),
  'title?': text(),
  description: text(),
  ...CUT_ARGUMENTS,
  'inputResponses?': anyObject('Answers to questions of the tool. The tool receives them with the arguments.'),
  reason: text('Why the call requires approval.'),
  approvers: list(text(), 'The approvers, in addition to the operator.'),
  expiresAt: time(),
  'answer?': anyObject('The decision, the approver and the time.'),
  'claim?': anyObject('The call that runs under this approval.'),
  'outcome?': text('The outcome of that call.'),
};

/** The schema of an approval request. */
export const APPROVAL = object({
  ...OF_ONE_CALL,
  'batch?': text('The batch of a call inside a script. Calls of a script that wait at the same time share it.'),
  'items?': list(
    object(OF_ONE_CALL),
    'The calls of a batch of several, in their order. The id of the request is then that of the batch: one answer counts for all that wait. Each call can also be answered by its own id.',
  ),
  caller: object({ 'id?': text(), 'roles?': list(text()) }),
  profile: text(),
  'conversation?': text(),
  'turn?': text(),
  'timeZone?': text(),
  'idempotencyKey?': text(),
  'inside?': list(text(), 'The tools whose calls contain this call, innermost first.'),
  door: text('The door of the call, such as cli, rest or mcp.'),
  'question?': text(
    'A question that the running tool asks; the call waits for the answer. Absent if the request asks whether the tool may run.',
  ),
  'notByCaller?': text('Why the caller may not answer although the policy names it.'),
  isParked: flag('True if the call is stored; false if a running process waits for the answer.'),
  createdAt: time(),
});

const REMEMBER = anything(
  'Do not ask again for this conversation ("conversation"), for the same arguments ("arguments"), for a time ({ forMs }), or, as an operator, for a number of further calls ({ uses, forMs or until, vary }): vary has a JSON Schema for each argument that may differ.',
);

/** Routes of approval requests. */
export const APPROVAL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/approvals',
    group: 'approvals',
    says: 'Lists approval requests; calls of a script that wait at the same time are one. An operator sees all of them, a caller those that it may answer or has made.',
    who: 'credential',
    query: {
      'state?': choice(APPROVAL_STATES, 'Only requests in this state. Default: all states.'),
      'limit?': whole('Maximum number of requests, newest first. Default: 100.', 1, 1000),
    },
    answers: { 200: { says: 'The requests, oldest first.', schema: object({ approvals: list(APPROVAL) }) } },
    run: listApprovals,
  },
  {
    method: 'GET',
    path: '/api/approvals/{id}',
    group: 'approvals',
    says: 'Returns one request or batch, with full arguments until its call has ended. For operators, and for callers that may answer it or have made it.',
    who: 'credential',
    answers: { 200: { says: 'The request as it is now.', schema: object({ approval: APPROVAL }) } },
    run: showApproval,
  },
  {
    method: 'POST',
    path: '/api/approvals/{id}',
    group: 'approvals',
    says: 'Answers a request, or all waiting calls of a batch. The first answer counts. The server runs an approved call.',
    who: 'credential',
    body: object({
      decision: choice(['approve', 'deny']),
      'note?': shortText('A message to the caller.', 2000),
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
  return notFound(`The approval "${id}" was not found.`);
}

async function answerApproval({ crib, asker, params, body }: RouteRequest) {
  const { id = '' } = params;
  if ((await crib.approvals.get(id, asker.caller)) === undefined) return noSuchApproval(id); // also if the caller may not see it
  const outcome = await crib.approvals.answer(id, body as unknown as ApprovalDecision, asker.caller); // the crib checks it again
  return outcome.ok ? ok({ approval: toShownApproval(outcome.approval) }) : refuseFor(outcome.error);
}
