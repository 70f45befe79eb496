import type { ServerContext } from '@modelcontextprotocol/server';
import type { CallOptions } from '../../crib/call.ts';
import { createProgress } from './progress.ts';

const LONGEST_TEXT = 200;

/** What a request says about its call besides name and arguments. What is malformed there is as if it were not said. */
export function readCallOptions({ mcpReq, http }: ServerContext, signal: AbortSignal): CallOptions {
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  const token = mcpReq._meta?.progressToken;
  const traceparent = meta.traceparent ?? http?.req?.headers.get('traceparent');
  return {
    door: 'mcp',
    park: true,
    signal,
    ...textOption(meta, 'conversation'),
    ...textOption(meta, 'turn'),
    ...textOption(meta, 'timeZone'),
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(token !== undefined && {
      onProgress: createProgress((note) => {
        const params = { ...note, progressToken: token };
        // Whoever is gone misses nothing: the call is cancelled by its signal.
        mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
      }),
    }),
  };
}

function textOption(
  meta: Readonly<Record<string, unknown>>,
  name: 'conversation' | 'turn' | 'timeZone',
): Pick<CallOptions, 'conversation' | 'turn' | 'timeZone'> {
  const value = meta[`toolcrib/${name}`];
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT ? { [name]: value } : {};
}
