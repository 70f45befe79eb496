import { notAvailable } from '../../core/tool-error.ts';
import type { SourceReport } from '../../crib/sources/source-slot.ts';
import { type Answer, ok, refuse } from './answers.ts';
import { EVENT_HEADERS } from './event-stream.ts';
import type { Route, RouteCaller } from './route.ts';
import { flag, list, object, text } from './shapes.ts';

function notReady(message: string): Answer {
  return refuse(503, { code: 'unavailable', message, retryable: true });
}

const STALE = object(
  { since: text(), 'name?': text('For operators.'), 'reason?': text('For operators.') },
  'A source whose edited entry is not used: the connection from before the edit answers.',
);

/** That an edit is not in force concerns everybody who looks after the process; which source it is, only operators. */
function staleSources(reports: readonly SourceReport[], { operator }: Pick<RouteCaller, 'operator'>): object {
  const stale = reports.flatMap(({ name, reason, since }) => {
    if (since === undefined) return [];
    const shown = { since: new Date(since).toISOString() };
    return operator ? [{ name, ...shown, ...(reason !== undefined && { reason }) }] : [shown];
  });
  return stale.length === 0 ? {} : { stale };
}

/** For those who look after the process. */
export const HEALTH_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/healthz',
    group: 'health',
    says: 'Whether the process answers.',
    who: 'anyone',
    answers: { 200: { says: 'It does.', schema: object({ ok: flag() }) } },
    run: () => ok({ ok: true }),
  },
  {
    method: 'GET',
    path: '/readyz',
    group: 'health',
    says: 'Whether it can work: the store can be written, the audit is written, and every source has a list or has failed.',
    who: 'anyone',
    answers: { 200: { says: 'It can.', schema: object({ ok: flag(), 'stale?': list(STALE) }) } },
    async run({ crib, asker }) {
      const readiness = await crib.readiness();
      return readiness.ready ? ok({ ok: true, ...staleSources(crib.sources(), asker) }) : notReady(readiness.reason);
    },
  },
  {
    method: 'GET',
    path: '/metrics',
    group: 'health',
    says: 'What was counted, for Prometheus.',
    who: 'operator',
    answers: { 200: { says: 'Text in its format.', type: 'text/plain' } },
    run: async ({ crib }) =>
      new Response(await crib.metrics(), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
      }),
  },
];

/** What happens, as it happens. */
export const EVENTS_ROUTE: Route = {
  method: 'GET',
  path: '/api/events',
  group: 'calls',
  says: 'Server-sent events: calls, approvals, sources, tools-changed. Nothing is repeated for who was away; `lost` tells who reads too slowly how many events were dropped.',
  who: 'operator',
  answers: { 200: { says: 'A stream without end.', type: 'text/event-stream' } },
  async run({ feed, request }) {
    if (request.method === 'HEAD') return new Response(null, { headers: EVENT_HEADERS });
    const stream = await feed.open();
    if (stream !== undefined) return new Response(stream, { headers: EVENT_HEADERS });
    return refuse(503, { code: 'unavailable', message: 'Too many listen to events.', retryable: true });
  },
};

/** What this version does not have yet. It is no secret that it will come, but only operators are told so. */
const LATER: readonly (readonly [Route['method'], string])[] = [
  ['GET', '/api/tools/{name}/history'],
  ['GET', '/api/pins'],
  ['POST', '/api/pins'],
  ['POST', '/api/evaluation'],
  ['POST', '/api/session'],
  ['GET', '/api/tasks/{id}'],
  ['DELETE', '/api/tasks/{id}'],
  ['GET', '/openapi/{profile}'], // with .json at its end
  ['GET', '/docs'],
];

export const LATER_ROUTES: readonly Route[] = LATER.map(([method, path]) => ({
  method,
  path,
  group: 'later',
  says: 'Not available in this version.',
  who: 'operator',
  answers: {},
  run() {
    throw notAvailable(`${method} ${path}`, 'GET /openapi.json tells what is there');
  },
}));
