import type { CallOptions } from '../../call/call.ts';
import type { AskedCall } from './asked-call.ts';
import { createProgress } from './progress.ts';

const LONGEST_TEXT = 200;

/** What a request says about its call besides name and arguments. What is malformed there is as if it were not said. */
export function readCallOptions({ meta, tellProgress, ...asked }: AskedCall, signal: AbortSignal): CallOptions {
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
