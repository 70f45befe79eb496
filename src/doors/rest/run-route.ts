import { hash } from 'node:crypto';
import type { JsonSchema } from '../../core/json.ts';
import type { Issue } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { createBytePieces } from '../../system/byte-pieces.ts';
import { parseExact } from '../../system/exact-json.ts';
import { endWhenForbidden } from '../while-allowed.ts';
import { type Answer, refuse, refuseAtDoor, toResponse } from './answers.ts';
import { createWhoAsksApi, type Identify, letIn } from './authenticate.ts';
import type { ConsoleFiles } from './console-files.ts';
import type { EventFeed } from './event-feed.ts';
import { createRecentUse } from './recent-use.ts';
import type { Route, RouteCaller } from './route.ts';
import type { Sessions } from './sessions.ts';
import { object } from './shapes.ts';

/** Options for creating the runner of routes. */
export interface RouteRunnerOptions {
  readonly crib: Crib;
  /** Identifies callers by their Authorization header. */
  readonly identify: Identify;
  readonly feed: EventFeed;
  readonly files: ConsoleFiles;
  readonly sessions: Sessions;
  readonly check: Check;
  readonly maxBodyBytes: number;
  /** Interval of the checks whether the reader of a stream may still read it. */
  readonly recheckMs: number | undefined;
}

/** Answers one request to a route; `params` are the parameters of its path. */
export type AnswerRequest = (request: Request, params: Readonly<Record<string, string>>) => Promise<Response>;

const NOTHING: Read = { value: {} };

/** Runs every route in the same order: identify the caller, validate the request, then run the route. */
export function createRunner(options: RouteRunnerOptions): (route: Route) => AnswerRequest {
  const { crib, feed, files, sessions, check, maxBodyBytes, recheckMs } = options;
  const use = createRecentUse(crib);
  const identifyApi = createWhoAsksApi(crib, options.identify, sessions);
  return (route) => {
    const identify = route.path.startsWith('/api/') ? identifyApi : options.identify;
    const readQuery = route.isPage === true ? () => NOTHING : createQueryReader(route, check);
    const readBodyOf = async (request: Request): Promise<Read> => {
      if (route.body === undefined) return NOTHING;
      const text = await textOf(request, maxBodyBytes);
      if (typeof text !== 'string') return { refusal: text };
      return readBody(text, request.headers.get('content-type'), { schema: route.body, check });
    };
    return async (request, params) => {
      const asker = letIn(await identify(request), route.who);
      if ('status' in asker) return toResponse(asker);
      const query = readQuery(new URL(request.url));
      if ('refusal' in query) return toResponse(query.refusal);
      const body = await readBodyOf(request);
      if ('refusal' in body) return toResponse(body.refusal);
      const values = { query: query.value, body: body.value };
      const asked = { crib, asker, params, ...values, request, feed, files, sessions, use, identify };
      const answer = await route.run(asked);
      if (!(answer instanceof Response)) return withTag(answer, request);
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (!isStream) return answer;
      // The credential may expire or be revoked while the stream is open.
      const isAllowed = async () => isSameCaller(asker, letIn(await identify(request), route.who));
      return endWhenForbidden(answer, isAllowed, recheckMs);
    };
  };
}

/** Sends an answer; to a client that already has it, 304 without a body. */
function withTag(answer: Answer, { method, headers }: Request): Response {
  if (answer.status !== 200 || (method !== 'GET' && method !== 'HEAD')) return toResponse(answer);
  const tag = `"${hash('sha256', JSON.stringify(answer.body)).slice(0, 32)}"`;
  const known = (headers.get('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  const tagged = { ...answer, headers: { ...answer.headers, etag: tag } };
  if (!known.includes(tag) && !known.includes('*')) return toResponse(tagged);
  const { headers: sent } = toResponse({ ...tagged, body: null });
  sent.delete('content-type');
  return new Response(null, { status: 304, headers: sent });
}

/** True if a caller still has the rights with which it opened a stream; it may have gained profiles. */
function isSameCaller(before: RouteCaller, now: RouteCaller | Answer): boolean {
  if ('status' in now || now.operator !== before.operator) return false;
  if (!now.operator && !before.profiles.every((name) => now.profiles.includes(name))) return false;
  const rightsOf = ({ caller: { id, roles, permissions } }: RouteCaller) => JSON.stringify([id, roles, permissions]);
  return rightsOf(now) === rightsOf(before);
}

/** The text of the body, or the refusal. */
async function textOf(request: Request, maxBytes: number): Promise<string | Answer> {
  try {
    const bounded = await withBoundedBody(request, maxBytes);
    if (bounded !== undefined) return await bounded.text();
    const message = `The body is larger than the limit of ${maxBytes} bytes.`;
    return refuseAtDoor('too_large', message);
  } catch {
    // Reading a body fails only if the client is gone.
    return refuse(499, {
      code: 'cancelled',
      message: 'The client closed the connection before the request was complete.',
      retryable: true,
    });
  }
}

/** The request if its body is within the limit, else undefined. A body with a Content-Length is not read for that. */
async function withBoundedBody(request: Request, maxBytes: number): Promise<Request | undefined> {
  if (request.method === 'GET' || request.method === 'HEAD') return request;
  const length = request.headers.get('content-length');
  if (length !== null && !request.headers.has('transfer-encoding'))
    return Number(length) > maxBytes ? undefined : request;
  if (request.body === null) return request;
  const bytes = await readUpTo(request.body, maxBytes);
  if (bytes === undefined) return undefined;
  const { method, headers, signal } = request;
  return new Request(request.url, { method, headers, signal, body: bytes });
}

async function readUpTo(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces = createBytePieces();
  for await (const chunk of body) {
    pieces.add(chunk);
    if (pieces.length() > maxBytes) return undefined; // leaving the loop cancels the rest
  }
  return pieces.take();
}

/** Validates a value and returns its issues; empty if it is valid. */
type Check = (schema: JsonSchema, value: unknown) => readonly Issue[];

type Members = Readonly<Record<string, unknown>>;

/** The values of a request, or the refusal. */
type Read = { readonly value: Members } | { readonly refusal: Answer };

/** Reads and validates query parameters. */
function createQueryReader({ query: members = {}, ignoresOtherQuery }: Route, check: Check): (url: URL) => Read {
  const schema = object(members);
  const types = new Map(Object.entries(members).map(([key, { type }]) => [key.replace(/\?$/, ''), type]));
  return ({ searchParams }) => {
    const keys = [...new Set(searchParams.keys())].filter((key) => ignoresOtherQuery !== true || types.has(key));
    const given = keys.map((key) => [key, meaningOf(searchParams.getAll(key), types.get(key))] as const);
    const value: Members = Object.fromEntries(given);
    const issues = check(schema, value);
    return issues.length === 0 ? { value } : { refusal: invalid('The query parameters are not valid.', issues) };
  };
}

/** Converts the texts of a parameter to its type. Text that cannot be converted stays, and the schema rejects it. */
function meaningOf(texts: readonly string[], type: unknown): unknown {
  if (type === 'array') return texts;
  const [text = ''] = texts;
  if (texts.length > 1) return texts;
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

/** Reads and validates a body; an absent body is an empty object. */
function readBody(text: string, type: string | null, { schema, check }: BodyRules): Read {
  if (text.trim() === '') return checked({}, { schema, check });
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type ?? ''))
    return { refusal: invalid('The body must be JSON: send "Content-Type: application/json".') };
  try {
    const { value, inexact } = parseExact(text, ['arguments']); // those the crib refuses and records
    return inexact.length > 0 ? { refusal: invalid(NOT_VALID, inexact) } : checked(value, { schema, check });
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return { refusal: invalid('The body is not JSON.') }; // not the message of the parser, which repeats the input
  }
}

const NOT_VALID = 'The body is not valid.';

interface BodyRules {
  readonly schema: JsonSchema;
  readonly check: Check;
}

function checked(value: unknown, { schema, check }: BodyRules): Read {
  const issues = check(schema, value);
  if (issues.length > 0) return { refusal: invalid(NOT_VALID, issues) };
  return { value: value as Members }; // an object, as every schema of a body demands
}

function invalid(message: string, issues?: readonly Issue[]): Answer {
  return refuse(400, { code: 'invalid_input', message, retryable: false, ...(issues !== undefined && { issues }) });
}
