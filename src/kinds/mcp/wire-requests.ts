import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { McpFailure } from './mcp-failure.ts';
import type { StartingProgram } from './start-watch.ts';

/** One of our requests, sent without the SDK's request handling. */
export interface WireRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Headers of this request, for transports that have headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Calls the listener when the caller stops waiting, at once if it already has; returns a function that stops listening. */
  readonly onAbort?: ((listener: () => void) => () => void) | undefined;
}

/** Requests whose answers are taken unvalidated: the SDK would reject a whole list for one bad tool. */
export interface WireRequests {
  /** The transport for the SDK; every message that is not an answer to us passes through. */
  readonly transport: Transport;
  /** Resolves with the result as it came. Rejects with an `McpFailure`. */
  send(request: WireRequest): Promise<JsonObject>;
  /** Fails all pending requests. */
  fail(failure: McpFailure): void;
  /** Resolves when no request is pending. */
  idle(): Promise<void>;
}

/** Far above the ids of the SDK's own requests, and within 32 bits. */
const FIRST_ID = 1_000_000_000;
const LAST_ID = 2_000_000_000;

interface Pending {
  readonly request: WireRequest;
  settle(answer: JsonObject | McpFailure): void;
}

/** Sends requests over `inner` alongside the SDK's. `envelope` returns the `_meta` of every message on the connection. */
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
      settle(id, new McpFailure('cancelled', 'the caller stopped waiting'));
      // A modern server sees the stream end; others need a notification.
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
        settle(id, new McpFailure('malformed', 'it sent no answer to the request'));
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
    await inner.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {}); // the server may be gone
  };

  /** Takes messages for us, including late ones; returns false for others. */
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

/** Proxies see headers, not the body. */
function traceOf({ params }: WireRequest): Readonly<Record<string, string>> {
  const traceparent = isJsonObject(params._meta) ? params._meta.traceparent : undefined;
  return typeof traceparent === 'string' ? { traceparent } : {};
}

function toAnswer({ result, error }: WireMessage): JsonObject | McpFailure {
  if (error === undefined)
    return isJsonObject(result) ? result : new McpFailure('malformed', 'it answered without a result');
  const { code, message, data } = isJsonObject(error) ? error : {};
  const text = typeof message === 'string' && message !== '' ? message : 'it sent an error without a message';
  if (code === TOO_LARGE) return new McpFailure('too_large', text);
  return new McpFailure('error', text, {
    ...(typeof code === 'number' && { code }),
    ...(isJsonObject(data) && { data }),
  });
}

/** The transport for the SDK, without the messages that `take` handles. */
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
    // These two properties tell the SDK that the transport is a pipe, where silence is not an outage.
    ...('pid' in inner && { stderr: null, pid: null }),
  };
  inner.onmessage = (message, extra) => {
    if (!take(message as WireMessage)) outer.onmessage?.(message, extra); // every JSON-RPC message has this shape
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  return outer;
}

/** A JSON-RPC message, unvalidated. */
export interface WireMessage {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Size limit of a message; longer ones are not parsed. */
export const MAX_MESSAGE_BYTES = 10_000_000;

/** Our own code for an oversized answer, in the range that JSON-RPC leaves to applications. */
export const TOO_LARGE = -31_999;

/** Parses a message; undefined if the text is not one. */
export function readMessage(text: string): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && value.jsonrpc === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

// Programs write the id of an answer either first or last.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/;
const ID_LAST = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** Finds the id in the two ends of an answer. */
export function idOfEnds(head: string, tail: string): number | undefined {
  const found = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A transport that reports more about our own requests than the SDK needs. */
export interface ServerTransport extends Transport {
  /** Explains why request `id` could not be sent, or why its answer could not be read. */
  failureOf(cause: unknown, id: number): McpFailure;
  /** True if request `id`, which was sent, may still be answered. */
  mayStillAnswer(id: number): boolean;
  /** Drops the state of request `id`. */
  forget(id: number): void;
  /** True if ending a request's stream tells a modern server that the request is cancelled. */
  readonly hasPerRequestStream?: boolean;
  /** Sets whether pending work should keep this process alive. */
  keepAlive?(isNeeded: boolean): void;
  /** The reason the transport ended, for the operator. */
  lastWords(): string | undefined;
  /** The program of a server that runs as a child process. */
  readonly program?: StartingProgram;
}

/** Marks the request that our own `fetch` is sending; removed before sending. */
export const REQUEST_HEADER = 'x-toolcrib-request';
