import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CallOptions } from '../../call/call.ts';
import { unwrapCall } from '../../call/unwrap-call.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Chest } from '../../crib/chest.ts';
import type { AskedCall } from './asked-call.ts';
import { toCallResult } from './call-result.ts';
import { type Gateway, invalidParams, type RequestContext } from './context.ts';
import { askClient, type Round, readAnswers } from './input-rounds.ts';
import { createProgress } from './progress.ts';

/** Calls a tool for a client. An unknown name is an error of the protocol; whatever else goes wrong is an answer that a model can read. */
export async function callTool(gateway: Gateway, context: RequestContext, asked: AskedCall): Promise<CallToolResult> {
  const watched = context.watch?.(asked);
  try {
    const options = readCallOptions(asked, watched?.signal ?? asked.signal);
    return await answerCall(gateway, context, { asked, options });
  } finally {
    watched?.release();
  }
}

async function answerCall(
  gateway: Gateway,
  { profile, caller }: RequestContext,
  { asked, options }: { readonly asked: AskedCall; readonly options: CallOptions },
): Promise<CallToolResult> {
  const { crib, sdk } = gateway;
  const { era, name, arguments: given, capabilities, responses } = asked;
  const wire = { era, isContent: sdk.isSpecType.ContentBlock };
  const chest = await crib.open(profile, caller);
  const spec = chest.get(name);
  if (spec === undefined) {
    const refused = await chest.call(name, given, options); // it is on record all the same
    const isUnknown = refused.status === 'failed' && refused.error.code === 'unknown_tool';
    if (isUnknown) throw invalidParams(gateway, refused.error.message);
    return toCallResult(refused, spec, wire) as CallToolResult; // of its shapes
  }
  const target = targetOf(chest, spec, given);
  const said = { called: name, arguments: given, capabilities, responses };
  const round: Round = { caller, profile: chest.profile, spec: target, ...said };
  const answered = await readAnswers(crib, round, asked.requestState);
  if (answered === undefined)
    throw invalidParams(gateway, 'Invalid or expired requestState', { reason: 'invalid_request_state' });
  const { isClosed: _isClosed, ...answers } = answered;
  const result = await chest.call(name, given, { ...options, ...answers });
  const needed = era === 'modern' ? result.meta?.['toolcrib/requiredCapabilities'] : undefined;
  if (needed !== undefined) throw new sdk.MissingRequiredClientCapabilityError({ requiredCapabilities: { ...needed } });
  const { waiting } = result.status === 'waiting' ? result : {};
  const question = waiting === undefined ? undefined : await askClient(crib, round, { waiting, answered });
  return (question ?? toCallResult(result, spec, wire)) as CallToolResult; // of its shapes
}

/** The tool that runs, which a call of `call_tool` only names: a question of one definition is not answered to another. */
function targetOf(chest: Chest, spec: ToolSpec, given: unknown): ToolSpec {
  const inner = spec.name === 'call_tool' && isJsonObject(given) ? unwrapCall(given) : undefined;
  return inner === undefined || 'code' in inner ? spec : (chest.get(inner.name) ?? spec);
}

const LONGEST_TEXT = 200;

/** What a request says about its call besides name and arguments. What is malformed there is as if it were not said. */
function readCallOptions({ meta, tellProgress, ...asked }: AskedCall, signal: AbortSignal): CallOptions {
  const traceparent = meta.traceparent ?? asked.traceparent;
  return {
    door: 'mcp',
    park: true,
    signal,
    ...textOption(meta, 'conversation'),
    ...textOption(meta, 'turn'),
    ...textOption(meta, 'timeZone'),
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(tellProgress !== undefined && { onProgress: createProgress(tellProgress) }),
  };
}

function textOption(
  meta: Readonly<Record<string, unknown>>,
  name: 'conversation' | 'turn' | 'timeZone',
): Pick<CallOptions, 'conversation' | 'turn' | 'timeZone'> {
  const value = meta[`toolcrib/${name}`];
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT ? { [name]: value } : {};
}
