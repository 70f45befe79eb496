import { AsyncLocalStorage } from 'node:async_hooks';
import type { Identity } from '../../core/caller.ts';
import { messageOf, ToolcribError, type ToolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { answerRequest, createEnvelopeCheck, errorResponse, type McpAnswer, type OpenDoor } from './answer-request.ts';
import { createCancellations, type Gateway, type RequestContext } from './context.ts';
import { createHeldCalls } from './held-calls.ts';
import { createEventBus, createListChanges, createListings } from './listings.ts';
import { createToolServer, listingFor } from './tool-server.ts';

/** MCP over HTTP: every revision on one address, a profile to each. */
export interface McpDoor {
  /** Answers one request to `/mcp` or `/mcp/{profile}`. Who is refused is told so in the protocol's own words. Never rejects. */
  fetch(request: Request, identity: Identity, profile?: string): Promise<McpAnswer>;
  /** Ends streams of news; requests that are under way go on. */
  endNews(): void;
  /** Ends streams of news and requests that are under way. */
  close(): Promise<void>;
}

export interface McpDoorOptions {
  /** Told to clients. */
  readonly version: string;
  /** Takes what is for the owner to know. */
  warn?(message: string): void;
}

/** A door over a crib. The protocol's package is loaded by the first request. */
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
    async fetch(request, identity, profile) {
      if (isClosed) return errorResponse(503, -32_000, 'The server is closing.');
      if (!identity.ok) return refuseIdentity(identity.error);
      try {
        return await answerRequest(await opened(), request, { caller: identity.caller, profile });
      } catch (cause) {
        if (isForOthers(cause)) return errorResponse(404, -32_000, wayOf(identity, profile));
        warn(`A request to /mcp failed: ${messageOf(cause)}`);
        return errorResponse(500, -32_603, 'Something went wrong inside; it is in the log.');
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
  const gateway: Gateway = { crib, sdk, listings: createListings(), held: createHeldCalls(), version, warn };
  const changes = createListChanges(crib.server);
  const contexts = new AsyncLocalStorage<RequestContext>();
  const current = (): RequestContext => {
    const context = contexts.getStore();
    if (context === undefined) throw new Error('There is no request to answer.');
    return context;
  };
  const bus = createEventBus((changed) => {
    const context = current();
    return changes.follow(() => listingFor(gateway, context), changed);
  });
  // Whoever speaks an older revision has no stream on which changes could be told.
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

/** True where a profile is not there, and where it is not for the caller: both are answered with the same words. */
function isForOthers(cause: unknown): boolean {
  return cause instanceof ToolcribError && ['unknown_profile', 'denied'].includes(cause.code);
}

/** How many addresses are named at most. */
const MOST_ADDRESSES = 20;

/** Where the caller finds its profiles. A caller without a credential is told of none. */
function wayOf({ caller, profiles }: Recognised, profile: string | undefined): string {
  const missing =
    profile === undefined ? 'The default profile is not open to this credential.' : 'There is no such profile.';
  if (caller.credential?.kind === 'none') return 'There is no such profile.';
  if (profiles.length === 0) return `${missing} This credential opens no profile.`;
  const shown = profiles.slice(0, MOST_ADDRESSES).map((name) => `/mcp/${encodeURIComponent(name)}`);
  const more = profiles.length > shown.length ? ` and ${profiles.length - shown.length} more` : '';
  return `${missing} This credential opens ${shown.join(', ')}${more}.`;
}

function refuseIdentity({ code, message }: ToolError): Response {
  if (code !== 'unauthenticated') return errorResponse(503, -32_000, message, { 'retry-after': '5' });
  return errorResponse(401, -32_000, message, { 'www-authenticate': 'Bearer realm="toolcrib"' });
}
