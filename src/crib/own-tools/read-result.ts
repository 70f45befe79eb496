import type { Caller } from '../../core/caller.ts';
import type { KeptResult, StoredResults } from '../../core/ports/stored-results.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, toolError } from '../../core/tool-error.ts';
import { done, type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { defineTool } from '../../define/define-tool.ts';
import { selectText, type TextPart } from './select-text.ts';

const count = (minimum: number, description: string) => ({ type: 'integer', minimum, description });

const INPUT = {
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 100, description: 'The id of the stored result.' },
    pointer: {
      type: 'string',
      maxLength: 2000,
      description: 'JSON Pointer to a part of the result, such as "/items/0".',
    },
    fromLine: count(1, 'The first line to show.'),
    toLine: count(1, 'The last line to show.'),
    grep: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'Show only lines that match this regular expression.',
    },
    offset: count(0, 'Number of characters to skip.'),
    length: { ...count(1, 'Number of characters to show; default 20000.'), maximum: 100_000 },
  },
  required: ['id'],
  additionalProperties: false,
} as const;

/** The tool `read_result`, which reads parts of large results stored for the caller. */
export function readResult(kept: StoredResults): ToolSpec {
  return defineTool({
    name: 'read_result',
    description:
      'Reads a part of a large stored result: by JSON pointer, lines, a regular expression, or a range of characters.',
    input: INPUT,
    effects: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    run: (input, call) => readPart(kept, input as { readonly id: string } & TextPart, call), // checked by its schema
  });
}

async function readPart(
  kept: StoredResults,
  { id, ...part }: { readonly id: string } & TextPart,
  call: ToolCall,
): Promise<ToolResult> {
  const found = await kept.get(id).catch((cause: unknown) => unreadable(cause));
  if (found !== undefined && 'error' in found) return found;
  // A result of another caller is reported as not found.
  if (found === undefined || !(call.caller.operator === true || found.owner === (call.caller.id ?? '')))
    return failed(
      toolError('tool_error', `The result "${id}" was not found; it may have expired. Call the tool again.`),
    );
  try {
    const { text, offset, total } = selectText(found, part);
    const rest = total - offset - text.length;
    return done(
      rest > 0 ? `${text}\n\n[${rest} more characters; continue with offset ${offset + text.length}.]` : text,
    );
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return failed(toolError('tool_error', cause.message, { cause }));
  }
}

function unreadable(cause: unknown): FailedResult {
  return failed(toolError('unavailable', 'Stored results are temporarily unavailable; try again later.', { cause }));
}

/** A stored large result, without its owner. */
export type ShownResult = Omit<KeptResult, 'owner'>;

/** The stored result of this id, for its owner or an operator; undefined for other callers. */
export async function readKeptResult(
  results: StoredResults | undefined,
  id: string,
  by: Caller,
): Promise<ShownResult | undefined> {
  const found = /^[\w-]{1,100}$/.test(id) ? await results?.get(id) : undefined;
  if (found === undefined || !(by.operator === true || found.owner === (by.id ?? ''))) return undefined;
  const { owner: _owner, ...shown } = found;
  return shown;
}
