import { notAvailable } from '../../../core/tool-error.ts';
import type { Route } from '../route.ts';

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
