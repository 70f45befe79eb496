import type { ExtensionRecord } from '../config/records.ts';
import { isRecord } from '../core/json.ts';
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
  const { content = [], data, meta } = result;
  const shown = content.reduce((sum, part) => sum + partBytes(part), 0);
  // The text usually repeats the data, so the larger of the two counts.
  const bytes = Math.max(shown, data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data))) + bytesOf(meta);
  if (bytes <= maxResultBytes) return result;
  const message = `"${call.spec.name}" returned ${bytes} bytes, and at most ${maxResultBytes} are allowed. Ask for less.`;
  return failed(toolError('too_large', message));
}

/** Plain text counts as it is, every other part with all of its members: a server chooses their names and sizes. */
function partBytes(part: Content): number {
  return part.type === 'text' && Object.keys(part).length === 2 ? Buffer.byteLength(part.text) : bytesOf(part);
}

/** The bytes of all names and texts in a value. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + bytesOf(item), value.length);
  if (!isRecord(value)) return value === undefined ? 0 : String(value).length;
  return Object.entries(value).reduce((sum, [name, member]) => sum + Buffer.byteLength(name) + bytesOf(member), 0);
}
