import type { CallToolResult, Implementation } from '@modelcontextprotocol/server';
import type { PlainCall } from './plain-call.ts';

const RESULT_KEYS: readonly string[] = ['content', 'structuredContent', 'isError', '_meta'];

/**
 * The message that answers a plain call, as the protocol's package would write it. Undefined for a result that it would
 * look at more closely: a question, or content that is more than text.
 */
export function toPlainAnswer(
  result: CallToolResult,
  { era, id }: PlainCall,
  serverInfo: Implementation,
): string | undefined {
  if (!isPlainResult(result)) return undefined;
  if (era === 'legacy') return JSON.stringify({ result, jsonrpc: '2.0', id });
  const _meta = { ...result._meta, 'io.modelcontextprotocol/serverInfo': serverInfo };
  return JSON.stringify({ result: { ...result, resultType: 'complete', _meta }, jsonrpc: '2.0', id });
}

function isPlainResult(result: CallToolResult): boolean {
  const { _meta, structuredContent } = result;
  return (
    Object.keys(result).every((key) => RESULT_KEYS.includes(key)) &&
    result.content.every(isPlainText) &&
    !hasKey(_meta, 'progressToken') &&
    !hasKey(_meta, '__proto__') &&
    !hasKey(structuredContent, '__proto__')
  );
}

function isPlainText(part: CallToolResult['content'][number]): boolean {
  return part.type === 'text' && typeof part.text === 'string' && Object.keys(part).length === 2;
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
