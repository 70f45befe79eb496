import { isRecord, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { AgentUsage } from '../../core/ports/host-agent.ts';
import { withoutEnd } from '../../core/visible-text.ts';
import { fromOpenAICalls, toOpenAI, toOpenAIResults } from '../../formats/openai.ts';
import { keepDigits } from '../../system/exact-json.ts';
import {
  acceptable,
  BadReply,
  distinctIds,
  type ModelApi,
  type ModelCall,
  type ModelReply,
  parseEvent,
  recordsIn,
  textOr,
} from './model-api.ts';

type Members = Readonly<Record<string, unknown>>;

/** Chat completions of OpenAI, and of the many servers that speak the same API. */
export const openaiChat: ModelApi = {
  baseUrl: 'https://api.openai.com/v1',
  addressOf: (baseUrl) => new URL(`${withoutEnd(baseUrl.href, /\//)}/chat/completions`),
  headersOf: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  bodyOf({ model, instructions, messages, tools, isStreamed, maxOutputTokens, parameters }, { hostname }) {
    // OpenAI's newer models refuse max_tokens; other servers know nothing else.
    const limit = /(^|\.)(openai\.com|azure\.com)$/.test(hostname) ? 'max_completion_tokens' : 'max_tokens';
    return {
      ...parameters,
      model,
      messages: [{ role: 'system', content: instructions }, ...messages],
      ...(tools.length > 0 && { tools: toOpenAI(tools) as unknown as JsonValue }), // interfaces without an index signature
      ...(maxOutputTokens !== undefined && { [limit]: maxOutputTokens }),
      ...(isStreamed && { stream: true, stream_options: { include_usage: true } }),
    };
  },
  join: joinChunks,
  read(reply) {
    const [choice] = recordsIn(isRecord(reply) ? reply.choices : undefined);
    const message = choice?.message;
    if (!isRecord(reply) || choice === undefined || !isRecord(message)) throw new BadReply('it has no message');
    const calls = callsOf(message);
    return {
      message: toAnswered(message, calls),
      text: textOf(message.content),
      calls,
      stop: stopOf(choice, message, calls),
      usage: usageOf(reply.usage),
    };
  },
  firstMessage: (prompt) => ({ role: 'user', content: prompt }),
  resultMessages: (answers, cut) =>
    toOpenAIResults(answers).map(({ content, ...message }) => ({ ...message, content: cut(content) })),
};

function callsOf(message: Members): readonly ModelCall[] {
  const asked = acceptable(fromOpenAICalls({ tool_calls: recordsIn(message.tool_calls) }));
  const ids = distinctIds(asked.map(({ id }) => id));
  return asked.map((call, index) => ({ ...call, id: ids[index] ?? '' }));
}

/** The message of the model as it is sent back: with distinct ids, and arguments that are JSON objects, which some servers insist on. */
function toAnswered(message: Members, calls: readonly ModelCall[]): JsonObject {
  const { tool_calls, ...rest } = message as JsonObject; // parsed from JSON
  const said = { ...rest, role: 'assistant', content: rest.content ?? null };
  if (calls.length === 0) return said;
  const sent = recordsIn(tool_calls).map((given, index) => {
    const { name = '', input, id = '' } = calls[index] ?? {};
    const { custom: _custom, ...call } = given as JsonObject; // likewise
    return {
      ...call,
      id,
      type: 'function',
      function: { name, arguments: isRecord(input) ? JSON.stringify(input, keepDigits) : '{}' },
    };
  });
  return { ...said, tool_calls: sent };
}

/** Texts, or the text parts of a list. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return recordsIn(content)
    .map((part) => textOr(part.text, ''))
    .join('');
}

function stopOf(choice: Members, message: Members, calls: readonly ModelCall[]): ModelReply['stop'] {
  if (choice.finish_reason === 'length') return 'length';
  if (choice.finish_reason === 'content_filter' || textOr(message.refusal, '') !== '') return 'refusal';
  return calls.length > 0 ? 'calls' : 'answer';
}

function usageOf(usage: unknown): AgentUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = usage;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  const cached = isRecord(details) ? details.cached_tokens : undefined;
  if (input <= 0) return undefined; // not counted
  return { inputTokens: input, outputTokens: output, ...(typeof cached === 'number' && { cachedInputTokens: cached }) };
}

async function joinChunks(events: AsyncIterable<string>): Promise<unknown> {
  const message = new Map<string, unknown>();
  const calls = new Map<unknown, StreamedCall>();
  let [finish, usage]: [unknown, unknown] = [undefined, undefined];
  for await (const text of events) {
    if (text === '[DONE]') break;
    const chunk = parseEvent(text);
    usage = chunk.usage ?? usage;
    const [choice] = recordsIn(chunk.choices);
    if (choice === undefined) continue;
    finish = choice.finish_reason ?? finish;
    if (isRecord(choice.delta)) addDelta(choice.delta, message, calls);
  }
  if (finish === undefined) throw new BadReply('its stream broke off');
  const tool_calls = [...calls.values()].map(({ members, asked }) => ({
    ...Object.fromEntries(members),
    ...(asked.size > 0 && { function: Object.fromEntries(asked) }),
  }));
  const whole = { ...Object.fromEntries(message), ...(tool_calls.length > 0 && { tool_calls }) };
  return { choices: [{ message: whole, finish_reason: finish }], usage };
}

/** A call that comes in pieces. They are joined at the end: a copy for each piece would cost the square of their number. */
interface StreamedCall {
  readonly members: Map<string, unknown>;
  /** Its `function`. */
  readonly asked: Map<string, unknown>;
}

function addDelta(
  { tool_calls, ...delta }: Members,
  message: Map<string, unknown>,
  calls: Map<unknown, StreamedCall>,
): void {
  add(message, delta);
  for (const { index, function: part, ...rest } of recordsIn(tool_calls)) {
    // A server that numbers no calls sends each as a whole.
    const key = index ?? rest.id ?? calls.size;
    const call = calls.get(key) ?? { members: new Map(), asked: new Map() };
    calls.set(key, call);
    for (const [name, value] of Object.entries(rest)) call.members.set(name, value);
    if (isRecord(part)) add(call.asked, part);
  }
}

/** Texts come in pieces; other members are whole. */
function add(to: Map<string, unknown>, delta: Members): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = to.get(name);
    if (value === null || value === undefined) continue;
    to.set(name, typeof value === 'string' && typeof before === 'string' && name !== 'role' ? before + value : value);
  }
}
