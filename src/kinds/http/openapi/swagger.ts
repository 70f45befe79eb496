import { isRecord } from '../../../core/json.ts';
import { describe } from '../../../core/read-options.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Description, Fields } from './load-description.ts';
import { createWork, followPointer, type Work } from './local-refs.ts';
import { createShareCost, entriesOf, isSuccess, MAX_OPERATIONS, METHODS, shortPath } from './operations.ts';
import { readSwaggerParameters } from './swagger-parameters.ts';

/** A Swagger 2.0 description, converted to OpenAPI 3.0. */
interface ConvertedSwagger {
  readonly root: Fields;
  /** Parts that could not be converted, as sentences. */
  readonly problems: readonly string[];
}

/** State for converting a description. */
interface SwaggerReading {
  readonly root: Fields;
  readonly work: Work;
  /** Resolves an object through its `$ref`s. An unresolved reference stays as it is, and is reported where it is used. */
  follow(given: unknown): unknown;
  readonly problems: string[];
}

/** True for `swagger: "2.0"`, also without the quotes in YAML. */
export function isSwagger2({ swagger }: Fields): boolean {
  return swagger === '2.0' || swagger === 2;
}

/** Converts a description to OpenAPI 3.0. Schemas stay as they are: their references point into the original document. */
export function convertSwagger(root: Fields): ConvertedSwagger {
  const problems: string[] = [];
  const work = createWork();
  const reading: SwaggerReading = { root, follow: createFollow({ root, work }, work), work, problems };
  const { paths, info, tags, security } = root;
  return {
    root: {
      openapi: '3.0.3',
      info,
      tags,
      servers: serversOf(root, root.schemes),
      paths: isRecord(paths) ? convertPaths(paths, reading) : paths,
      components: { schemas: root.definitions, securitySchemes: toSecuritySchemes(root.securityDefinitions) },
      ...(security !== undefined && { security }),
    },
    problems,
  };
}

/** Most references in a chain. */
const MAX_HOPS = 50;

function createFollow(description: Description, work: Work): (given: unknown) => unknown {
  const known = new Map<string, unknown>();
  const last = (ref: string): unknown => {
    let value: unknown = { $ref: ref };
    for (let hops = 0; hops < MAX_HOPS && isRecord(value) && typeof value.$ref === 'string'; hops++) {
      const pointed = followPointer(description, value.$ref);
      if (!pointed.ok) return value;
      ({ value } = pointed);
    }
    return value;
  };
  return (given) => {
    work.spend(4);
    if (!isRecord(given) || typeof given.$ref !== 'string') return given;
    if (!known.has(given.$ref)) known.set(given.$ref, last(given.$ref));
    return known.get(given.$ref);
  };
}

const MAX_SCHEMES = 20;
const HOST = /^[^\s/?#@\\{}$]+$/;

/** The server URL. A missing scheme or host is taken from the URL of the description. */
function serversOf({ host, basePath }: Fields, schemes: unknown): readonly Fields[] {
  const path = typeof basePath === 'string' ? `/${basePath.replace(/^\/+/, '')}` : '/';
  if (host === undefined || host === '') return [{ url: path }];
  if (typeof host !== 'string' || !HOST.test(host))
    throw new ToolcribError('invalid_description', `its host ${describe(host)} is not a valid host name`);
  const offered = Array.isArray(schemes) ? schemes.slice(0, MAX_SCHEMES).filter((one) => typeof one === 'string') : [];
  const scheme = ['https', 'http'].find((one) => offered.includes(one)) ?? offered[0];
  return [{ url: `${scheme === undefined ? '' : `${scheme}:`}//${host}${path}` }];
}

function convertPaths(paths: Fields, reading: SwaggerReading): Fields {
  let count = 0;
  const spendOn = createShareCost(reading.work);
  const converted = entriesOf(paths).map(([path, written]) => {
    const item = path.startsWith('x-') ? undefined : reading.follow(written);
    if (!isRecord(item) || item.$ref !== undefined) return [path, written];
    if (item !== written) spendOn(item);
    const methods = METHODS.filter((method) => item[method] !== undefined);
    count += methods.length;
    if (count > MAX_OPERATIONS)
      throw new ToolcribError('invalid_description', `it has more than ${MAX_OPERATIONS} operations`);
    const operations = methods.flatMap((method) => {
      const fields = convertOperation(item[method], item.parameters, reading);
      if (typeof fields !== 'string') return [[method, fields]];
      reading.problems.push(`${method.toUpperCase()} ${shortPath(path)} is left out: ${fields}.`);
      return [];
    });
    return [path, Object.fromEntries(operations)];
  });
  return Object.fromEntries(converted);
}

/** Fields that are the same in both versions. */
const SAME = ['operationId', 'summary', 'description', 'tags', 'deprecated', 'security'] as const;

/** Returns the operation, or the reason it cannot be called. */
function convertOperation(written: unknown, shared: unknown, reading: SwaggerReading): Fields | string {
  if (!isRecord(written)) return 'it is not an object';
  const { root, follow } = reading;
  const consumes = mediaTypes(written.consumes ?? root.consumes);
  const read = readSwaggerParameters([shared, written.parameters], { follow, consumes });
  if (typeof read === 'string') return read;
  return {
    ...Object.fromEntries(SAME.filter((key) => written[key] !== undefined).map((key) => [key, written[key]])),
    ...(written.schemes !== undefined && { servers: serversOf(root, written.schemes) }),
    ...read,
    responses: convertResponses(written, reading),
  };
}

const MAX_MEDIA_TYPES = 20;

function mediaTypes(given: unknown): readonly string[] {
  const first = Array.isArray(given) ? given.slice(0, MAX_MEDIA_TYPES) : [];
  return first.filter((type) => typeof type === 'string' && type.includes('/'));
}

function convertResponses({ responses, produces }: Fields, { root, follow, work }: SwaggerReading): unknown {
  if (!isRecord(responses)) return responses;
  const said = mediaTypes(produces ?? root.produces);
  const types = said.length > 0 ? said : ['application/json'];
  const converted = Object.entries(responses).map(([status, written]) => {
    const response = isSuccess(status) ? follow(written) : undefined; // no other is read
    if (!isRecord(response) || !isRecord(response.schema)) return [status, { description: '' }];
    const { schema, description = '' } = response;
    const isFile = schema.type === 'file';
    work.spend(types.length);
    const offered = isFile && said.length === 0 ? ['application/octet-stream'] : types;
    const shown = isFile ? { type: 'string', format: 'binary' } : schema;
    return [status, { description, content: Object.fromEntries(offered.map((type) => [type, { schema: shown }])) }];
  });
  return Object.fromEntries(converted);
}

const FLOWS: Readonly<Record<string, string>> = {
  implicit: 'implicit',
  password: 'password',
  application: 'clientCredentials',
  accessCode: 'authorizationCode',
};

function toSecuritySchemes(definitions: unknown): Fields {
  if (!isRecord(definitions)) return {};
  return Object.fromEntries(Object.entries(definitions).map(([name, written]) => [name, toScheme(written)]));
}

function toScheme(written: unknown): unknown {
  if (!isRecord(written)) return written;
  const { type, description, in: place, name, flow, authorizationUrl, tokenUrl, scopes } = written;
  if (type === 'basic') return { type: 'http', scheme: 'basic', description };
  if (type !== 'oauth2') return { type, description, in: place, name };
  const known = typeof flow === 'string' && Object.hasOwn(FLOWS, flow) ? FLOWS[flow] : undefined;
  return {
    type,
    description,
    flows: known === undefined ? {} : { [known]: { authorizationUrl, tokenUrl, scopes: scopes ?? {} } },
  };
}
