import type { Implementation, ListToolsRequest, ListToolsResult, Server } from '@modelcontextprotocol/server';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { callTool } from './answer-tool-call.ts';
import { type Gateway, invalidParams, type RequestContext, toAskedCall } from './context.ts';
import type { ToolListing } from './listings.ts';
import type { Era } from './output-schema.ts';

/** How a request is served. */
export interface Serving {
  readonly era: Era;
  /** True if changes of the list can be told. */
  readonly isToldOfChanges: boolean;
}

/** A server for one request or one connection: the tools of one caller under one profile. */
export function createToolServer(gateway: Gateway, context: RequestContext, { era, isToldOfChanges }: Serving): Server {
  const { sdk, spacing } = gateway;
  const cacheHint = { ttlMs: 0, cacheScope: context.isPublic ? 'public' : 'private' } as const; // tools may change at any time
  const server = new sdk.Server(selfOf(gateway), {
    capabilities: { tools: isToldOfChanges ? { listChanged: true } : {} },
    cacheHints: { 'tools/list': cacheHint, 'server/discover': cacheHint },
    jsonSchemaValidator: NO_VALIDATOR,
    ...(context.instructions !== undefined && context.instructions !== '' && { instructions: context.instructions }),
  });
  server.setRequestHandler('tools/list', (request) =>
    guarded(gateway, () => listTools(gateway, context, { request, era })),
  );
  server.setRequestHandler(
    'tools/call',
    (request, received) =>
      context.outcome ??
      guarded(gateway, () => callTool(gateway, context, toAskedCall(request, received, { era, server, spacing }))),
  );
  return server;
}

/** Who we are to clients. */
export function selfOf({ version }: Pick<Gateway, 'version'>): Implementation {
  return { name: 'toolcrib', title: 'Toolcrib', version };
}

/** What we ask a client is checked by us; without this the package would make a checker for every request. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'not checked here' }),
};

/** The listing that a caller gets at this moment. */
export async function listingFor(
  { crib, listings }: Gateway,
  { profile, caller }: Pick<RequestContext, 'profile' | 'caller'>,
): Promise<ToolListing> {
  const chest = await crib.server.openAtDoor(profile, caller);
  return listings(chest.list(), { mayBeKept: crib.get('read_result') !== undefined });
}

/** How long a client that asks shortly after the start waits for the lists of sources; what comes later is announced. */
const FIRST_LIST_MS = 5000;

async function listTools(
  gateway: Gateway,
  context: RequestContext,
  { request, era }: { readonly request: ListToolsRequest; readonly era: Era },
): Promise<ListToolsResult> {
  await gateway.crib.server.listed(FIRST_LIST_MS);
  const page = (await listingFor(gateway, context)).page(era, request.params?.cursor);
  if (page === undefined) throw invalidParams(gateway, 'The cursor is not one of this list; ask again without it.');
  const { nextCursor } = page;
  context.takeTools?.(page.text());
  const tools = context.takeTools === undefined ? page.tools() : [];
  return { tools: [...tools] as ListToolsResult['tools'], ...(nextCursor !== undefined && { nextCursor }) }; // schemas are any JSON
}

/** What goes wrong in here is for the owner to know; a client is told that it did. */
export async function guarded<Result>({ sdk, warn }: Gateway, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof sdk.ProtocolError) throw cause;
    warn(`A request of an MCP client failed: ${messageOf(cause)}`);
    const isStore = cause instanceof ToolcribError && cause.code === 'store_unavailable';
    const message = isStore
      ? 'The store does not answer; try again later.'
      : 'Something went wrong inside; it is in the log.';
    throw new sdk.ProtocolError(sdk.INTERNAL_ERROR, message, undefined);
  }
}
