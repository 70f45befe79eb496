import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf, passingReason, ToolcribError } from '../../core/tool-error.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { FetchError, isNeverSent } from '../../system/fetch/fetch-error.ts';
import { packageVersion } from '../../system/package-version.ts';
import { McpFailure, statusOf } from './mcp-failure.ts';
import type { ClientSdk, McpConnection, McpEra, OpenOptions } from './open-connection.ts';
import { LONGEST_START_MS } from './start-watch.ts';
import { createWireRequests, type ServerTransport, type WireRequests } from './wire-requests.ts';

/** The outcome of a connection attempt. */
export type Connected =
  | { readonly ok: true; readonly connection: McpConnection }
  | {
      readonly ok: false;
      readonly failure: McpFailure;
      /** The HTTP status, if any. */
      readonly status: number | undefined;
      /** True if the server has exited or the connection is closed. */
      readonly hasEnded: boolean;
    };

/** Options for a connection attempt. */
interface Connecting {
  readonly options: OpenOptions;
  readonly era: McpEra | undefined;
  /** Receives the transport before anything is sent, so that the attempt can be cancelled from outside. */
  begin(transport: ServerTransport): void;
}

/** Lets the SDK negotiate the protocol era with a server; our own requests bypass the SDK from then on. Never rejects. */
export async function connectClient(
  sdk: ClientSdk,
  transport: ServerTransport,
  connecting: Connecting,
): Promise<Connected> {
  const { options, era, begin } = connecting;
  const client = new sdk.Client(SELF, {
    capabilities: {},
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMsOf(options) } },
    jsonSchemaValidator: NO_VALIDATOR,
  });
  const closed = Promise.withResolvers<void>();
  const requests = createWireRequests(transport, () => envelopeOf(sdk, client));
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    requests.fail(transport.failureOf(undefined, 0));
    closed.resolve();
  };
  client.onerror = () => {}; // the sender of a request gets its error; other errors are protocol noise
  begin(transport);
  try {
    await client.connect(requests.transport, {
      timeout: connectMsOf(options),
      ...(era === 'legacy' && { prior: { kind: 'legacy' as const } }),
    });
  } catch (cause) {
    const words = transport.lastWords();
    await transport.close();
    const failure = new McpFailure('unreachable', words ?? wordsOf(cause, transport), { cause });
    return { ok: false, failure, status: statusOf(cause), hasEnded: words !== undefined };
  }
  transport.keepAlive?.(false);
  return { ok: true, connection: toConnection(client, { transport, requests, closed, options }) };
}

interface Connection {
  readonly transport: ServerTransport;
  readonly requests: WireRequests;
  readonly closed: PromiseWithResolvers<void>;
  readonly options: OpenOptions;
}

function toConnection(client: Client, { transport, requests, closed, options }: Connection): McpConnection {
  let whyGone: string | undefined;
  const connection: McpConnection = {
    era: client.getProtocolEra() ?? 'legacy',
    openedAt: options.clock.now(),
    request: requests.send,
    closed: closed.promise,
    lastWords: () => whyGone ?? transport.lastWords(),
    async retire() {
      stopFollowing();
      await idleOrAborted(requests, options.signal);
      await transport.close();
    },
    async close() {
      stopFollowing();
      await transport.close();
    },
  };
  const stopFollowing = followTools(client, {
    clock: options.idleClock,
    onToolsChanged: () => options.onToolsChanged(connection),
    onRefused(cause) {
      whyGone = wordsOf(cause, transport);
      closed.resolve(); // requests in flight may still be answered
    },
  });
  return connection;
}

/** The `_meta` envelope of our own requests in the modern era, the same as the SDK sends. */
function envelopeOf(sdk: ClientSdk, client: Client): JsonObject | undefined {
  if (client.getProtocolEra() !== 'modern') return undefined;
  return {
    [sdk.PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion() ?? '',
    [sdk.CLIENT_INFO_META_KEY]: SELF,
    [sdk.CLIENT_CAPABILITIES_META_KEY]: {},
  };
}

/** The client info that servers see. */
export const SELF = { name: 'toolcrib', version: packageVersion() };

/** Longer than our own timeout, which gives the better message. */
function connectMsOf({ address, timeoutMs }: OpenOptions): number {
  return address.kind === 'child' ? Math.max(timeoutMs, LONGEST_START_MS) + LATER_MS : timeoutMs + LATER_MS;
}

const LATER_MS = 2000;

// Over HTTP, silence is an outage; a server on a pipe may simply not know the request.
function probeMsOf({ address, timeoutMs }: OpenOptions): number {
  return address.kind === 'child' ? Math.min((timeoutMs * 2) / 3, LONGEST_PROBE_MS) : timeoutMs + LATER_MS;
}

/** After this time the client falls back to the older handshake; a modern server that was only slow to start knows it, too. */
const LONGEST_PROBE_MS = 10_000;

/** Disables the SDK's validation: the pipeline checks results against the schemas in the catalog. */
const NO_VALIDATOR: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }), // unused by our requests
};

/** Prefers our own error message to the one that the SDK wrapped around it. */
function wordsOf(cause: unknown, { failureOf }: ServerTransport): string {
  for (let at = cause; at instanceof Error; at = at.cause)
    if (isNeverSent(at)) return failureOf(at, 0).message;
    else if (at instanceof McpFailure || at instanceof ToolcribError || at instanceof FetchError) return at.message;
  return beginningOf(messageOf(cause).replaceAll(/\s+/g, ' '), 300);
}

/** Resolves when no request is pending, or at once when the signal aborts, since an answer may never come. */
function idleOrAborted(requests: WireRequests, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    requests.idle().then(end, end);
  });
}

/** A listener for changes of a server's tool list. */
interface ToolsFollower {
  readonly clock: Clock;
  onToolsChanged(): void;
  /** Called when the server can no longer be connected to. */
  onRefused(cause: unknown): void;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Reports changes of the tool list: legacy servers send notifications, modern ones need a subscription, which is
 * opened again if it breaks off. Returns a function that stops listening.
 */
function followTools(client: Client, { clock, onToolsChanged, onRefused }: ToolsFollower): () => void {
  let isStopped = false;
  let stopTimer = () => {};
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    if (!isStopped) onToolsChanged();
  });
  let isAgain = false;
  const listen = async (lastPauseMs: number): Promise<void> => {
    let pauseMs = Math.min(lastPauseMs * 2, LONGEST_PAUSE_MS);
    try {
      const subscription = await client.listen({ toolsListChanged: true });
      pauseMs = FIRST_PAUSE_MS;
      if (isAgain && !isStopped) onToolsChanged(); // changes were missed in between
      if ((await subscription.closed) === 'local') return;
    } catch (cause) {
      if (!isStopped && passingReason(cause) === 'connection') return onRefused(cause);
      // Subscribing failed for now; the next call to a tool shows more.
    }
    if (isStopped || client.transport === undefined) return;
    isAgain = true;
    stopTimer = clock.setTimer(pauseMs, () => void listen(pauseMs));
  };
  if (client.getProtocolEra() === 'modern' && client.getServerCapabilities()?.tools?.listChanged === true)
    void listen(FIRST_PAUSE_MS / 2);
  return () => {
    isStopped = true;
    stopTimer();
  };
}
