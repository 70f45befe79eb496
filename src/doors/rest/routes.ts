import { ok } from './answers.ts';
import { describeRoutes } from './openapi-document.ts';
import { PROFILE_OPENAPI_ROUTE } from './profile-openapi.ts';
import { referencePage } from './reference-page.ts';
import type { Route } from './route.ts';
import { APPROVAL_BINDING_ROUTE } from './routes/approval-binding-route.ts';
import { APPROVAL_ROUTES } from './routes/approval-routes.ts';
import { CALL_ROUTES } from './routes/call-routes.ts';
import { CALL_TREE_ROUTES } from './routes/call-tree-routes.ts';
import { CONSOLE_ROUTES } from './routes/console-routes.ts';
import { EXECUTE_ROUTE } from './routes/execute-route.ts';
import { FACET_ROUTES } from './routes/facet-routes.ts';
import { GRANT_ROUTES } from './routes/grant-routes.ts';
import { HISTORY_ROUTE } from './routes/history-routes.ts';
import { KEY_ROUTES } from './routes/key-routes.ts';
import { PROFILE_ROUTES } from './routes/profile-routes.ts';
import { REVIEW_ROUTES } from './routes/review-routes.ts';
import { SCHEDULE_ROUTES } from './routes/schedule-routes.ts';
import { SEARCH_ROUTES } from './routes/search-route.ts';
import { EVENTS_ROUTE, HEALTH_ROUTES, LATER_ROUTES } from './routes/server-routes.ts';
import { SESSION_ROUTES } from './routes/session-routes.ts';
import { SIGN_IN_ROUTES } from './routes/sign-in-routes.ts';
import { SOURCE_ROUTES, SPEC_ROUTES } from './routes/source-routes.ts';
import { STATS_ROUTES } from './routes/stats-routes.ts';
import { STOP_ROUTES } from './routes/stop-routes.ts';
import { TASK_ROUTES } from './routes/task-routes.ts';
import { TOOL_ROUTES } from './routes/tool-routes.ts';
import { anyObject } from './shapes.ts';

/** Describes all routes, including itself. */
const OPENAPI_ROUTE: Route = {
  method: 'GET',
  path: '/openapi.json',
  group: 'pages',
  says: 'Returns this description.',
  who: 'caller',
  answers: { 200: { says: 'An OpenAPI 3.1 document.', schema: anyObject() } },
  run: () => ok(describeRoutes(ROUTES)),
};

/** All routes. */
export const ROUTES: readonly Route[] = [
  ...FACET_ROUTES, // before the tools: a tool may be named like one of them
  ...TOOL_ROUTES,
  HISTORY_ROUTE,
  EXECUTE_ROUTE,
  ...SEARCH_ROUTES,
  ...PROFILE_ROUTES,
  ...SOURCE_ROUTES,
  ...APPROVAL_ROUTES,
  ...GRANT_ROUTES,
  APPROVAL_BINDING_ROUTE,
  ...CALL_ROUTES,
  ...CALL_TREE_ROUTES,
  ...TASK_ROUTES,
  ...STATS_ROUTES,
  ...SPEC_ROUTES,
  ...KEY_ROUTES,
  ...STOP_ROUTES,
  ...SCHEDULE_ROUTES,
  ...REVIEW_ROUTES,
  ...SESSION_ROUTES,
  ...SIGN_IN_ROUTES,
  EVENTS_ROUTE,
  ...HEALTH_ROUTES,
  OPENAPI_ROUTE,
  PROFILE_OPENAPI_ROUTE,
  referencePage(() => ROUTES),
  ...CONSOLE_ROUTES,
  ...LATER_ROUTES,
];
