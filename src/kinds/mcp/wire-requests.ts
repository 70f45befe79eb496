import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { McpFailure } from './mcp-failure.ts';
import type { StartingProgram } from './start-watch.ts';

/** One request of ours, on its way past the SDK. */
export interface WireRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Sent along where a request has headers of its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Calls the listener once nobody waits for the answer any more, at once if it is so; returns how to stop listening. */
  readonly onAbort?: ((listener: () => void) => () => void) | undefined;
}

/** Requests whose answers are taken as they come, since the SDK would refuse a whole list for one bad tool. */
export interface WireRequests {
  /** What the SDK is connected to: everything that is no answer to us passes through. */
  readonly transport: Transport;
  /** Resolves with the result as it came. Rejects with an `McpFailure`. */
  send(request: WireRequest): Promise<JsonObject>;
  /** Ends all that are under way. */
  fail(failure: McpFailure): void;
  /** Resolves as soon as none is under way. */
  idle(): Promise<void>;
}

/** Far above the ids that the SDK gives its own requests, and within what 32 bits hold. */
const FIRST_ID = 1_000_000_000;
const LAST_ID = 2_000_000_000;

interface Pending {
  readonly request: WireRequest;
  settle(answer: JsonObject | McpFailure): void;
}

/** Sends requests over `inner` besides those of the SDK. `envelope` is the `_meta` that every message of the connection carries. */
export function createWireRequests(inner: ServerTransport, envelope: () => JsonObject | undefined): WireRequests {
  const pending = new Map<number, Pending>();
  let lastId = FIRST_ID;

  let resting = Promise.withResolvers<void>();
  const rest = (): void => {
    inner.keepAlive?.(false);
    resting.resolve();
    resting = Promise.withResolvers();
  };

  const settle = (id: number, answer: JsonObject | McpFailure): void => pending.get(id)?.settle(answer);

  const send = (request: WireRequest): Promise<JsonObject> => {
    lastId = lastId === LAST_ID ? FIRST_ID : lastId + 1;
    const id = lastId;
    const answered = Promise.withResolvers<JsonObject>();
    const stream = new AbortController();
    let stopListening: (() => void) | undefined;
    pending.set(id, {
      request,
      settle(answer) {
        pending.delete(id);
        inner.forget(id);
        stopListening?.();
        if (pending.size === 0) rest();
        if (answer instanceof McpFailure) answered.reject(answer);
        else answered.resolve(answer);
      },
    });
    inner.keepAlive?.(true);
    stopListening = request.onAbort?.(() => {
      settle(id, new McpFailure('cancelled', 'nobody waits for the answer any more'));
      // A server of the newest era sees the stream end; all others have to be told.
      if (inner.hasPerRequestStream !== true || envelope() === undefined) void tellCancelled(id);
      stream.abort();
    });
    if (pending.has(id)) void transmit(id, request, stream.signal);
    return answered.promise;
  };

  const transmit = async (id: number, request: WireRequest, requestSignal: AbortSignal): Promise<void> => {
    try {
      await inner.send(toMessage(id, request), {
        requestSignal,
        headers: { ...traceOf(request), ...request.headers, [REQUEST_HEADER]: String(id) },
        onRequestStreamEnd: () => settle(id, inner.failureOf(undefined, id)),
      });
      if (pending.has(id) && !inner.mayStillAnswer(id))
        settle(id, new McpFailure('malformed', 'it did not answer what it was asked'));
    } catch (cause) {
      settle(id, inner.failureOf(cause, id));
    }
  };

  const toMessage = (id: number, { method, params, onProgress }: WireRequest): JSONRPCMessage => {
    const token = onProgress === undefined ? {} : { progressToken: id };
    const meta = { ...envelope(), ...(isJsonObject(params._meta) && params._meta), ...token };
    const all = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    return { jsonrpc: '2.0', id, method, params: all } as JSONRPCMessage; // the SDK's type is narrower than JSON
  };

  const tellCancelled = async (requestId: number): Promise<void> => {
    const meta = envelope();
    const params = { requestId, reason: 'cancelled', ...(meta !== undefined && { _meta: meta }) };
    await inner.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {}); // it may be gone
  };

  /** True for what is ours, be it too late. */
  const take = (message: WireMessage): boolean => {
    if (message.method === 'notifications/progress') return takeProgress(message.params);
    if (message.method !== undefined || typeof message.id !== 'number' || message.id < FIRST_ID) return false;
    settle(message.id, toAnswer(message));
    return true;
  };

  const takeProgress = (params: unknown): boolean => {
    if (!isJsonObject(params) || typeof params.progressToken !== 'number') return false;
    const { progressToken, ...progress } = params;
    pending.get(progressToken)?.request.onProgress?.(progress);
    return progressToken >= FIRST_ID;
  };

  return {
    transport: passOn(inner, take),
    send,
    fail(failure) {
      for (const one of [...pending.values()]) one.settle(failure);
    },
    idle: async () => (pending.size === 0 ? undefined : resting.promise),
  };
}

/** What stands between us and a server sees headers, not the body. */
function traceOf({ params }: WireRequest): Readonly<Record<string, string>> {
  const traceparent = isJsonObject(params._meta) ? params._meta.traceparent : undefined;
  return typeof traceparent === 'string' ? { traceparent } : {};
}

function toAnswer({ result, error }: WireMessage): JsonObject | McpFailure {
  if (error === undefined)
    return isJsonObject(result) ? result : new McpFailure('malformed', 'it answered without a result');
  const { code, message, data } = isJsonObject(error) ? error : {};
  const text = typeof message === 'string' && message !== '' ? message : 'it does not say what is wrong';
  if (code === TOO_LARGE) return new McpFailure('too_large', text);
  return new McpFailure('error', text, {
    ...(typeof code === 'number' && { code }),
    ...(isJsonObject(data) && { data }),
  });
}

/** The transport as the SDK sees it: it never hears of what `take` takes. */
function passOn(inner: ServerTransport, take: (message: WireMessage) => boolean): Transport {
  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    ...(inner.hasPerRequestStream !== undefined && { hasPerRequestStream: inner.hasPerRequestStream }),
    // That there are these two tells the SDK that it speaks over pipes, where silence is no outage.
    ...('pid' in inner && { stderr: null, pid: null }),
  };
  inner.onmessage = (message, extra) => {
    if (!take(message as WireMessage)) outer.onmessage?.(message, extra); // every message of JSON-RPC is one
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  return outer;
}

/** A message of JSON-RPC, as far as it was looked at. */
export interface WireMessage {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The most that one message may have; whatever is longer is not even parsed. */
export const MAX_MESSAGE_BYTES = 10_000_000;

/** Our own code for an answer that was too long to be read; JSON-RPC leaves these numbers to programs. */
export const TOO_LARGE = -31_999;

/** A message, if the text is one. */
export function readMessage(text: string): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && value.jsonrpc === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

// Programs write the id of an answer either before or after everything else.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/;
const ID_LAST = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** The id of an answer of which only both ends are known. */
export function idOfEnds(head: string, tail: string): number | undefined {
  const found = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A transport that can say more about our own requests than the SDK asks. */
export interface ServerTransport extends Transport {
  /** What it means for request `id` that it could not be sent, or that its answer could not be read. */
  failureOf(cause: unknown, id: number): McpFailure;
  /** Whether request `id`, which was sent, may still be answered. */
  mayStillAnswer(id: number): boolean;
  /** Request `id` is over. */
  forget(id: number): void;
  /** True where ending the stream of a request tells a server of the newest era that nobody waits any more. */
  readonly hasPerRequestStream?: boolean;
  /** Whether something is under way that this process should stay for. */
  keepAlive?(isNeeded: boolean): void;
  /** Why it is over, in words for the owner of the crib. */
  lastWords(): string | undefined;
  /** The program of a server that runs as a child. */
  readonly program?: StartingProgram;
}

/** The header by which our own `fetch` knows whose request it sends; it is taken off on the way. */
export const REQUEST_HEADER = 'x-toolcrib-request';
