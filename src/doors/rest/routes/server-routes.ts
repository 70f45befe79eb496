import { notAvailable } from '../../../core/tool-error.ts';
import type { SourceReport } from '../../../crib/sources/source-slot.ts';
import { type Answer, ok, refuse } from '../answers.ts';
import { EVENT_HEADERS } from '../event-stream.ts';
import type { Route, RouteCaller } from '../route.ts';
import { flag, list, object, text } from '../shapes.ts';

function notReady(message: string): Answer {
  return refuse(503, { code: 'unavailable', message, retryable: true });
}

const STALE = object(
  { since: text(), 'name?': text('Only for operators.'), 'reason?': text('Only for operators.') },
  'A source whose edited entry is not used: the connection from before the edit still answers.',
);

/** Every monitor may see that an edit is not in use; only operators see which source it is. */
function staleSources(reports: readonly SourceReport[], { operator }: Pick<RouteCaller, 'operator'>): object {
  const stale = reports.flatMap(({ name, reason, since }) => {
    if (since === undefined) return [];
    const shown = { since: new Date(since).toISOString() };
    return operator ? [{ name, ...shown, ...(reason !== undefined && { reason }) }] : [shown];
  });
  return stale.length === 0 ? {} : { stale };
}

/** Routes for monitoring. */
export const HEALTH_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/healthz',
    group: 'health',
    says: 'Liveness: answers while the process runs.',
    who: 'anyone',
    answers: { 200: { says: 'The process is alive.', schema: object({ ok: flag() }) } },
    run: () => ok({ ok: true }),
  },
  {
    method: 'GET',
    path: '/readyz',
    group: 'health',
    says: 'Readiness: the store is writable, the audit log is written, and every source has listed its tools or has failed.',
    who: 'anyone',
    answers: { 200: { says: 'The server is ready.', schema: object({ ok: flag(), 'stale?': list(STALE) }) } },
    async run({ crib, asker }) {
      const readiness = await crib.readiness();
      return readiness.ready ? ok({ ok: true, ...staleSources(crib.sources(), asker) }) : notReady(readiness.reason);
    },
  },
  {
    method: 'GET',
    path: '/metrics',
    group: 'health',
    says: 'Returns metrics for Prometheus.',
    who: 'operator',
    answers: { 200: { says: 'Metrics in the Prometheus text format.', type: 'text/plain' } },
    run: async ({ crib }) =>
      new Response(await crib.metrics(), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
      }),
  },
];

/** The route of the event stream. */
export const EVENTS_ROUTE: Route = {
  method: 'GET',
  path: '/api/events',
  group: 'calls',
  says: 'Streams server-sent events: calls, calls-started, tasks, approvals, sources, stops, tools-changed. `Last-Event-ID` resumes; `lost` tells a slow client how many events were dropped. A caller gets its own calls and tasks, and approvals that concern it.',
  who: 'credential',
  answers: { 200: { says: 'An endless event stream.', type: 'text/event-stream' } },
  async run({ feed, request, asker }) {
    if (request.method === 'HEAD') return new Response(null, { headers: EVENT_HEADERS });
    const lastId = request.headers.get('last-event-id');
    const stream = await feed.open({
      ...(!asker.operator && { caller: asker.caller }),
      ...(lastId !== null && { lastId }),
    });
    if (stream !== undefined) return new Response(stream, { headers: EVENT_HEADERS });
    return refuse(503, {
      code: 'unavailable',
      message: 'Too many clients listen to events. Close some of them, or try again later.',
      retryable: true,
    });
  },
};

/** Planned routes that are not available yet. Only operators get an answer that names them. */
const LATER: readonly (readonly [Route['method'], string])[] = [
  ['GET', '/api/pins'],
  ['POST', '/api/pins'],
];

export const LATER_ROUTES: readonly Route[] = LATER.map(([method, path]) => ({
  method,
  path,
  group: 'later',
  says: 'Not available in this version.',
  who: 'operator',
  answers: {},
  run() {
    throw notAvailable(`${method} ${path}`, 'GET /openapi.json lists the available routes');
  },
}));
