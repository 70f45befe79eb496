import { AsyncLocalStorage } from 'node:async_hooks';
import type { Identity } from '../../core/caller.ts';
import { messageOf, ToolcribError, type ToolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import type { HttpRequest } from '../node-request.ts';
import { answerRequest, errorResponse, type McpAnswer, type OpenDoor } from './answer-request.ts';
import { createCancellations, type Gateway, type RequestContext } from './context.ts';
import { createEnvelopeCheck } from './envelope-check.ts';
import { createHeldCalls } from './held-calls.ts';
import { createEventBus, createListChanges, createListings } from './listings.ts';
import { createToolServer, listingFor } from './tool-server.ts';

/** MCP over HTTP: all revisions at one URL per profile. */
export interface McpDoor {
  /** Answers one request to `/mcp` or `/mcp/{profile}`. Refusals are JSON-RPC errors. Never rejects. */
  fetch(request: HttpRequest, identity: Identity, at?: McpPlace): Promise<McpAnswer>;
  /** Ends subscription streams; running requests continue. */
  endNews(): void;
  /** Ends subscription streams and running requests. */
  close(): Promise<void>;
}

/** The profile of a request, and a check for streams that stay open. */
interface McpPlace {
  readonly profile?: string | undefined;
  /** Identifies the caller again. Without it, a stream stays open until the client or the server ends it. */
  identifyAgain?(): Promise<Identity>;
}

export interface McpDoorOptions {
  /** The server version sent to clients. */
  readonly version: string;
  /** Receives warnings for the operator. */
  warn?(message: string): void;
}

/** Creates the MCP door of a crib. The first request loads the MCP SDK. */
export function createMcpDoor(crib: Crib, options: McpDoorOptions): McpDoor {
  const { warn = (message) => process.emitWarning(message, 'ToolcribWarning') } = options;
  let opening: Promise<OpenDoor> | undefined;
  let isClosed = false;
  const news = new AbortController();
  const opened = (): Promise<OpenDoor> => {
    opening ??= open(crib, { ...options, warn, news: news.signal });
    return opening;
  };
  return {
    async fetch(request, identity, { profile, identifyAgain } = {}) {
      if (isClosed) return errorResponse(503, -32_000, 'The server is shutting down.');
      if (!identity.ok) return refuseIdentity(identity.error);
      try {
        return await answerRequest(await opened(), request, { caller: identity.caller, profile, identifyAgain });
      } catch (cause) {
        if (isForOthers(cause)) return errorResponse(404, -32_000, wayOf(identity, profile));
        warn(`A request to /mcp failed: ${messageOf(cause)}`);
        return errorResponse(500, -32_603, 'Internal error. The log of the server has the details.');
      }
    },
    endNews: () => news.abort(),
    async close() {
      isClosed = true;
      news.abort();
      const { handler, changes, cancellations } = (await opening?.catch(() => undefined)) ?? {};
      changes?.close();
      cancellations?.close();
      await handler?.close();
    },
  };
}

type Recognised = Extract<Identity, { readonly ok: true }>;

interface Opening extends Required<McpDoorOptions> {
  readonly news: AbortSignal;
}

async function open(crib: Crib, { version, warn, news }: Opening): Promise<OpenDoor> {
  const sdk = await import('@modelcontextprotocol/server');
  const gateway: Gateway = {
    crib,
    sdk,
    listings: createListings(crib.server.traitsOf),
    held: createHeldCalls(),
    version,
    warn,
  };
  const changes = createListChanges(crib.server);
  const contexts = new AsyncLocalStorage<RequestContext>();
  const current = (): RequestContext => {
    const context = contexts.getStore();
    if (context === undefined) throw new Error('No request context is set.');
    return context;
  };
  const bus = createEventBus((changed) => {
    const context = current();
    return changes.follow(() => listingFor(gateway, context), changed);
  });
  // Older revisions over HTTP have no stream for change notifications.
  const handler = sdk.createMcpHandler(
    ({ era }) => createToolServer(gateway, current(), { era, isToldOfChanges: era === 'modern' }),
    { bus },
  );
  return {
    gateway,
    handler,
    changes,
    news,
    contexts,
    cancellations: createCancellations(),
    takesEnvelope: createEnvelopeCheck(sdk),
  };
}

/** True if the profile does not exist or the caller may not use it: both get the same answer. */
function isForOthers(cause: unknown): boolean {
  return cause instanceof ToolcribError && ['unknown_profile', 'denied'].includes(cause.code);
}

/** Maximum number of URLs in an error message. */
const MOST_ADDRESSES = 20;

/** The error for an unknown profile, with the URLs that the credential opens. A caller without a credential sees none. */
function wayOf({ caller, profiles }: Recognised, profile: string | undefined): string {
  const missing =
    profile === undefined ? 'This credential does not open the default profile.' : 'The profile was not found.';
  if (caller.credential?.kind === 'none') return 'The profile was not found.';
  if (profiles.length === 0) return `${missing} This credential does not open any profile.`;
  const shown = profiles.slice(0, MOST_ADDRESSES).map((name) => `/mcp/${encodeURIComponent(name)}`);
  const more = profiles.length > shown.length ? ` and ${profiles.length - shown.length} more` : '';
  return `${missing} This credential opens ${shown.join(', ')}${more}.`;
}

function refuseIdentity({ code, message }: ToolError): Response {
  if (code !== 'unauthenticated') return errorResponse(503, -32_000, message, { 'retry-after': '5' });
  return errorResponse(401, -32_000, message, { 'www-authenticate': 'Bearer realm="toolcrib"' });
}
