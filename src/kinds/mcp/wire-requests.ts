import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { BriefMap } from '../../system/brief-map.ts';
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

/** Requests whose answers are taken unvalidated: one bad tool must not cost the whole list. */
export interface WireRequests {
  /** Resolves with the result as it came. Rejects with an `McpFailure`. */
  send(request: WireRequest): Promise<JsonObject>;
  /** Fails all pending requests. */
  fail(failure: McpFailure): void;
  /** Resolves when no request is pending. */
  idle(): Promise<void>;
}

/** Ids stay within 32 bits. */
const LAST_ID = 2_000_000_000;
/** An older server expects `initialize` before any other message, and the protocol forbids to cancel it. */
const NEVER_CANCELLED: readonly string[] = ['server/discover', 'initialize'];

interface Pending {
  readonly request: WireRequest;
  settle(answer: JsonObject | McpFailure): void;
}

/** Options for sending requests. */
interface WireOptions {
  /** Returns the `_meta` of every message on the connection. */
  envelope(): JsonObject | undefined;
  /** Called with each message that belongs to none of the requests. */
  onOther(message: WireMessage): void;
}

/** Sends requests over `inner`. */
export function createWireRequests(inner: ServerTransport, { envelope, onOther }: WireOptions): WireRequests {
  const pending = new BriefMap<number, Pending>();
  let lastId = 0;

  let resting = Promise.withResolvers<void>();
  const rest = (): void => {
    inner.keepAlive?.(false);
    resting.resolve();
    resting = Promise.withResolvers();
  };

  const settle = (id: number, answer: JsonObject | McpFailure): void => pending.get(id)?.settle(answer);

  const send = (request: WireRequest): Promise<JsonObject> => {
    lastId = lastId === LAST_ID ? 1 : lastId + 1;
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
      const seesEnd = inner.hasPerRequestStream === true && envelope() !== undefined;
      if (!seesEnd && !NEVER_CANCELLED.includes(request.method)) void tellCancelled(id);
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

  const receive = (message: WireMessage): void => {
    if (message.method === 'notifications/progress') takeProgress(message.params);
    else if (message.method === undefined && typeof message.id === 'number') settle(message.id, toAnswer(message));
    else onOther(message);
  };

  const takeProgress = (params: unknown): void => {
    if (!isJsonObject(params) || typeof params.progressToken !== 'number') return;
    const { progressToken, ...progress } = params;
    pending.get(progressToken)?.request.onProgress?.(progress);
  };

  inner.onmessage = (message) => receive(message as WireMessage); // every JSON-RPC message has this shape
  return {
    send,
    fail(failure) {
      for (const one of pending.values()) one.settle(failure);
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
export const MAX_MESSAGE_BYTES = 25_000_000;

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

/** A transport that reports more about requests than those of the SDK. */
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
