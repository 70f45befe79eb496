import { refuse } from '../answers.ts';
import type { Route } from '../route.ts';

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no', // a proxy that collects would keep events back
};

/** What happens, as it happens. */
export const EVENTS_ROUTE: Route = {
  method: 'GET',
  path: '/api/events',
  group: 'calls',
  says: 'Server-sent events: calls, approvals, sources, tools-changed. Nothing is repeated for who was away; `lost` tells who reads too slowly how many events were dropped.',
  who: 'operator',
  answers: { 200: { says: 'A stream without end.', type: 'text/event-stream' } },
  async run({ feed, request }) {
    if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });
    const stream = await feed.open();
    if (stream !== undefined) return new Response(stream, { headers: HEADERS });
    return refuse(503, { code: 'unavailable', message: 'Too many listen to events.', retryable: true });
  },
};
