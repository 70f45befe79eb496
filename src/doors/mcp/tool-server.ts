import type { Implementation, ListToolsRequest, ListToolsResult, Server } from '@modelcontextprotocol/server';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { toAskedCall } from './asked-call.ts';
import { callTool } from './call-tool.ts';
import { type Desk, invalidParams, type Visit } from './context.ts';
import type { Listing } from './listings.ts';
import type { Era } from './output-schema.ts';

/** How a visit is served. */
export interface Serving {
  readonly era: Era;
  /** True if changes of the list can be told. */
  readonly isToldOfChanges: boolean;
}

/** A server for one request or one connection: the tools of one caller under one profile. */
export function createToolServer(desk: Desk, visit: Visit, { era, isToldOfChanges }: Serving): Server {
  const { sdk } = desk;
  const cacheHint = { ttlMs: 0, cacheScope: visit.isPublic ? 'public' : 'private' } as const; // tools may change at any time
  const server = new sdk.Server(selfOf(desk), {
    capabilities: { tools: isToldOfChanges ? { listChanged: true } : {} },
    cacheHints: { 'tools/list': cacheHint, 'server/discover': cacheHint },
    jsonSchemaValidator: NO_VALIDATOR,
    ...(visit.instructions !== undefined && visit.instructions !== '' && { instructions: visit.instructions }),
  });
  server.setRequestHandler('tools/list', (request) => guarded(desk, () => listTools(desk, visit, { request, era })));
  server.setRequestHandler(
    'tools/call',
    (request, context) =>
      visit.outcome ?? guarded(desk, () => callTool(desk, visit, toAskedCall(request, context, { era, server }))),
  );
  return server;
}

/** Who we are to clients. */
export function selfOf({ version }: Pick<Desk, 'version'>): Implementation {
  return { name: 'toolcrib', title: 'Toolcrib', version };
}

/** What we ask a client is checked by us; without this the package would make a checker for every request. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'not checked here' }),
};

/** The listing that a caller gets at this moment. */
export async function listingFor(
  { crib, listings }: Desk,
  { profile, caller }: Pick<Visit, 'profile' | 'caller'>,
): Promise<Listing> {
  const chest = await crib.openAtDoor(profile, caller);
  return listings(chest.list(), { mayBeKept: crib.get('read_result') !== undefined });
}

/** How long a client that asks shortly after the start waits for the lists of sources; what comes later is announced. */
const FIRST_LIST_MS = 5000;

async function listTools(
  desk: Desk,
  visit: Visit,
  { request, era }: { readonly request: ListToolsRequest; readonly era: Era },
): Promise<ListToolsResult> {
  await desk.crib.listed(FIRST_LIST_MS);
  const page = (await listingFor(desk, visit)).page(era, request.params?.cursor);
  if (page === undefined) throw invalidParams(desk, 'The cursor is not one of this list; ask again without it.');
  const { nextCursor } = page;
  visit.takeTools?.(page.text());
  const tools = visit.takeTools === undefined ? page.tools() : [];
  return { tools: [...tools] as ListToolsResult['tools'], ...(nextCursor !== undefined && { nextCursor }) }; // schemas are any JSON
}

/** What goes wrong in here is for the owner to know; a client is told that it did. */
export async function guarded<Result>({ sdk, warn }: Desk, work: () => Promise<Result>): Promise<Result> {
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
