import type { CallToolRequest, Server, ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../core/json.ts';
import type { Era } from './output-schema.ts';
import type { ProgressNote } from './progress.ts';

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
  /** Tells how far the call has come; absent where nobody wants to know. */
  readonly tellProgress?: (note: ProgressNote) => void;
}

/** By which server of the protocol's package a request is answered. */
interface Answering {
  readonly era: Era;
  readonly server: Pick<Server, 'getClientCapabilities'>;
}

/** A request as the protocol's package hands it over. */
export function toAskedCall(request: CallToolRequest, context: ServerContext, { era, server }: Answering): AskedCall {
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
      tellProgress: (note: ProgressNote) => {
        const params = { ...note, progressToken };
        // Whoever is gone misses nothing: the call is cancelled by its signal.
        mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
      },
    }),
  };
}
