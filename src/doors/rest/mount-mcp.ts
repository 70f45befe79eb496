import type { Hono } from 'hono';
import type { Identity } from '../../core/ports/identity.ts';
import type { Identify } from './authenticate.ts';
import { type SendWhole, toWebResponse, type WholeAnswer } from './buffered-response.ts';

/** What answers MCP: it refuses in its own words, bounds what it reads, and no profile means the default one. */
export interface McpDoor {
  fetch(request: Request, identity: Identity, profile?: string): Promise<Response | WholeAnswer>;
  /** Ends streams that would not end by themselves. */
  endNews?(): void;
}

/** What the server lends to one request. */
export interface Lent {
  readonly send?: SendWhole | undefined;
}

/** Hands requests under /mcp on, once it is known who asks. */
export function mountMcp(app: Hono<{ Bindings: Lent }>, door: McpDoor, identify: Identify): void {
  const answer = async (request: Request, { send = toWebResponse }: Lent, profile?: string): Promise<Response> => {
    const answered = await door.fetch(request, await identify(request), profile);
    return answered instanceof Response ? answered : send(answered);
  };
  app.all('/mcp', ({ req, env }) => answer(req.raw, env));
  app.all('/mcp/:profile', ({ req, env }) => answer(req.raw, env, req.param('profile')));
}
