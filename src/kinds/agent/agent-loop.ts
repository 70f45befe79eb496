import type { JsonObject } from '../../core/json.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { toolError } from '../../core/tool-error.ts';
import type { CallAnswer } from '../../core/tool-result.ts';
import type { Ledger, Passed } from './agent-limits.ts';
import { type AgentTools, mapAtMost } from './agent-tools.ts';
import type { ModelCall, ModelReply } from './model-api.ts';
import type { ModelClient } from './model-client.ts';
import type { Endpoint } from './model-exchange.ts';

/** An agent whose model answers over an API. */
export interface AgentLoop {
  /** A fork of the call, which ends with the agent. */
  readonly call: ToolCall;
  readonly endpoint: Endpoint;
  readonly client: ModelClient;
  readonly tools: AgentTools;
  readonly ledger: Ledger;
  readonly prompt: string;
  readonly instructions: string;
  readonly retries: number;
}

/** The answer of an agent, or the reason why it has none. */
export type LoopEnd = { readonly answer: string } | Passed;

/** Asks the model and makes its calls until it answers. Throws a `ModelFailure`, or the reason of an abort. */
export async function runLoop(loop: AgentLoop): Promise<LoopEnd> {
  const { call, endpoint, client, tools, ledger, instructions, retries } = loop;
  const { api, model, isStreamed, maxOutputTokens, parameters } = endpoint;
  const { maxResultChars, requestTimeoutMs } = ledger.limits;
  const { signal, traceparent } = call;
  const shown = tools.shown();
  const messages: JsonObject[] = [api.firstMessage(loop.prompt)];
  for (;;) {
    const over = ledger.beginStep();
    if (over !== undefined) return over;
    const request = { model, instructions, messages, tools: shown, isStreamed, maxOutputTokens, parameters };
    const asked = { name: call.spec.name, signal, timeoutMs: requestTimeoutMs, retries, traceparent };
    const reply = await client.ask(endpoint, request, asked);
    if (signal.aborted) throw signal.reason;
    if (reply.usage !== undefined) ledger.spend(reply.usage);
    report(loop, reply);
    const end = endOf(reply, loop);
    if (end !== undefined) return end;
    messages.push(reply.message);
    if (reply.calls.length === 0) continue; // a pause
    const tooMany = ledger.beginCalls(reply.calls.length);
    if (tooMany !== undefined) return tooMany;
    const answers = await mapAtMost(reply.calls, ledger.limits.parallelCalls, (one) => answerOf(one, loop));
    if (signal.aborted) throw signal.reason;
    messages.push(...api.resultMessages(answers, (text) => cut(text, maxResultChars)));
  }
}

async function answerOf({ id, name, input }: ModelCall, { tools, call }: AgentLoop): Promise<CallAnswer> {
  if (call.signal.aborted) throw call.signal.reason;
  return { id, name, result: await tools.call(name, input) };
}

function endOf({ stop, text }: ReplyParts, { call, client }: AgentLoop): LoopEnd | undefined {
  const { name } = call.spec;
  const said = text.trim() === '' ? '' : ` It said: ${cut(client.redact(text), MOST_QUOTED)}`;
  switch (stop) {
    case 'answer':
      if (text.trim() !== '') return { answer: text };
      return { ending: 'output', error: toolError('tool_error', `The model of "${name}" ended without an answer.`) };
    case 'refusal':
      return { ending: 'refusal', error: toolError('tool_error', `The model of "${name}" refused the task.${said}`) };
    case 'length': {
      const message = `The answer of the model of "${name}" was cut at its longest length, so it is not complete. Ask for a shorter answer, or let the operator raise maxOutputTokens.`;
      return { ending: 'length', error: toolError('too_large', message) };
    }
    default:
      return undefined;
  }
}

type ReplyParts = Pick<ModelReply, 'stop' | 'text'>;

const MOST_QUOTED = 500;
const MOST_NAMES = 8;
const LONGEST_NAME = 64;

/** Reports a step: its number, and what the model does. */
function report({ call, ledger, client }: AgentLoop, { calls, stop }: ModelReply): void {
  const { steps } = ledger.spent();
  // Redact before cutting: a part of a secret would not be recognized.
  const names = calls.slice(0, MOST_NAMES).map(({ name }) => client.redact(name).slice(0, LONGEST_NAME));
  const more = calls.length > names.length ? ` and ${calls.length - names.length} more` : '';
  const does = calls.length === 0 || stop === 'length' ? stop : `calls ${names.join(', ')}${more}`;
  call.report({ progress: steps, total: ledger.limits.maxSteps, message: `Step ${steps}: ${does}` });
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… [cut: the first ${most} of ${text.length} characters]`;
}
