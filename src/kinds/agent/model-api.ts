import { isRecord, type JsonObject } from '../../core/json.ts';
import type { AgentUsage } from '../../core/ports/host-agent.ts';
import type { CallRequest } from '../../core/tool-call.ts';
import type { CallAnswer } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';

/** A call of a model, with an id that no other call of the same reply has. */
export type ModelCall = CallRequest & { readonly id: string };

/** One reply of a model. */
export interface ModelReply {
  /** The message for the next request, in the form of the API. */
  readonly message: JsonObject;
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** Why the model stopped. `pause`: it wants to go on. */
  readonly stop: 'answer' | 'calls' | 'length' | 'refusal' | 'pause';
  readonly usage: AgentUsage | undefined;
}

/** The parts of a request that change from agent to agent. */
export interface ModelRequest {
  readonly model: string;
  readonly instructions: string;
  readonly messages: readonly JsonObject[];
  readonly tools: readonly ToolSpec[];
  readonly isStreamed: boolean;
  readonly maxOutputTokens: number | undefined;
  readonly parameters: JsonObject;
}

/** One API of models. Replies are read as from a stranger: every member may have any form. */
export interface ModelApi {
  readonly baseUrl: string;
  addressOf(baseUrl: URL): URL;
  headersOf(key: string | undefined): Readonly<Record<string, string>>;
  /** Throws a `ToolcribError` if the API accepts no such tools. */
  bodyOf(request: ModelRequest, address: URL): JsonObject;
  /** Joins the events of a stream to a whole reply. Throws a `BadReply`. */
  join(events: AsyncIterable<string>): Promise<unknown>;
  /** Throws a `BadReply`. */
  read(reply: unknown): ModelReply;
  /** The first message, and the messages with the results of calls. */
  firstMessage(prompt: string): JsonObject;
  resultMessages(answers: readonly CallAnswer[], cut: (text: string) => string): readonly JsonObject[];
}

/** A reply that is not one of the API, that broke off, or that is an error in the middle of a stream. */
export class BadReply extends Error {
  readonly said: ModelError | undefined;
  constructor(message: string, said?: ModelError) {
    super(message);
    this.name = 'BadReply';
    this.said = said;
  }
}

/** The error in a reply, in the words of the server. */
export interface ModelError {
  readonly type: string;
  readonly message: string;
}

/** The error in a body or an event; undefined if it has none. */
export function errorIn(body: unknown): ModelError | undefined {
  if (!isRecord(body)) return undefined;
  const { error } = body;
  if (typeof error === 'string') return { type: '', message: error };
  if (!isRecord(error)) return undefined;
  const { type, code, message } = error;
  return { type: [code, type].filter((part) => typeof part === 'string').join(' '), message: textOr(message, '') };
}

/** The text, or something else if it is not one. */
export function textOr(value: unknown, other: string): string {
  return typeof value === 'string' ? value : other;
}

/** The records among the entries of a list. */
export function recordsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

const MAX_DEPTH = 200;

/** True for JSON that is nested so deeply that it cannot be written again. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((one) => isTooDeep(one, depth + 1));
}

/** Parses an event of a stream. */
export function parseEvent(text: string): Readonly<Record<string, unknown>> {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw new BadReply('an event of its stream is not JSON');
  }
  if (!isRecord(event)) throw new BadReply('an event of its stream is not an object');
  if (isTooDeep(event)) throw new BadReply('an event of its stream is nested too deeply');
  const said = errorIn(event);
  if (said !== undefined) throw new BadReply('its stream ended with an error', said);
  return event;
}

/** The calls of a reply. Arguments that are nested too deeply stay a text, which no tool accepts. */
export function acceptable<T extends CallRequest>(calls: readonly T[]): readonly T[] {
  return calls.map((call) => (isTooDeep(call.input) ? { ...call, input: 'nested too deeply' } : call));
}

/** An id for each call: its own if no earlier call of the reply has it. */
export function distinctIds(given: readonly unknown[]): readonly string[] {
  const ids = new Set<string>();
  return given.map((own, index) => {
    let id = typeof own === 'string' && /^[\w.:-]{1,200}$/.test(own) ? own : `call_${index}`;
    while (ids.has(id)) id = `${id}_${index}`;
    ids.add(id);
    return id;
  });
}

/** Yields the data of server-sent events. */
export async function* eventsIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [rest, last] = ['', ''];
  let data: string[] = [];
  for await (const chunk of chunks) {
    const text = last + decoder.decode(chunk, { stream: true });
    last = text.endsWith('\r') ? '\r' : ''; // perhaps the first half of a line end
    // Only what is new is searched: a line may come in many pieces.
    const [first = '', ...lines] = text.slice(0, text.length - last.length).split(/\r\n|\n|\r/);
    lines.unshift(rest + first);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    }
  }
  // Some servers end without the last empty line.
  if (rest.startsWith('data:')) data.push(rest.slice(rest[5] === ' ' ? 6 : 5).trimEnd());
  if (data.length > 0) yield data.join('\n');
}
