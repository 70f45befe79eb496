import { packageVersion } from '../../system/package-version.ts';
import type { Route, RouteAnswer } from './route.ts';
import { FAILURE } from './shapes.ts';

/** Descriptions of refusals by status. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The request is not valid; issues lists the errors.',
  401: 'The credential is missing or invalid.',
  403: 'The caller is not allowed to do this.',
  404: 'Not found.',
  409: 'Conflict with another request.',
  413: 'The body is too large.',
  429: 'Rate limit exceeded; Retry-After tells when to retry.',
  499: 'The client closed the request.',
  500: 'Internal error.',
  502: 'The upstream of the tool failed, returned an invalid result, or its outcome is unknown.',
  503: 'Not available at the moment.',
  504: 'Timeout.',
};

const OF_CALLS = [409, 429, 499, 502, 504];
const OF_ALL = [400, 403, 404, 413, 500, 503];

/** Builds the OpenAPI 3.1 document from the same table that validates and answers requests. */
export function describeRoutes(routes: readonly Route[]): object {
  const shown = routes.filter(({ group }) => group !== 'later');
  const paths = Map.groupBy(shown, ({ path }) => path);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Toolcrib',
      version: packageVersion(),
      description: 'List, search and call tools for AI agents, answer approval requests, and read the audit log.',
    },
    security: [{ bearer: [] }, {}],
    paths: Object.fromEntries(
      [...paths].map(([path, members]) => [path, Object.fromEntries(members.map(toOperation))]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, a JWT, or the operator token.' },
      },
      schemas: { Failure: FAILURE },
    },
  };
}

function toOperation(route: Route): readonly [string, object] {
  const { method, path, group, says, who, body } = route;
  return [
    method.toLowerCase(),
    {
      operationId: operationId(route),
      tags: [group],
      summary: says,
      ...(who === 'anyone' && { security: [{}] }),
      ...((who === 'operator' || who === 'credential') && { security: [{ bearer: [] }] }),
      parameters: [...pathParameters(path), ...queryParameters(route)],
      ...(body !== undefined && {
        requestBody: { required: (body.required ?? undefined) !== undefined, content: jsonOf(body) },
      }),
      responses: { ...refusals(route), ...successes(route) },
    },
  ];
}

function operationId({ method, path }: Route): string {
  const words = path
    .replaceAll(/[{}]/g, '')
    .split(/[/.]/)
    .filter((word) => word !== '');
  return [method.toLowerCase(), ...words].map((word, index) => (index === 0 ? word : capitalized(word))).join('');
}

function capitalized(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

function pathParameters(path: string): readonly object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query = {} }: Route): readonly object[] {
  return Object.entries(query).map(([key, { description, ...schema }]) => ({
    name: key.replace(/\?$/, ''),
    in: 'query',
    required: !key.endsWith('?'),
    ...(description !== undefined && { description }),
    schema,
  }));
}

const UNCHANGED = 'The client already has the answer: its ETag is among those of If-None-Match.';

function successes({ method, answers }: Route): object {
  const entries = Object.entries(answers).map(([status, answered]) => [status, toAnswered(answered)]);
  const isTagged = method === 'GET' && answers[200]?.schema !== undefined;
  return Object.fromEntries([...entries, ...(isTagged ? [[304, { description: UNCHANGED }]] : [])]);
}

function toAnswered({ says, schema, type }: RouteAnswer): object {
  const content = {
    ...(schema !== undefined && jsonOf(schema)),
    ...(type !== undefined && { [type]: { schema: { type: 'string' } } }),
  };
  return { description: says, ...(Object.keys(content).length > 0 && { content }) };
}

function refusals({ who, path, group }: Route): object {
  const statuses = [
    ...OF_ALL,
    ...(who === 'anyone' && group !== 'session' ? [] : [401]),
    ...(/\/(execute|resend)(\/|$)/.test(path) ? OF_CALLS : [409]),
  ];
  const failure = jsonOf({ $ref: '#/components/schemas/Failure' });
  const entries = statuses
    .toSorted((a, b) => a - b)
    .map((status) => [status, { description: REFUSALS[status] ?? '', content: failure }]);
  return Object.fromEntries(entries);
}

function jsonOf(schema: object): object {
  return { 'application/json': { schema } };
}
