import type { StopOptions } from '../../../stops/change-stops.ts';
import { toShownStop } from '../../shown.ts';
import { notFound, ok, refuseFor } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { choice, flag, list, object, shortText, text, time, whole } from '../shapes.ts';

/** The schema of an emergency stop. */
export const STOP = object({
  target: text('tool:NAME, source:NAME, caller:ID, profile:NAME or all.'),
  'note?': text('A message that refused callers are shown.'),
  by: text('The operator who stopped it.'),
  since: time(),
});

const TARGET = shortText('tool:NAME, source:NAME, caller:ID, profile:NAME or all.', 300);
const MADE = object({
  stop: STOP,
  result: choice(['stopped', 'already'], 'already: it was stopped before, and that stop is kept.'),
  ended: whole('Number of calls in flight that this process ended. Other processes end theirs within a second.'),
});

/** Routes of emergency stops. */
export const STOP_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/stops',
    group: 'stops',
    says: 'Lists the emergency stops.',
    who: 'operator',
    answers: { 200: { says: 'The stops, oldest first.', schema: object({ stops: list(STOP) }) } },
    run: async ({ crib }) => ok({ stops: (await crib.stops.list()).map(toShownStop) }),
  },
  {
    method: 'POST',
    path: '/api/stops',
    group: 'stops',
    says: 'Stops the calls of a tool, source, caller or profile, or all calls: every process with the same store refuses them as unavailable within a second, until they are resumed.',
    who: 'operator',
    body: object({
      target: TARGET,
      'note?': text('A message that refused callers are shown.', { maxLength: 200 }),
      'cancel?': flag('True to cancel the calls in flight as well.'),
      'force?': flag('True to stop a name that is not listed.'),
    }),
    answers: {
      200: { says: 'It was stopped before.', schema: MADE },
      201: { says: 'It is stopped.', schema: MADE },
    },
    run: stopCalls,
  },
  {
    method: 'DELETE',
    path: '/api/stops',
    group: 'stops',
    says: 'Ends a stop: calls run again.',
    who: 'operator',
    query: { target: TARGET, 'note?': text('A note for the audit log.', { maxLength: 200 }) },
    answers: { 200: { says: 'The stop that was ended.', schema: object({ resumed: STOP }) } },
    run: resumeCalls,
  },
];

async function stopCalls({ crib, asker, body }: RouteRequest) {
  const { target, ...options } = body as unknown as StopOptions & { readonly target: string }; // as its schema demands
  const outcome = await crib.stops.stop(target, { ...options, door: 'rest' }, asOperator(asker));
  if (!outcome.ok) return refuseFor(outcome.error);
  const { stop, result, ended } = outcome;
  return ok({ stop: toShownStop(stop), result, ended }, result === 'stopped' ? 201 : 200);
}

async function resumeCalls({ crib, asker, query }: RouteRequest) {
  const { target, note } = query as { readonly target: string; readonly note?: string }; // as its schema demands
  const options = { door: 'rest', ...(note !== undefined && { note }) };
  const outcome = await crib.stops.resume(target, options, asOperator(asker));
  if (outcome.ok) return ok({ resumed: toShownStop(outcome.stop) });
  return outcome.error.code === 'conflict' ? notFound(outcome.error.message) : refuseFor(outcome.error);
}

/** The route has checked that the caller is an operator, by its token or its role. */
function asOperator({ caller, operator }: RouteRequest['asker']) {
  return { ...caller, operator };
}
