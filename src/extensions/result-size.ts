import type { ExtensionRecord } from '../config/records.ts';
import { isPromise } from '../core/json.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type Content, failed, type ToolResult } from '../core/tool-result.ts';

/** Refuses answers larger than policy allows, before anybody has to read them. */
export const resultSize: ExtensionRecord = {
  name: 'resultSize',
  priority: 280,
  reason: 'measures what the caller would get',
  make: () => ({
    applies: (spec) => spec.policy.maxResultBytes !== undefined,
    wrap(call, next) {
      const result = next(call);
      return isPromise(result) ? result.then((settled) => judge(call, settled)) : judge(call, result);
    },
  }),
};

function judge(call: ToolCall, result: ToolResult): ToolResult {
  if (result.status === 'waiting') return result;
  const { maxResultBytes = Number.POSITIVE_INFINITY } = call.spec.policy;
  // Text usually says what data holds, so the larger of the two is what the caller has to take.
  const shown = (result.content ?? []).reduce((sum, part) => sum + bytesOf(part), 0);
  const bytes = Math.max(shown, result.data === undefined ? 0 : Buffer.byteLength(JSON.stringify(result.data)));
  if (bytes <= maxResultBytes) return result;
  const message = `"${call.spec.name}" answered ${bytes} bytes, more than the ${maxResultBytes} allowed; ask for less.`;
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
