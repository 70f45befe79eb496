import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { ObjectSchema } from './object-schema.ts';
import { requireExportable, toParameters } from './openai-parameters.ts';
import { entriesOf, memberOf, parseArguments, toRequest } from './read-calls.ts';
import { plainTextOf } from './result-parts.ts';
import { shorten } from './vendor-limits.ts';

export {
  fromOpenAIResponsesCalls,
  type OpenAIResponsesContent,
  type OpenAIResponsesOutput,
  type OpenAIResponsesTool,
  type OpenAIToolSearch,
  type OpenAIToolSearchOutput,
  toOpenAIResponses,
  toOpenAIResponsesResults,
} from './openai-responses.ts';

// OpenAI's newest models take more, Azure and the many services that speak this protocol refuse the whole request.
const MAX_CHAT_DESCRIPTION = 1024;

/** A tool of the chat completions API. */
export interface OpenAITool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ObjectSchema };
}

/** The message that answers one call in the chat completions API. */
export interface OpenAIToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

/** Definitions for `tools` of `chat.completions.create`. */
export function toOpenAI(specs: readonly ToolSpec[]): OpenAITool[] {
  requireExportable(specs);
  return specs.map(({ name, description, input }) => ({
    type: 'function',
    function: { name, description: shorten(description, MAX_CHAT_DESCRIPTION), parameters: toParameters(input) },
  }));
}

/** The calls of an assistant message, or of a whole chat completion. */
export function fromOpenAICalls(message: unknown): CallRequest[] {
  const said = memberOf(entriesOf(memberOf(message, 'choices'))[0], 'message') ?? message;
  return entriesOf(memberOf(said, 'tool_calls')).map((call) => {
    const id = memberOf(call, 'id');
    const custom = memberOf(call, 'custom'); // never offered by us, yet each call needs its answer
    if (custom !== undefined) return toRequest(id, memberOf(custom, 'name'), memberOf(custom, 'input'));
    const asked = memberOf(call, 'function');
    return toRequest(id, memberOf(asked, 'name'), parseArguments(memberOf(asked, 'arguments')));
  });
}

/** The messages that answer those calls; there is no flag for failures, so the text says what went wrong. */
export function toOpenAIResults(answers: readonly CallAnswer[]): OpenAIToolMessage[] {
  return answers.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: plainTextOf(result) }));
}
