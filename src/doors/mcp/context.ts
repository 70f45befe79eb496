import type { CallToolRequest, CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Crib } from '../../crib/crib.ts';
import type { HeldCalls } from './held-calls.ts';
import type { Listings } from './listings.ts';
import type { Era } from './output-schema.ts';
import { createProgressTeller, type ProgressTeller, type Spacing } from './spacing.ts';

/** The package that speaks the protocol; loaded by its first use. */
export type ServerSdk = typeof import('@modelcontextprotocol/server');

/** What all requests at a door share. */
export interface Gateway {
  readonly crib: Crib;
  readonly sdk: ServerSdk;
  readonly listings: Listings;
  readonly held: HeldCalls;
  readonly version: string;
  /** There where the client may take several messages at once. */
  readonly spacing?: Spacing;
  warn(message: string): void;
}

/** Who is served, and how. */
export interface RequestContext {
  readonly caller: Caller;
  /** The name in the address; the default profile if absent. */
  readonly profile: string | undefined;
  /** True if the list of another caller would be the same. */
  readonly isPublic: boolean;
  readonly instructions?: string;
  /** Takes the tools as text, where whoever sends the answer puts them in. */
  takeTools?(text: string): void;
  /** A signal that ends the call, where that can come from elsewhere than from its own request. */
  watch?(asked: AskedCall): Watch;
  /** What becomes of the call, where it was begun before the protocol's package was asked to answer. */
  readonly outcome?: Promise<CallToolResult>;
}

/** What a client asked for cannot be: the error of the protocol for that. */
export function invalidParams({ sdk }: Gateway, message: string, data?: unknown): Error {
  return new sdk.ProtocolError(sdk.INVALID_PARAMS, message, data);
}

/** Calls that are under way and can be ended: by another request of the same client, or because the door closes. */
export interface Cancellations {
  /** Watches a call until it is released; `ended` ends it, too. Without a name no other request can end it. */
  watch(ended: AbortSignal, call?: WatchedCall): Watch;
  /** Ends the call, if it is under way. */
  cancel(call: WatchedCall): void;
  /** Ends all of them, and those to come. */
  close(): void;
  isClosed(): boolean;
}

/** A call that is watched. */
interface Watch {
  readonly signal: AbortSignal;
  release(): void;
}

/** Ids are counted by each client for itself, hence the session; and nobody ends calls of another caller. */
interface WatchedCall {
  readonly callerId: string | undefined;
  readonly session: string;
  readonly requestId: unknown;
}

/** Older clients say by a request of its own that they no longer wait for another. */
export function createCancellations(): Cancellations {
  const underWay = new Set<AbortController>();
  const named = new Map<string, AbortController>();
  let isClosed = false;
  return {
    watch(ended, call) {
      const controller = new AbortController();
      const key = call === undefined ? undefined : keyOf(call);
      const end = () => controller.abort();
      ended.addEventListener('abort', end);
      if (isClosed || ended.aborted) end();
      underWay.add(controller);
      if (key !== undefined) named.set(key, controller);
      return {
        signal: controller.signal,
        release() {
          ended.removeEventListener('abort', end);
          underWay.delete(controller);
          if (key !== undefined && named.get(key) === controller) named.delete(key);
        },
      };
    },
    cancel: (call) => named.get(keyOf(call))?.abort(),
    close() {
      isClosed = true;
      for (const controller of underWay) controller.abort();
    },
    isClosed: () => isClosed,
  };
}

function keyOf({ callerId = '', session, requestId }: WatchedCall): string {
  return JSON.stringify([callerId, session, requestId]);
}

/** A request to call a tool, whichever way it came. */
export interface AskedCall {
  readonly era: Era;
  /** By which the client knows it. */
  readonly id: string | number;
  readonly name: string;
  readonly arguments: unknown;
  /** What the client says besides. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Of a header, where there are any. */
  readonly traceparent: string | undefined;
  /** What the client can be asked for; undefined where it cannot be asked at all. */
  readonly capabilities: JsonObject | undefined;
  /** What it answered to questions of an earlier round. */
  readonly responses: Readonly<Record<string, unknown>> | undefined;
  readonly requestState: string | undefined;
  /** Ends when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Tells how far the call has come; absent where the client does not want to know. */
  readonly progress?: ProgressTeller;
}

/** By which server of the protocol's package a request is answered. */
interface Answering {
  readonly era: Era;
  readonly server: Pick<Server, 'getClientCapabilities' | 'ping'>;
  readonly spacing: Spacing | undefined;
}

/** A request as the protocol's package hands it over. */
export function toAskedCall(request: CallToolRequest, context: ServerContext, answering: Answering): AskedCall {
  const { era, server, spacing } = answering;
  const { mcpReq, http } = context;
  const { name, arguments: given } = request.params;
  const said = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined; // its type leaves out the names of its keys
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
