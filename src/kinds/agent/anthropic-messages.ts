import { isRecord, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { AgentUsage } from '../../core/ports/host-agent.ts';
import { withoutEnd } from '../../core/visible-text.ts';
import { fromAnthropicCalls, toAnthropic, toAnthropicResults } from '../../formats/anthropic.ts';
import { parseArguments } from '../../formats/vendor-messages.ts';
import {
  BadReply,
  distinctIds,
  isTooDeep,
  type ModelApi,
  type ModelReply,
  parseEvent,
  recordsIn,
  textOr,
} from './model-api.ts';

type Members = Readonly<Record<string, unknown>>;

const USUAL_OUTPUT_TOKENS = 8192;

/** The messages API of Anthropic, and of servers that speak it. */
export const anthropicMessages: ModelApi = {
  baseUrl: 'https://api.anthropic.com',
  addressOf({ href }) {
    const base = withoutEnd(href, /\//);
    return new URL(base.endsWith('/v1') ? `${base}/messages` : `${base}/v1/messages`);
  },
  headersOf: (key) => ({ 'anthropic-version': '2023-06-01', ...(key !== undefined && { 'x-api-key': key }) }),
  bodyOf: ({ model, instructions, messages, tools, isStreamed, maxOutputTokens, parameters }) => ({
    ...parameters,
    model,
    system: instructions,
    messages,
    max_tokens: maxOutputTokens ?? USUAL_OUTPUT_TOKENS,
    ...(tools.length > 0 && { tools: toAnthropic(tools) as unknown as JsonValue }), // interfaces without an index signature
    ...(isStreamed && { stream: true }),
  }),
  join: joinEvents,
  read(reply) {
    if (!isRecord(reply) || !Array.isArray(reply.content)) throw new BadReply('it has no content');
    const blocks = withIds(recordsIn(reply.content));
    const asked = fromAnthropicCalls({ content: blocks });
    const calls = asked.map((call) => ({ ...call, id: call.id ?? '' }));
    const text = blocks.map((block) => (block.type === 'text' ? textOr(block.text, '') : '')).join('');
    return {
      message: { role: 'assistant', content: blocks.filter(isAccepted).map(toAnswered) },
      text,
      calls,
      stop: stopOf(reply.stop_reason, calls.length > 0),
      usage: usageOf(reply.usage),
    };
  },
  firstMessage: (prompt) => ({ role: 'user', content: prompt }),
  resultMessages(answers, cut) {
    const results = toAnthropicResults(answers).map(({ content, ...result }) => ({
      ...result,
      ...(content && {
        content: content.map((part) => (part.type === 'text' ? { ...part, text: cut(part.text) } : part)),
      }),
    }));
    return [{ role: 'user', content: results as unknown as JsonValue }]; // interfaces without an index signature
  },
};

function withIds(blocks: readonly Members[]): readonly Members[] {
  const ids = distinctIds(blocks.map((block) => block.id));
  return blocks.map((block, index) => (block.type === 'tool_use' ? { ...block, id: ids[index] } : block));
}

/** The API refuses empty texts in messages. */
function isAccepted({ type, text }: Members): boolean {
  return type !== 'text' || textOr(text, '').trim() !== '';
}

/** The API accepts only objects as arguments. */
function toAnswered(block: Members): JsonObject {
  const { input, ...rest } = block as JsonObject; // parsed from JSON
  return block.type === 'tool_use' ? { ...rest, input: isRecord(input) ? input : {} } : (block as JsonObject); // likewise
}

function stopOf(reason: unknown, hasCalls: boolean): ModelReply['stop'] {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'refusal') return 'refusal';
  if (hasCalls) return 'calls';
  return reason === 'pause_turn' ? 'pause' : 'answer';
}

function usageOf(usage: unknown): AgentUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const { input_tokens: input, output_tokens: output } = usage;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  const [written, cached] = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens].map(countOf);
  const all = Math.max(0, input) + (written ?? 0) + (cached ?? 0);
  if (all <= 0 || input < 0) return undefined; // not counted
  return { inputTokens: all, outputTokens: output, cachedInputTokens: cached ?? 0 };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

async function joinEvents(events: AsyncIterable<string>): Promise<unknown> {
  const blocks = new Map<unknown, Map<string, unknown>>();
  const usage = new Map<string, unknown>();
  const count = (counted: unknown): void => {
    for (const [name, value] of Object.entries(members(counted))) usage.set(name, value);
  };
  let stop: unknown;
  for await (const text of events) {
    const event = parseEvent(text);
    if (event.type === 'message_stop') break;
    if (event.type === 'message_start') count(members(event.message).usage);
    if (event.type === 'content_block_start')
      blocks.set(event.index, new Map(Object.entries(members(event.content_block))));
    if (event.type === 'content_block_delta') addDelta(blocks.get(event.index), members(event.delta));
    if (event.type !== 'message_delta') continue;
    stop = members(event.delta).stop_reason ?? stop;
    count(event.usage);
  }
  if (stop === undefined) throw new BadReply('its stream broke off');
  return { content: [...blocks.values()].map(toBlock), stop_reason: stop, usage: Object.fromEntries(usage) };
}

function members(value: unknown): Members {
  return isRecord(value) ? value : {};
}

/** The member of a block that a piece belongs to. */
const PIECES: Readonly<Record<string, readonly [member: string, piece: string]>> = {
  text_delta: ['text', 'text'],
  input_json_delta: ['json', 'partial_json'],
  thinking_delta: ['thinking', 'thinking'],
  signature_delta: ['signature', 'signature'],
};

function addDelta(block: Map<string, unknown> | undefined, delta: Members): void {
  const type = textOr(delta.type, '');
  const [member, piece] = (Object.hasOwn(PIECES, type) && PIECES[type]) || [];
  if (block === undefined || member === undefined || piece === undefined) return;
  block.set(member, textOr(block.get(member), '') + textOr(delta[piece], ''));
}

function toBlock(block: Map<string, unknown>): Members {
  const { json, ...rest } = Object.fromEntries(block);
  if (rest.type !== 'tool_use') return rest;
  const input = json === undefined ? rest.input : parseArguments(json);
  return { ...rest, input: isTooDeep(input) ? json : input };
}
