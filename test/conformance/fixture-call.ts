import type { Server, ServerContext } from '@modelcontextprotocol/server';

/** A tool under the name by which the suite calls it. */
export interface FixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: object;
  run(call: FixtureCall): unknown;
}

export interface FixtureCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: ServerContext;
  readonly server: Server;
  /** Adds a tool to the list or takes it away again, and says so. */
  changeTools(): void;
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** One pixel. */
export const IMAGE = { type: 'image', data: PIXEL, mimeType: 'image/png' } as const;

/** A result of one text. */
export const say = (text: string) => ({ content: [{ type: 'text', text }] });

/** What a client says it can do. */
export function capabilitiesOf({ context, server }: FixtureCall): Readonly<Record<string, unknown>> {
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined; // its type leaves out the names of its keys
  const declared = envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? server.getClientCapabilities();
  return { ...(declared as object | undefined) };
}
