import { ok } from './answers.ts';
import { describeRoutes } from './openapi.ts';
import type { Route } from './route.ts';
import { APPROVAL_ROUTES } from './routes/approvals.ts';
import { CALL_ROUTES } from './routes/calls.ts';
import { EVENTS_ROUTE } from './routes/events.ts';
import { EXECUTE_ROUTE } from './routes/execute.ts';
import { HEALTH_ROUTES } from './routes/health.ts';
import { KEY_ROUTES } from './routes/keys.ts';
import { LATER_ROUTES } from './routes/later.ts';
import { PROFILE_ROUTES } from './routes/profiles.ts';
import { SEARCH_ROUTE } from './routes/search.ts';
import { SOURCE_ROUTES } from './routes/sources.ts';
import { SPEC_ROUTES } from './routes/specs.ts';
import { STATS_ROUTES } from './routes/stats.ts';
import { TOOL_ROUTES } from './routes/tools.ts';
import { TOOLS_PAGE } from './routes/tools-page.ts';
import { anyObject } from './schema-builders.ts';

/** Describes all of them, itself included. */
const OPENAPI_ROUTE: Route = {
  method: 'GET',
  path: '/openapi.json',
  group: 'pages',
  says: 'This description.',
  who: 'caller',
  answers: { 200: { says: 'OpenAPI 3.1.', schema: anyObject() } },
  run: () => ok(describeRoutes(ROUTES)),
};

/** Everything that can be asked. */
export const ROUTES: readonly Route[] = [
  ...TOOL_ROUTES,
  EXECUTE_ROUTE,
  SEARCH_ROUTE,
  ...PROFILE_ROUTES,
  ...SOURCE_ROUTES,
  ...APPROVAL_ROUTES,
  ...CALL_ROUTES,
  ...STATS_ROUTES,
  ...SPEC_ROUTES,
  ...KEY_ROUTES,
  EVENTS_ROUTE,
  ...HEALTH_ROUTES,
  OPENAPI_ROUTE,
  TOOLS_PAGE,
  ...LATER_ROUTES,
];
