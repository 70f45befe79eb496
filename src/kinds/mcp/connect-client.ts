import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { FetchError, isNeverSent } from '../../system/fetch/fetch-error.ts';
import { type Agreement, ENVELOPE, shakeHands } from './handshake.ts';
import { McpFailure, statusOf } from './mcp-failure.ts';
import type { McpConnection, McpEra, OpenOptions } from './open-connection.ts';
import { LONGEST_START_MS } from './start-watch.ts';
import { createSubscriptions, followTools, type Subscriptions } from './tool-changes.ts';
import { createWireRequests, type ServerTransport, type WireMessage, type WireRequests } from './wire-requests.ts';

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

/** Agrees with a server on a revision of the protocol. Never rejects. */
export async function connectClient(transport: ServerTransport, connecting: Connecting): Promise<Connected> {
  const { options, era, begin } = connecting;
  let agreed: Agreement | undefined;
  const tools = { onChange: () => {} };
  const closed = Promise.withResolvers<void>();
  const subscriptions = createSubscriptions(transport, ENVELOPE);
  const requests = createWireRequests(transport, {
    envelope: () => (agreed?.era === 'modern' ? ENVELOPE : undefined),
    onOther(message) {
      if (message.method === TOOLS_CHANGED) tools.onChange();
      else if (!subscriptions.take(message)) answerServer(transport, message);
    },
  });
  transport.onclose = () => {
    requests.fail(transport.failureOf(undefined, 0));
    subscriptions.close();
    closed.resolve();
  };
  begin(transport);
  try {
    await transport.start();
    agreed = await shakeHands({
      transport,
      requests,
      era,
      mustAnswer: options.address.kind !== 'child',
      probeMs: probeMsOf(options),
      timeoutMs: connectMsOf(options),
    });
  } catch (cause) {
    const words = transport.lastWords();
    await transport.close();
    const failure = new McpFailure('unreachable', words ?? wordsOf(cause, transport), { cause });
    return { ok: false, failure, status: statusOf(cause), hasEnded: words !== undefined };
  }
  transport.keepAlive?.(false);
  return { ok: true, connection: toConnection(agreed, { transport, requests, subscriptions, tools, closed, options }) };
}

const TOOLS_CHANGED = 'notifications/tools/list_changed';

/** Answers requests of older servers: this client offers nothing that a server may ask for. */
function answerServer(transport: ServerTransport, { id, method }: WireMessage): void {
  if (method === undefined || (typeof id !== 'string' && typeof id !== 'number')) return;
  const answer = method === 'ping' ? { result: {} } : { error: { code: -32_601, message: 'Method not found' } };
  void transport.send({ jsonrpc: '2.0', id, ...answer }).catch(() => {}); // the server may be gone
}

interface Connection {
  readonly transport: ServerTransport;
  readonly requests: WireRequests;
  readonly subscriptions: Subscriptions;
  /** Called when the server reports a change of its tool list. */
  readonly tools: { onChange(): void };
  readonly closed: PromiseWithResolvers<void>;
  readonly options: OpenOptions;
}

function toConnection({ era, reportsToolChanges }: Agreement, parts: Connection): McpConnection {
  const { transport, requests, subscriptions, tools, closed, options } = parts;
  let whyGone: string | undefined;
  let stopListening = () => {};
  const stopFollowing = (): void => {
    tools.onChange = () => {};
    stopListening();
  };
  const connection: McpConnection = {
    era,
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
  tools.onChange = () => options.onToolsChanged(connection);
  if (era === 'modern' && reportsToolChanges)
    stopListening = followTools(subscriptions, {
      clock: options.idleClock,
      onToolsChanged: tools.onChange,
      onRefused(cause) {
        whyGone = wordsOf(cause, transport);
        closed.resolve(); // requests in flight may still be answered
      },
    });
  return connection;
}

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

/** Prefers our own error message to one that was wrapped around it. */
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
