import { toShownGrant } from '../../shown.ts';
import { notFound, ok, refuseFor } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { anyObject, anything, list, object, shortText, text, time, whole } from '../shapes.ts';

/** The schema of a remembered approval. */
const GRANT = object({
  id: text('The id of the request that was approved.'),
  by: text('The approver.'),
  at: time(),
  expiresAt: time(),
  'usesLeft?': whole('Number of further calls; absent if they are not counted.'),
  'tool?': text('The tool; absent, like the members below, if the request was purged.'),
  'title?': text(),
  'caller?': object({ 'id?': text(), 'roles?': list(text()) }),
  'profile?': text(),
  'conversation?': text(),
  'inside?': list(text(), 'The tools whose calls contain the call, innermost first.'),
  'arguments?': anyObject('The approved arguments, cut to a few kilobytes.'),
  'argumentsLength?': whole('Length of the full arguments as JSON, in characters. Present if arguments is cut.'),
  'remember?': anything('What passes: "conversation", "arguments", { forMs }, or { uses, forMs or until, vary }.'),
  'note?': text(),
});

const FORGOTTEN = { 200: { says: 'Later calls are asked about again.', schema: object({ forgotten: list(text()) }) } };

/** Routes of remembered approvals. */
export const GRANT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/grants',
    group: 'approvals',
    says: 'Lists the remembered approvals that let calls pass now.',
    who: 'operator',
    answers: { 200: { says: 'The remembered approvals, newest first.', schema: object({ grants: list(GRANT) }) } },
    run: async ({ crib }) => ok({ grants: (await crib.approvals.grants()).map(toShownGrant) }),
  },
  {
    method: 'DELETE',
    path: '/api/grants/{id}',
    group: 'approvals',
    says: 'Forgets a remembered approval.',
    who: 'operator',
    answers: FORGOTTEN,
    run: (asked) => forgetGrant(asked, asked.params.id ?? ''),
  },
  {
    method: 'DELETE',
    path: '/api/grants',
    group: 'approvals',
    says: 'Forgets a remembered approval.',
    who: 'operator',
    query: { id: shortText('The id of the remembered approval.') },
    answers: FORGOTTEN,
    run: (asked) => forgetGrant(asked, String(asked.query.id)),
  },
];

async function forgetGrant({ crib, asker }: RouteRequest, id: string) {
  const outcome = await crib.approvals.forget(id, { ...asker.caller, operator: true }); // the route has checked it
  if (outcome.ok) return ok({ forgotten: [id] });
  const isGone = ['invalid_input', 'conflict'].includes(outcome.error.code);
  return isGone ? notFound(`The remembered approval "${id}" was not found.`) : refuseFor(outcome.error);
}
