import { defined } from '../../core/read-options.ts';
import { type SearchHit, toSearchAnswer } from '../../core/retriever.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolResult } from '../../core/tool-result.ts';
import { toSignature } from '../../formats/typescript.ts';
import type { InnerAnswer, InnerRequest, ScriptError, ScriptLimits } from './script-messages.ts';

/** An answer without its place. */
export type SentAnswer = Pick<InnerAnswer, 'isOk' | 'text'>;

/** Limit of hits of one search. */
const MOST_HITS = 20;

/** Makes a call or a search for a script. Never rejects: a failure is an error that the script can catch. */
export async function answerRequest(
  call: ToolCall,
  request: InnerRequest,
  limits: Pick<ScriptLimits, 'memoryMb'>,
): Promise<SentAnswer> {
  const { kind, name } = request;
  const input: unknown = JSON.parse(request.input); // made by JSON.stringify in the machine
  const answer = kind === 'search' ? await searchFor(call, name, input) : await callFor(call, name, input);
  // The machine needs the text and the parsed value at once; a larger text would only break it.
  const longest = (limits.memoryMb * 1_000_000) / 8;
  if ((answer.text?.length ?? 0) <= longest) return answer;
  const message = `The result of "${name}" has more than ${longest} characters, too many for a script with ${limits.memoryMb} MB of memory. Ask for less, or raise executors.script.memoryMb.`;
  return refused(toolError('too_large', message), name);
}

async function callFor(call: ToolCall, name: string, input: unknown): Promise<SentAnswer> {
  return toAnswer(await call.tools.call(name, input, { park: false }), name);
}

function toAnswer(result: ToolResult, name: string): SentAnswer {
  switch (result.status) {
    case 'failed':
      return refused(isWithoutApprover(result.error) ? mustAnswerAtOnce(name) : result.error, name);
    case 'waiting':
      return refused(mustAnswerAtOnce(name), name);
    case 'done':
      return { isOk: true, text: JSON.stringify(toValue(result)) };
  }
}

function isWithoutApprover({ cause }: ToolError): boolean {
  return cause instanceof ToolcribError && cause.code === 'no_approver';
}

function mustAnswerAtOnce(name: string): ToolError {
  const message = `"${name}" requires an answer first (an approval, or more input), and a script cannot wait for it: only an approver who is present can approve a call of a script. Call "${name}" directly.`;
  return toolError('denied', message);
}

/** The value of a call in a script: the data of the result, else its text, else its content as it is. */
function toValue({ data, content }: Extract<ToolResult, { readonly ok: true }>): unknown {
  if (data !== undefined) return data;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? texts.join('\n') : { content };
}

function refused(error: ToolError, tool: string): SentAnswer {
  const { code, message, retryable, retryAfterMs, issues } = error;
  const shown: ScriptError = { code, message, retryable, ...defined({ retryAfterMs, issues }), tool };
  return { isOk: false, text: JSON.stringify(shown) };
}

async function searchFor(call: ToolCall, words: string, given: unknown): Promise<SentAnswer> {
  const { limit = 5, expand = false } = (given ?? {}) as { readonly limit?: unknown; readonly expand?: unknown }; // checked next
  if (!Number.isInteger(limit) || typeof limit !== 'number' || limit < 1 || limit > MOST_HITS)
    return refused(
      toolError('invalid_input', `search: limit must be a whole number from 1 to ${MOST_HITS}.`),
      'search',
    );
  try {
    const { hits } = toSearchAnswer(await call.tools.search(words, { limit, expand: expand === true }));
    return { isOk: true, text: JSON.stringify(hits.map(toFound)) };
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return refused(toolError('invalid_input', messageOf(cause)), 'search');
  }
}

function toFound({ name, description, bundle, score, spec }: SearchHit) {
  return defined({ name, description, bundle, score: Math.round(score * 1000) / 1000, signature: toSignature(spec) });
}
