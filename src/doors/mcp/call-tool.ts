import type { CallToolRequest, CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server';
import type { CallOptions } from '../../crib/call.ts';
import { readCallOptions } from './call-options.ts';
import { toCallResult } from './call-result.ts';
import { type Desk, invalidParams, type Visit } from './desk.ts';
import { askClient, readAnswers, readRound } from './input-rounds.ts';
import type { Era } from './output-schema.ts';

/** A request to call a tool, and what serves it. */
export interface Called {
  readonly request: CallToolRequest;
  readonly context: ServerContext;
  readonly era: Era;
  readonly server: Server;
}

/** Calls a tool for a client. An unknown name is an error of the protocol; whatever else goes wrong is an answer that a model can read. */
export async function callTool(desk: Desk, visit: Visit, called: Called): Promise<CallToolResult> {
  const { context } = called;
  const cancelled = visit.cancelledBy?.(context);
  try {
    const options = readCallOptions(context, cancelled?.signal ?? context.mcpReq.signal);
    return await answerCall(desk, visit, { ...called, options });
  } finally {
    cancelled?.release();
  }
}

async function answerCall(
  desk: Desk,
  visit: Visit,
  { request, context, options, era, server }: Called & { readonly options: CallOptions },
): Promise<CallToolResult> {
  const { crib, sdk } = desk;
  const { name, arguments: given } = request.params;
  const wire = { era, isContent: sdk.isSpecType.ContentBlock };
  const chest = await crib.open(visit.profile, visit.caller);
  const spec = chest.get(name);
  if (spec === undefined) {
    const refused = await chest.call(name, given, options); // it is on record all the same
    const isUnknown = refused.status === 'failed' && refused.error.code === 'unknown_tool';
    if (isUnknown) throw invalidParams(desk, refused.error.message);
    return toCallResult(refused, spec, wire) as CallToolResult; // of its shapes
  }
  const round = readRound({ caller: visit.caller, profile: chest.profile, spec, arguments: given }, context, server);
  const answered = await readAnswers(crib, round, context.mcpReq.requestState<string>());
  if (answered === undefined)
    throw invalidParams(desk, 'Invalid or expired requestState', { reason: 'invalid_request_state' });
  const { isClosed: _isClosed, ...answers } = answered;
  const result = await chest.call(name, given, { ...options, ...answers });
  const needed = era === 'modern' ? result.meta?.['toolcrib/requiredCapabilities'] : undefined;
  if (needed !== undefined) throw new sdk.MissingRequiredClientCapabilityError({ requiredCapabilities: { ...needed } });
  const { waiting } = result.status === 'waiting' ? result : {};
  const question = waiting === undefined ? undefined : await askClient(crib, round, { waiting, answered });
  return (question ?? toCallResult(result, spec, wire)) as CallToolResult; // of its shapes
}
