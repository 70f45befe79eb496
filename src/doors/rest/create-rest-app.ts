import { Hono } from 'hono';
import type { Identity } from '../../core/caller.ts';
import { messageOf } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { createShapeCheck } from '../../crib/crib-server.ts';
import {
  type Answer,
  INTERNAL,
  notFound,
  refusalOf,
  refuse,
  type SendWhole,
  toResponse,
  toWebResponse,
  type WholeAnswer,
} from './answers.ts';
import { createPageSessions, createWhoAsks, type Identify } from './authenticate.ts';
import { createEventFeed, type EventFeedOptions } from './event-feed.ts';
import { createHostCheck, type HostRules, isLoopbackHost } from './host-check.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';
import { createRunner } from './run-route.ts';

/** How the HTTP side of a crib is set up. */
export interface RestOptions {
  /** Where it listens, which decides by which names it may be reached; 127.0.0.1 if absent. */
  readonly host?: string;
  /** Names besides by which it may be reached. */
  readonly hosts?: readonly string[];
  /** Takes whoever can reach it for somebody at this machine, wherever it listens. */
  readonly isInsecure?: boolean;
  /** The largest body; 4 MB if absent. */
  readonly maxBodyBytes?: number;
  readonly events?: EventFeedOptions;
  /** What answers under /mcp. */
  readonly mcp?: McpDoor;
}

/** The HTTP side of a crib. */
export interface RestApp {
  /** `lent` is what the server that listens lends to the request. */
  fetch(request: Request, lent?: Lent): Promise<Response>;
  /** Ends streams that would not end by themselves. */
  close(): void;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** REST, events, health and pages of a crib. It listens nowhere: that is for `startServer`, or for tests to do without. */
export function createRestApp(crib: Crib, options: RestOptions = {}): RestApp {
  const { host = '127.0.0.1', hosts = [], isInsecure = false, maxBodyBytes = MAX_BODY_BYTES } = options;
  const rules: HostRules = { host, hosts };
  const whyForbidden = createHostCheck(rules);
  // Where others than this machine can come in, who has no credential is nobody, whatever `access` says by now.
  const identify = createWhoAsks(crib, () => isInsecure || isLoopbackHost(host));
  const feed = createEventFeed(crib, options.events);
  const run = createRunner({
    crib,
    identify,
    feed,
    sessions: createPageSessions(),
    check: createShapeCheck(),
    maxBodyBytes,
  });

  const app = new Hono<{ Bindings: Lent }>();
  app.use(async (context, next) => {
    const refusal = whyForbidden(context.req.raw);
    return refusal === undefined ? next() : toResponse(refusal);
  });
  for (const route of ROUTES) {
    const answer = run(route);
    app.on(route.method, pathOf(route), (context) => answer(context.req.raw, context.req.param()));
  }
  if (options.mcp !== undefined) mountMcp(app, options.mcp, identify);
  for (const [path, routes] of Map.groupBy(ROUTES, pathOf)) app.all(path, ({ req }) => otherMethod(req.method, routes));
  app.notFound(() => toResponse(notFound('There is nothing here; GET /openapi.json tells what there is.')));
  app.onError((cause, { req }) => toResponse(failureOf(cause, `${req.method} ${req.path}`, crib)));
  return { fetch: async (request, lent = {}) => app.fetch(request, lent), close: feed.close };
}

/** `{name}` is how OpenAPI says it, `:name` how Hono does. */
function pathOf({ path }: Route): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function otherMethod(method: string, routes: readonly Route[]): Response {
  const known = new Set(routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])));
  const allow = { allow: [...known, 'OPTIONS'].join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: allow });
  const message = `${method} is not possible here.`;
  return toResponse({ ...refuse(405, { code: 'method_not_allowed', message, retryable: false }), headers: allow });
}

/** What went wrong is for the log; who asked learns only that it did. */
function failureOf(cause: unknown, what: string, crib: Crib): Answer {
  const refusal = refusalOf(cause);
  if (refusal !== undefined) return refusal;
  crib.server.warn(`${what} failed: ${messageOf(cause)}`);
  return INTERNAL;
}

/** What answers MCP: it refuses in its own words, bounds what it reads, and no profile means the default one. */
interface McpDoor {
  fetch(request: Request, identity: Identity, profile?: string): Promise<Response | WholeAnswer>;
  /** Ends streams that would not end by themselves. */
  endNews?(): void;
}

/** What the server lends to one request. */
interface Lent {
  readonly send?: SendWhole | undefined;
}

/** Hands requests under /mcp on, once it is known who asks. */
function mountMcp(app: Hono<{ Bindings: Lent }>, door: McpDoor, identify: Identify): void {
  const answer = async (request: Request, { send = toWebResponse }: Lent, profile?: string): Promise<Response> => {
    const answered = await door.fetch(request, await identify(request), profile);
    return answered instanceof Response ? answered : send(answered);
  };
  app.all('/mcp', ({ req, env }) => answer(req.raw, env));
  app.all('/mcp/:profile', ({ req, env }) => answer(req.raw, env, req.param('profile')));
}
