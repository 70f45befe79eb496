import type { Implementation, ListToolsRequest, ListToolsResult, Server } from '@modelcontextprotocol/server';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { callTool } from './answer-tool-call.ts';
import { type Gateway, invalidParams, type RequestContext, toAskedCall } from './context.ts';
import type { ToolListing } from './listings.ts';
import type { Era } from './output-schema.ts';

/** Options of a server for one request or connection. */
export interface Serving {
  readonly era: Era;
  /** True if the client can be notified of list changes. */
  readonly isToldOfChanges: boolean;
}

/** Creates an SDK server for one request or one connection, with the tools of one caller and profile. */
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

/** The server info sent to clients. */
export function selfOf({ version }: Pick<Gateway, 'version'>): Implementation {
  return { name: 'toolcrib', title: 'Toolcrib', version };
}

/** Disables the validator of the MCP SDK, which it would create for every request. The crib checks answers of clients itself. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'validation is disabled' }),
};

/** The current listing of a caller. */
export async function listingFor(
  { crib, listings }: Gateway,
  { profile, caller }: Pick<RequestContext, 'profile' | 'caller'>,
): Promise<ToolListing> {
  const chest = await crib.server.openAtDoor(profile, caller);
  return listings(chest.list(), { mayBeKept: crib.get('read_result') !== undefined });
}

/** Maximum wait of `tools/list` for starting sources. Tools that arrive later are announced as a list change. */
const FIRST_LIST_MS = 5000;

async function listTools(
  gateway: Gateway,
  context: RequestContext,
  { request, era }: { readonly request: ListToolsRequest; readonly era: Era },
): Promise<ListToolsResult> {
  await gateway.crib.server.listed(FIRST_LIST_MS);
  const page = (await listingFor(gateway, context)).page(era, request.params?.cursor);
  if (page === undefined)
    throw invalidParams(gateway, 'The cursor is not valid. Request the list again without a cursor.');
  const { nextCursor } = page;
  context.takeTools?.(page.text());
  const tools = context.takeTools === undefined ? page.tools() : [];
  return { tools: [...tools] as ListToolsResult['tools'], ...(nextCursor !== undefined && { nextCursor }) }; // the SDK type of schemas is narrower
}

/** Logs unexpected errors for the operator; the client gets a general message. */
export async function guarded<Result>({ sdk, warn }: Gateway, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof sdk.ProtocolError) throw cause;
    warn(`A request of an MCP client failed: ${messageOf(cause)}`);
    const isStore = cause instanceof ToolcribError && cause.code === 'store_unavailable';
    const message = isStore
      ? 'The store is not available at the moment. Try again later.'
      : 'Internal error. The log of the server has the details.';
    throw new sdk.ProtocolError(sdk.INTERNAL_ERROR, message, undefined);
  }
}
