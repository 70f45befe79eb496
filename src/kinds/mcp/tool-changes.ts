import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { passingReason } from '../../core/tool-error.ts';
import { McpFailure } from './mcp-failure.ts';
import type { ServerTransport, WireMessage } from './wire-requests.ts';

/** An open subscription. */
interface Subscription {
  /** Resolves when the subscription is over; never rejects. */
  readonly ended: Promise<void>;
}

/** Subscriptions of the modern era to changes of a server's tool list. */
export interface Subscriptions {
  /** Resolves when the server has acknowledged; rejects if it does not. */
  open(): Promise<Subscription>;
  /** Takes messages that belong to a subscription; returns false for others. */
  take(message: WireMessage): boolean;
  /** Ends all subscriptions. */
  close(): void;
  isClosed(): boolean;
}

interface Opened {
  readonly acknowledged: PromiseWithResolvers<void>;
  end(cause?: unknown): void;
}

const ACKNOWLEDGE_MS = 60_000;

/** Opens subscriptions over `transport`. `envelope` is the `_meta` of each request. */
export function createSubscriptions(transport: ServerTransport, envelope: JsonObject): Subscriptions {
  const opened = new Map<unknown, Opened>();
  let lastId = 0;
  let isClosed = false;
  const open = async (): Promise<Subscription> => {
    const id = `listen:${++lastId}`;
    const stream = new AbortController();
    const acknowledged = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const end = (cause: unknown = new Error('the server ended the subscription')): void => {
      clearTimeout(timer);
      opened.delete(id);
      stream.abort();
      acknowledged.reject(cause); // without effect once it is acknowledged
      ended.resolve();
    };
    const timer = setTimeout(() => {
      end(new Error('the server did not acknowledge the subscription in time'));
      const params = { requestId: id, _meta: envelope };
      void transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {}); // it may be gone
    }, ACKNOWLEDGE_MS);
    opened.set(id, { acknowledged, end });
    const params = { _meta: envelope, notifications: { toolsListChanged: true } };
    transport
      .send(
        { jsonrpc: '2.0', id, method: 'subscriptions/listen', params },
        { requestSignal: stream.signal, onRequestStreamEnd: () => end() },
      )
      .catch(end);
    await acknowledged.promise;
    clearTimeout(timer);
    return { ended: ended.promise };
  };
  return {
    open,
    take(message) {
      const one = opened.get(idOf(message));
      if (one === undefined) return false;
      if (message.method === ACKNOWLEDGED) one.acknowledged.resolve();
      else one.end();
      return true;
    },
    close() {
      isClosed = true;
      const over = new McpFailure('unreachable', 'it was closed');
      for (const { end } of [...opened.values()]) end(over);
    },
    isClosed: () => isClosed,
  };
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The subscription that a message begins or ends: an acknowledgement, a cancellation, or the answer to its request. */
function idOf({ id, method, params }: WireMessage): unknown {
  if (method === undefined) return id;
  if (!isJsonObject(params)) return undefined;
  if (method === 'notifications/cancelled') return params.requestId;
  if (method !== ACKNOWLEDGED || !isJsonObject(params._meta)) return undefined;
  return params._meta['io.modelcontextprotocol/subscriptionId'];
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

/** Subscribes to changes of the tool list, again and again if the subscription breaks off. Returns a function that stops. */
export function followTools(subscriptions: Subscriptions, follower: ToolsFollower): () => void {
  const { clock, onToolsChanged, onRefused } = follower;
  let isStopped = false;
  let stopTimer = () => {};
  let isAgain = false;
  const listen = async (lastPauseMs: number): Promise<void> => {
    let pauseMs = Math.min(lastPauseMs * 2, LONGEST_PAUSE_MS);
    try {
      const subscription = await subscriptions.open();
      pauseMs = FIRST_PAUSE_MS;
      if (isAgain && !isStopped) onToolsChanged(); // changes were missed in between
      await subscription.ended;
    } catch (cause) {
      if (!isStopped && passingReason(cause) === 'connection') return onRefused(cause);
      // Subscribing failed for now; the next call to a tool shows more.
    }
    if (isStopped || subscriptions.isClosed()) return;
    isAgain = true;
    stopTimer = clock.setTimer(pauseMs, () => void listen(pauseMs));
  };
  void listen(FIRST_PAUSE_MS / 2);
  return () => {
    isStopped = true;
    stopTimer();
  };
}
