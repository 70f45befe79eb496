import type { ToolSpec } from '../../core/tool-spec.ts';
import { packageVersion } from '../../system/package-version.ts';
import { notFound, ok } from './answers.ts';
import { openToList, type Route, type RouteRequest } from './route.ts';
import { anyObject, CALL_DONE, CALL_WAITING, FAILURE } from './shapes.ts';
import { dangerOf } from './tool-shapes.ts';

/** The route that describes the tools of a profile as typed operations, for clients without MCP. */
export const PROFILE_OPENAPI_ROUTE: Route = {
  method: 'GET',
  path: '/openapi/{file}',
  group: 'pages',
  says: 'Describes the tools that a profile shows at first as typed operations, at /openapi/PROFILE.json. Each operation is POST /api/tools/execute/{name}.',
  who: 'caller',
  answers: { 200: { says: 'An OpenAPI 3.1 document.', schema: anyObject() } },
  run: describeProfile,
};

async function describeProfile(asked: RouteRequest) {
  const { file = '' } = asked.params;
  if (!file.endsWith('.json')) return notFound('Not found. The address is /openapi/PROFILE.json.');
  const chest = await openToList(asked, file.slice(0, -'.json'.length));
  const specs = chest.list();
  return ok({
    openapi: '3.1.0',
    info: {
      title: `Tools of the profile ${chest.profile}`,
      version: packageVersion(),
      description: chest.instructions(),
    },
    security: [{ bearer: [] }, {}],
    paths: Object.fromEntries(
      specs.map((spec) => [`/api/tools/execute/${spec.name}`, { post: toOperation(spec, chest.profile) }]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, a JWT, or the operator token.' },
      },
      schemas: { Failure: FAILURE, Done: CALL_DONE, Waiting: CALL_WAITING },
    },
  });
}

function toOperation(spec: ToolSpec, profile: string): object {
  const { name, title, description, input, output, tags, effects } = spec;
  const done = { $ref: '#/components/schemas/Done' };
  return {
    operationId: name,
    summary: title ?? name,
    description,
    ...(tags.length > 0 && { tags }),
    'x-toolcrib-danger': dangerOf(effects),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              arguments: input,
              profile: { type: 'string', const: profile },
              conversation: { type: 'string', description: 'The conversation the call belongs to.' },
              turn: { type: 'string', description: 'The turn of that conversation.' },
              idempotencyKey: {
                type: 'string',
                description: 'A second call with the same key gets the result of the first.',
              },
            },
            required: ['arguments', 'profile'],
          },
        },
      },
    },
    responses: {
      200: {
        description: 'The tool ran.',
        content: jsonOf(output === undefined ? done : { allOf: [done, { properties: { data: output } }] }),
      },
      202: {
        description: 'The call waits for an approval.',
        content: jsonOf({ $ref: '#/components/schemas/Waiting' }),
      },
      default: {
        description: 'The call was refused or failed.',
        content: jsonOf({ $ref: '#/components/schemas/Failure' }),
      },
    },
  };
}

function jsonOf(schema: object): object {
  return { 'application/json': { schema } };
}
