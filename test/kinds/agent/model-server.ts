import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A call of the model. Arguments as text are sent as they are. */
interface Wanted {
  readonly name: string;
  readonly input?: unknown;
  readonly id?: string;
}

/** The next reply of the model. */
export type Move =
  | string
  | {
      readonly text?: string;
      readonly calls?: readonly Wanted[];
      /** `finish_reason` or `stop_reason`, if it is not the usual one. */
      readonly stop?: string;
      readonly refusal?: string;
      readonly usage?: object | null;
    }
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { raw(response: ServerResponse): void };

// biome-ignore lint/suspicious/noExplicitAny: requests of two APIs, which tests look into
type Body = any;

/** A request that came. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** The texts of tool results so far. */
  readonly results: readonly string[];
}

export interface ModelServer {
  /** With /v1. */
  readonly url: string;
  readonly host: string;
  readonly asked: readonly Asked[];
  /** Decides about the replies from now on; a list is played in order, and its last entry repeated. */
  play(moves: readonly Move[] | ((asked: Asked, index: number) => Move)): void;
  /** Resolves when so many requests have come. */
  came(count: number): Promise<void>;
  /** Resolves when no request is open. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server that speaks chat completions at /v1/chat/completions and messages at /v1/messages, streamed where asked. */
export async function startModelServer(): Promise<ModelServer> {
  let next: (asked: Asked, index: number) => Move = () => 'fine';
  let asked: Asked[] = [];
  let open = 0;
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    open++;
    response.on('close', () => {
      open--;
      server.emit('gone');
    });
    const body: Body = await json(request);
    const one = { path, headers, body, results: resultsIn(body) };
    asked.push(one);
    server.emit('asked');
    const move = next(one, asked.length - 1);
    if (typeof move === 'object' && 'raw' in move) return move.raw(response);
    if (typeof move === 'object' && 'status' in move) {
      response.writeHead(move.status, { 'content-type': 'application/json', ...move.headers });
      return void response.end(typeof move.body === 'string' ? move.body : JSON.stringify(move.body ?? {}));
    }
    const said = typeof move === 'string' ? { text: move } : move;
    const isOpenAI = path.endsWith('/chat/completions');
    if (body.stream === true) return stream(response, isOpenAI ? openaiEvents(said) : anthropicEvents(said), isOpenAI);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isOpenAI ? openaiReply(said) : anthropicReply(said)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  return {
    url: `http://${host}/v1`,
    host,
    get asked() {
      return asked;
    },
    play(moves) {
      asked = [];
      next = typeof moves === 'function' ? moves : (_, index) => moves[Math.min(index, moves.length - 1)] ?? 'fine';
    },
    async came(count) {
      while (asked.length < count) await once(server, 'asked');
    },
    async idle() {
      while (open > 0) await once(server, 'gone');
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function resultsIn({ messages = [] }: Body): readonly string[] {
  return messages.flatMap(({ role, content }: Body) => {
    if (role === 'tool') return [content];
    if (!Array.isArray(content)) return [];
    return content
      .filter((part: Body) => part.type === 'tool_result')
      .map((part: Body) => part.content?.[0]?.text ?? '');
  });
}

type Said = Exclude<Move, string | { readonly status: number } | { raw(response: ServerResponse): void }>;

const argumentsOf = ({ input = {} }: Wanted) => (typeof input === 'string' ? input : JSON.stringify(input));
const idOf = ({ id }: Wanted, index: number) => id ?? `call_${index}`;
const usageOf = ({ usage }: Said, usual: object) => (usage === null ? {} : { usage: usage ?? usual });
const OPENAI_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const ANTHROPIC_USAGE = { input_tokens: 10, output_tokens: 5 };

function openaiReply(said: Said): object {
  const { text = null, calls = [], stop, refusal } = said;
  const tool_calls = calls.map((call, index) => ({
    id: idOf(call, index),
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const message = {
    role: 'assistant',
    content: text,
    ...(calls.length > 0 && { tool_calls }),
    ...(refusal && { refusal }),
  };
  const finish_reason = stop ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  return {
    id: 'x',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason }],
    ...usageOf(said, OPENAI_USAGE),
  };
}

function openaiEvents(said: Said): readonly object[] {
  const { text = '', calls = [], stop, refusal } = said;
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const pieces = calls.flatMap((call, index) => {
    const given = argumentsOf(call);
    const half = Math.ceil(given.length / 2);
    const first = { index, id: idOf(call, index), type: 'function', function: { name: call.name, arguments: '' } };
    const parts = [given.slice(0, half), given.slice(half)].map((part) => ({ index, function: { arguments: part } }));
    return [first, ...parts].map((part) => chunk({ tool_calls: [part] }));
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(text.match(/.{1,7}/gs) ?? []).map((content) => chunk({ content })),
    ...(refusal === undefined ? [] : [chunk({ refusal })]),
    ...pieces,
    chunk({}, stop ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    { choices: [], ...usageOf(said, OPENAI_USAGE) },
  ];
}

function blocksOf({ text = '', calls = [] }: Said): readonly Body[] {
  const uses = calls.map((call, index) => ({
    type: 'tool_use',
    id: idOf(call, index),
    name: call.name,
    input: call.input ?? {},
  }));
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...uses];
}

const stopOf = ({ stop, calls = [] }: Said) => stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');

function anthropicReply(said: Said): object {
  return {
    type: 'message',
    role: 'assistant',
    content: blocksOf(said),
    stop_reason: stopOf(said),
    ...usageOf(said, ANTHROPIC_USAGE),
  };
}

function anthropicEvents(said: Said): readonly object[] {
  const blocks = blocksOf(said).flatMap((block, index) => {
    const start = block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} };
    const whole = block.type === 'text' ? block.text : argumentsOf(block);
    const deltas = (whole.match(/.{1,9}/gs) ?? []).map((piece: string) =>
      block.type === 'text' ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece },
    );
    return [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta: object) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const usage = said.usage === null ? {} : { usage: { input_tokens: 10, output_tokens: 1, ...said.usage } };
  const last = said.usage === null ? {} : { usage: { output_tokens: 5, ...said.usage } };
  return [
    { type: 'message_start', message: { role: 'assistant', content: [], ...usage } },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stopOf(said) }, ...last },
    { type: 'message_stop' },
  ];
}

/** Writes events in pieces that break in the middle of lines. */
function stream(response: ServerResponse, events: readonly object[], isOpenAI: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const named = (event: Body) => (isOpenAI ? '' : `event: ${event.type}\r\n`);
  const end = isOpenAI ? 'data: [DONE]\n\n' : '';
  const all =
    events.map((event) => `${named(event)}data: ${JSON.stringify(event)}${isOpenAI ? '\n\n' : '\r\n\r\n'}`).join('') +
    end;
  for (const piece of all.match(/.{1,61}/gs) ?? []) response.write(piece);
  response.end();
}
