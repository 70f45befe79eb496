import type { CallToolRequest, CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import { BriefMap, BriefSet } from '../../system/brief-map.ts';
import type { HeldCalls } from './held-calls.ts';
import type { Listings } from './listings.ts';
import type { Era } from './output-schema.ts';
import { createProgressTeller, type ProgressTeller, type Spacing } from './spacing.ts';

/** The MCP SDK, loaded lazily. */
export type ServerSdk = typeof import('@modelcontextprotocol/server');

/** The objects that all requests of a door share. */
export interface Gateway {
  readonly crib: Crib;
  readonly sdk: ServerSdk;
  readonly listings: Listings;
  readonly held: HeldCalls;
  readonly version: string;
  /** Present if the client may read several messages at once. */
  readonly spacing?: Spacing;
  warn(message: string): void;
}

/** The context of a request. */
export interface RequestContext {
  readonly caller: Caller;
  /** The profile in the URL; the default profile if absent. */
  readonly profile: string | undefined;
  /** The chest of the caller, if it is already open. It always shows the newest tools. */
  readonly chest?: Chest;
  /** True if every caller sees the same list. */
  readonly isPublic: boolean;
  readonly instructions?: string;
  /** Receives the tools as text, which are then inserted into the answer. */
  takeTools?(text: string): void;
  /** Watches a call that another request can cancel. */
  watch?(asked: AskedCall): Watch;
  /** The result of a call that was started before the MCP SDK handles its request. */
  readonly outcome?: Promise<CallToolResult>;
}

/** The protocol error for invalid parameters. */
export function invalidParams({ sdk }: Gateway, message: string, data?: unknown): Error {
  return new sdk.ProtocolError(sdk.INVALID_PARAMS, message, data);
}

/** Running calls that can be cancelled, by another request of the same client or when the door closes. */
export interface Cancellations {
  /** Watches a call until it is released; `ended` also cancels it. Without `call`, no other request can cancel it. */
  watch(ended: AbortSignal, call?: WatchedCall): Watch;
  /** Cancels the call if it is running. */
  cancel(call: WatchedCall): void;
  /** Cancels all calls, including later ones. */
  close(): void;
  isClosed(): boolean;
}

/** A watched call. */
interface Watch {
  readonly signal: AbortSignal;
  release(): void;
}

/** The key of a running call. Request ids are unique only within a session; a caller can cancel only its own calls. */
interface WatchedCall {
  readonly callerId: string | undefined;
  readonly session: string;
  readonly requestId: unknown;
}

/** Tracks running calls: older clients cancel a call with a separate request. */
export function createCancellations(): Cancellations {
  const underWay = new BriefSet<AbortController>();
  const named = new BriefMap<string, AbortController>();
  let isClosed = false;
  return {
    watch(ended, call) {
      const controller = new AbortController();
      const key = call === undefined ? undefined : keyOf(call);
      const end = () => controller.abort();
      ended.addEventListener('abort', end);
      if (isClosed || ended.aborted) end();
      const remove = underWay.add(controller);
      if (key !== undefined) named.set(key, controller);
      return {
        signal: controller.signal,
        release() {
          ended.removeEventListener('abort', end);
          remove();
          if (key !== undefined && named.get(key) === controller) named.delete(key);
        },
      };
    },
    cancel: (call) => named.get(keyOf(call))?.abort(),
    close() {
      isClosed = true;
      for (const controller of underWay.values()) controller.abort();
    },
    isClosed: () => isClosed,
  };
}

function keyOf({ callerId = '', session, requestId }: WatchedCall): string {
  return JSON.stringify([callerId, session, requestId]);
}

/** A request to call a tool, from any transport. */
export interface AskedCall {
  readonly era: Era;
  /** The request id of the client. */
  readonly id: string | number;
  readonly name: string;
  readonly arguments: unknown;
  /** The `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The value of the HTTP header, if any. */
  readonly traceparent: string | undefined;
  /** The capabilities of the client; undefined if it cannot be asked at all. */
  readonly capabilities: JsonObject | undefined;
  /** Answers of the client to questions of an earlier round. */
  readonly responses: Readonly<Record<string, unknown>> | undefined;
  readonly requestState: string | undefined;
  /** Aborts when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** Reports progress; absent if the client did not ask for it. */
  readonly progress?: ProgressTeller;
}

/** The SDK server that answers a request. */
interface Answering {
  readonly era: Era;
  readonly server: Pick<Server, 'getClientCapabilities' | 'ping'>;
  readonly spacing: Spacing | undefined;
}

/** Converts a request of the MCP SDK. */
export function toAskedCall(request: CallToolRequest, context: ServerContext, answering: Answering): AskedCall {
  const { era, server, spacing } = answering;
  const { mcpReq, http } = context;
  const { name, arguments: given } = request.params;
  const said = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined; // the SDK type omits its keys
  const declared = said?.['io.modelcontextprotocol/clientCapabilities'] ?? server.getClientCapabilities();
  const progressToken = mcpReq._meta?.progressToken;
  return {
    era,
    id: mcpReq.id,
    name,
    arguments: given,
    meta: mcpReq._meta ?? {},
    traceparent: http?.req?.headers.get('traceparent') ?? undefined,
    capabilities: declared as JsonObject | undefined, // JSON from the wire
    responses: mcpReq.inputResponses,
    requestState: mcpReq.requestState<string>(),
    signal: mcpReq.signal,
    ...(progressToken !== undefined && {
      progress: createProgressTeller({
        notify: (note) => mcpReq.notify({ method: 'notifications/progress', params: { ...note, progressToken } }),
        spacing,
        ...(era === 'legacy' && { ping: () => server.ping() }),
      }),
    }),
  };
}
