import type { Hono } from 'hono';
import type { Identity } from '../../crib/crib.ts';
import type { Identify } from './who-asks.ts';

/** What answers MCP: it refuses in its own words, bounds what it reads, and no profile means the default one. */
export interface McpDoor {
  fetch(request: Request, identity: Identity, profile?: string): Promise<Response>;
}

/** Hands requests under /mcp on, once it is known who asks. */
export function mountMcp(app: Hono, door: McpDoor, identify: Identify): void {
  app.all('/mcp', async ({ req }) => door.fetch(req.raw, await identify(req.raw)));
  app.all('/mcp/:profile', async ({ req }) => door.fetch(req.raw, await identify(req.raw), req.param('profile')));
}
