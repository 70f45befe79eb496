import type { Caller } from '../core/caller.ts';
import type { KeptResult, StoredResults } from '../core/ports/stored-results.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, toolError } from '../core/tool-error.ts';
import { done, type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { defineTool } from '../define/define-tool.ts';
import { selectText, type TextPart } from './select-text.ts';

const count = (minimum: number, description: string) => ({ type: 'integer', minimum, description });

const INPUT = {
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 100, description: 'The name the result is kept under.' },
    pointer: { type: 'string', maxLength: 2000, description: 'JSON Pointer to a part of it, such as "/items/0".' },
    fromLine: count(1, 'The first line to show.'),
    toLine: count(1, 'The last line to show.'),
    grep: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'Show only lines that match this regular expression.',
    },
    offset: count(0, 'How many characters to skip.'),
    length: { ...count(1, 'How many characters to show; 20000 if absent.'), maximum: 100_000 },
  },
  required: ['id'],
  additionalProperties: false,
} as const;

/** `read_result`, which reads parts of large results that were kept for the caller. */
export function readResult(kept: StoredResults): ToolSpec {
  return defineTool({
    name: 'read_result',
    description:
      'Reads a part of a result that was too large to be shown whole: by JSON pointer, lines, a regular expression, or a range of characters.',
    input: INPUT,
    effects: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    run: (input, call) => readPart(kept, input as { readonly id: string } & TextPart, call), // as its schema demands
  });
}

async function readPart(
  kept: StoredResults,
  { id, ...part }: { readonly id: string } & TextPart,
  call: ToolCall,
): Promise<ToolResult> {
  const found = await kept.get(id).catch((cause: unknown) => unreadable(cause));
  if (found !== undefined && 'error' in found) return found;
  // Somebody else's result is answered like one that never was.
  if (found === undefined || !(call.caller.operator === true || found.owner === (call.caller.id ?? '')))
    return failed(toolError('tool_error', `There is no result "${id}"; it may have expired. Call the tool again.`));
  try {
    const { text, offset, total } = selectText(found, part);
    const rest = total - offset - text.length;
    return done(rest > 0 ? `${text}\n\n[${rest} more characters; go on with offset ${offset + text.length}.]` : text);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return failed(toolError('tool_error', cause.message, { cause }));
  }
}

function unreadable(cause: unknown): FailedResult {
  return failed(toolError('unavailable', 'Kept results cannot be read at the moment; try again later.', { cause }));
}

/** A large result as it was kept. */
export type ShownResult = Omit<KeptResult, 'owner'>;

/** The kept result of this id, for its owner or an operator. Somebody else's is answered like one that never was. */
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
