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

/** What became of an attempt. */
export type Connected =
  | { readonly ok: true; readonly connection: McpConnection }
  | {
      readonly ok: false;
      readonly failure: McpFailure;
      /** Of HTTP. */
      readonly status: number | undefined;
      /** True if the server is gone. */
      readonly hasEnded: boolean;
    };

/** What an attempt is made with. */
interface Connecting {
  readonly options: OpenOptions;
  readonly era: McpEra | undefined;
  /** Told of the transport before anything is sent, so that it can be ended from outside. */
  begin(transport: ServerTransport): void;
}

/** Lets the SDK agree with a server on the era, and takes over from there. Never rejects. */
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
  client.onerror = () => {}; // whoever asked is told; the rest is noise between two programs
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
      closed.resolve(); // what was asked before may still be answered
    },
  });
  return connection;
}

/** What each of our own requests of the newest era says about us, as the SDK says it in its requests. */
function envelopeOf(sdk: ClientSdk, client: Client): JsonObject | undefined {
  if (client.getProtocolEra() !== 'modern') return undefined;
  return {
    [sdk.PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion() ?? '',
    [sdk.CLIENT_INFO_META_KEY]: SELF,
    [sdk.CLIENT_CAPABILITIES_META_KEY]: {},
  };
}

/** Who we are to servers. */
export const SELF = { name: 'toolcrib', version: packageVersion() };

/** Whoever opens the connection ends it in time, and says better why: the SDK only has to wait for longer. */
function connectMsOf({ address, timeoutMs }: OpenOptions): number {
  return address.kind === 'child' ? Math.max(timeoutMs, LONGEST_START_MS) + LATER_MS : timeoutMs + LATER_MS;
}

const LATER_MS = 2000;

// Over HTTP silence is an outage; a server on a pipe may just not know the question.
function probeMsOf({ address, timeoutMs }: OpenOptions): number {
  return address.kind === 'child' ? Math.min((timeoutMs * 2) / 3, LONGEST_PROBE_MS) : timeoutMs + LATER_MS;
}

/** One that says nothing for so long is asked the older question, which it knows, too, if it was only slow to start. */
const LONGEST_PROBE_MS = 10_000;

/** Answers are checked by the pipeline, by the schemas that the catalog shows. */
const NO_VALIDATOR: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }), // nobody asks for it
};

/** What we said ourselves is clearer than what became of it on its way through the SDK. */
function wordsOf(cause: unknown, { failureOf }: ServerTransport): string {
  for (let at = cause; at instanceof Error; at = at.cause)
    if (isNeverSent(at)) return failureOf(at, 0).message;
    else if (at instanceof McpFailure || at instanceof ToolcribError || at instanceof FetchError) return at.message;
  return beginningOf(messageOf(cause).replaceAll(/\s+/g, ' '), 300);
}

/** Resolves when no request waits any more, or at once when everything ends: an answer may never come. */
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

/** Who wants to hear that the tools of a server have changed. */
interface ToolsFollower {
  readonly clock: Clock;
  onToolsChanged(): void;
  /** Told when no connection to the server can be made any more. */
  onRefused(cause: unknown): void;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Tells when a server says that its tools have changed: older ones say so by themselves, those of the newest era to
 * whoever listens. A stream of news that breaks off is opened again. Returns how to stop.
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
      if (isAgain && !isStopped) onToolsChanged(); // nobody listened meanwhile
      if ((await subscription.closed) === 'local') return;
    } catch (cause) {
      if (!isStopped && passingReason(cause) === 'connection') return onRefused(cause);
      // It cannot be listened to just now; who calls a tool learns more.
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
