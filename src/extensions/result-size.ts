import type { ExtensionRecord } from '../config/records.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type Content, failed, type ToolResult } from '../core/tool-result.ts';

/** Refuses results larger than the policy allows. */
export const resultSize: ExtensionRecord = {
  name: 'resultSize',
  priority: 280,
  reason: 'measures the result that the caller would get',
  make: () => ({
    applies: (spec) => spec.policy.maxResultBytes !== undefined,
    wrap: (call, next) => afterwards(next(call), (result) => judge(call, result)),
  }),
};

function judge(call: ToolCall, result: ToolResult): ToolResult {
  if (result.status === 'waiting') return result;
  const { maxResultBytes = Number.POSITIVE_INFINITY } = call.spec.policy;
  // The text usually repeats the data, so the larger of the two counts.
  const shown = (result.content ?? []).reduce((sum, part) => sum + bytesOf(part), 0);
  const bytes = Math.max(shown, result.data === undefined ? 0 : Buffer.byteLength(JSON.stringify(result.data)));
  if (bytes <= maxResultBytes) return result;
  const message = `"${call.spec.name}" returned ${bytes} bytes, and at most ${maxResultBytes} are allowed. Ask for less.`;
  return failed(toolError('too_large', message));
}

function bytesOf(part: Content): number {
  switch (part.type) {
    case 'text':
      return Buffer.byteLength(part.text);
    case 'image':
    case 'audio':
      return part.data.length;
    case 'resource':
      return Buffer.byteLength(part.resource.text ?? part.resource.blob ?? '');
    case 'resource_link':
      return part.uri.length;
  }
}
