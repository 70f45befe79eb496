import { Hono, type MiddlewareHandler } from 'hono';
import type { Identity } from '../../core/caller.ts';
import { messageOf } from '../../core/tool-error.ts';
import { listOf } from '../../core/visible-text.ts';
import type { Crib } from '../../crib/crib.ts';
import { createShapeCheck } from '../../crib/crib-server.ts';
import type { HttpRequest } from '../node-request.ts';
import {
  type Answer,
  INTERNAL,
  notFound,
  refusalOf,
  refuseAtDoor,
  type SendWhole,
  toResponse,
  toWebResponse,
  type WholeAnswer,
} from './answers.ts';
import { createWhoAsks, type IdentifyByHeaders } from './authenticate.ts';
import { createConsoleFiles } from './console-files.ts';
import { createEventFeed, type EventFeedOptions } from './event-feed.ts';
import { createHostCheck, type HostRules, isLoopbackHost } from './host-check.ts';
import type { AnswerMcp } from './http-listener.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';
import { createRunner } from './run-route.ts';
import { createSessions, type SessionOptions } from './sessions.ts';

/** Options for creating the HTTP app of a crib. */
export interface RestOptions {
  /** The address of the server, which decides the accepted host names. Default: 127.0.0.1. */
  readonly host?: string;
  /** Further accepted host names. */
  readonly hosts?: readonly string[];
  /** Treats every caller without a credential as local, wherever the server listens. */
  readonly isInsecure?: boolean;
  /** Maximum size of a request body. Default: 4 MB. */
  readonly maxBodyBytes?: number;
  readonly events?: EventFeedOptions;
  /** The folder of the built console. Default: dist/ui of this package. */
  readonly consoleFolder?: string;
  readonly sessions?: SessionOptions;
  /** The MCP door, mounted at /mcp. */
  readonly mcp?: McpDoor;
}

/** The HTTP app of a crib. */
export interface RestApp {
  /** Answers a request. `lent` are functions of the HTTP server for this request. */
  fetch(request: Request, lent?: Lent): Promise<Response>;
  /** Answers a POST to the MCP door, which `fetch` would answer alike; absent without the door. */
  readonly fetchMcp?: AnswerMcp;
  /** Ends streams that would not end by themselves. */
  close(): void;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Creates the app with REST, events, health and pages. It does not listen: `startServer` does. */
export function createRestApp(crib: Crib, options: RestOptions = {}): RestApp {
  const { host = '127.0.0.1', hosts = [], isInsecure = false, maxBodyBytes = MAX_BODY_BYTES } = options;
  const origins = () => listOf(crib.server.serverSettings().cors);
  const rules: HostRules = { host, hosts, origins };
  const whyForbidden = createHostCheck(rules);
  // If other machines can connect, a caller without a credential is never local, even if `access` has changed since.
  const identify = createWhoAsks(crib, () => isInsecure || isLoopbackHost(host));
  const feed = createEventFeed(crib, options.events);
  const run = createRunner({
    crib,
    identify,
    feed,
    files: createConsoleFiles(options.consoleFolder),
    sessions: createSessions({ publicUrl: () => crib.server.serverSettings().publicUrl, ...options.sessions }),
    check: createShapeCheck(),
    maxBodyBytes,
    recheckMs: options.events?.recheckMs,
  });

  const app = new Hono<{ Bindings: Lent }>();
  app.use(async (context, next) => {
    const refusal = whyForbidden(context.req.raw);
    return refusal === undefined ? next() : toResponse(refusal);
  });
  app.use('/api/*', allowOrigins(origins));
  app.use('/openapi/*', allowOrigins(origins));
  for (const route of ROUTES) {
    const answer = run(route);
    app.on(route.method, pathOf(route), (context) => answer(context.req.raw, context.req.param()));
  }
  const answerMcp = options.mcp === undefined ? undefined : answerBy(options.mcp, identify);
  if (answerMcp !== undefined) mountMcp(app, answerMcp);
  for (const [path, routes] of Map.groupBy(ROUTES, pathOf)) app.all(path, ({ req }) => otherMethod(req.method, routes));
  app.notFound(() => toResponse(notFound('Not found. GET /openapi.json lists the routes.')));
  app.onError((cause, { req }) => toResponse(failureOf(cause, `${req.method} ${req.path}`, crib)));
  const fetchMcp = (answer: AnswerRequest): AnswerMcp => {
    return async (request, profile) => {
      try {
        const refusal = whyForbidden(request);
        return refusal === undefined ? await answer(request, profile) : toResponse(refusal);
      } catch (cause) {
        return toResponse(failureOf(cause, 'POST /mcp', crib));
      }
    };
  };
  return {
    fetch: async (request, lent = {}) => app.fetch(request, lent),
    ...(answerMcp !== undefined && { fetchMcp: fetchMcp(answerMcp) }),
    close: feed.close,
  };
}

/** Lets pages of allowed origins read answers. They send a credential themselves: cookies are never allowed. */
function allowOrigins(origins: () => readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const { req } = context;
    const origin = req.header('origin');
    const isAllowed = origin !== undefined && origins().includes(origin);
    if (isAllowed && req.method === 'OPTIONS' && req.header('access-control-request-method') !== undefined)
      return new Response(null, { status: 204, headers: { ...PREFLIGHT, 'access-control-allow-origin': origin } });
    await next();
    if (!isAllowed) return undefined;
    context.header('access-control-allow-origin', origin);
    context.header('access-control-expose-headers', 'etag, location, retry-after');
    context.header('vary', 'Origin');
    return undefined;
  };
}

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type, if-none-match, last-event-id, traceparent',
  'access-control-max-age': '600',
  vary: 'Origin',
};

/** Converts `{name}` of OpenAPI to `:name` of Hono. */
function pathOf({ path }: Route): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function otherMethod(method: string, routes: readonly Route[]): Response {
  const known = new Set(routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])));
  const allow = { allow: [...known, 'OPTIONS'].join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: allow });
  const message = `Method ${method} is not allowed for this route.`;
  return toResponse({ ...refuseAtDoor('method_not_allowed', message), headers: allow });
}

/** The details of an unexpected error go to the log; the caller gets a general message. */
function failureOf(cause: unknown, what: string, crib: Crib): Answer {
  const refusal = refusalOf(cause);
  if (refusal !== undefined) return refusal;
  crib.server.warn(`${what} failed: ${messageOf(cause)}`);
  return INTERNAL;
}

/** The place of a request at the MCP door. */
interface McpPlace {
  readonly profile: string | undefined;
  /** Identifies the caller again, for streams that stay open. */
  identifyAgain(): Promise<Identity>;
}

/** The MCP door. It writes its own refusals and limits request bodies. Without a profile it uses the default one. */
interface McpDoor {
  fetch(request: HttpRequest, identity: Identity, at: McpPlace): Promise<Response | WholeAnswer>;
  /** Ends streams that would not end by themselves. */
  endNews?(): void;
}

/** Functions of the HTTP server for one request. */
interface Lent {
  readonly send?: SendWhole | undefined;
}

/** Answers a request under /mcp. */
type AnswerRequest = (request: HttpRequest, profile?: string) => Promise<Response | WholeAnswer>;

/** Passes requests to the MCP door, with the identity of the caller. */
function answerBy(door: McpDoor, identify: IdentifyByHeaders): AnswerRequest {
  return async (request, profile) =>
    door.fetch(request, await identify(request), { profile, identifyAgain: () => identify(request) });
}

function mountMcp(app: Hono<{ Bindings: Lent }>, answerMcp: AnswerRequest): void {
  const answer = async (request: Request, { send = toWebResponse }: Lent, profile?: string): Promise<Response> => {
    const answered = await answerMcp(request, profile);
    return answered instanceof Response ? answered : send(answered);
  };
  app.all('/mcp', ({ req, env }) => answer(req.raw, env));
  app.all('/mcp/:profile', ({ req, env }) => answer(req.raw, env, req.param('profile')));
}
