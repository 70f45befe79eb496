import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';

/** A tool that the model calls. */
interface Wanted {
  readonly name: string;
  readonly input: object;
}

/** The next word of the model: a call, or text. */
type Move = { readonly call: Wanted } | { readonly text: string };

/** A request of one API, read: the results of tools so far, and the names of the tools that were sent. */
interface Conversation {
  readonly results: readonly string[];
  readonly tools: readonly string[];
}

/** One API: its path, how a request is read, and how the next move is written. */
interface Api {
  readonly path: RegExp;
  read(body: Body): Conversation;
  write(move: Move, id: string): object;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four vendors, each read by its own API below
type Body = any;

const APIS: readonly Api[] = [
  {
    path: /\/chat\/completions$/,
    read: ({ messages, tools }) => ({
      results: messages.filter(({ role }: Body) => role === 'tool').map(({ content }: Body) => textIn(content)),
      tools: tools.map((tool: Body) => tool.function.name),
    }),
    write: (move, id) => ({
      id: `chat_${id}`,
      object: 'chat.completion',
      created: 0,
      model: 'fake',
      choices: [
        {
          index: 0,
          finish_reason: 'call' in move ? 'tool_calls' : 'stop',
          message:
            'call' in move
              ? {
                  role: 'assistant',
                  content: null,
                  tool_calls: [{ id, type: 'function', function: written(move.call) }],
                }
              : { role: 'assistant', content: move.text },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  },
  {
    path: /\/responses$/,
    read: ({ input, tools }) => ({
      results: input
        .filter(({ type }: Body) => type === 'function_call_output')
        .map(({ output }: Body) => textIn(output)),
      tools: tools.map(({ name }: Body) => name),
    }),
    write: (move, id) => ({
      id: `resp_${id}`,
      object: 'response',
      created_at: 0,
      model: 'fake',
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [
        'call' in move
          ? { type: 'function_call', id: `fc_${id}`, call_id: id, status: 'completed', ...written(move.call) }
          : {
              type: 'message',
              id: `msg_${id}`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: move.text, annotations: [] }],
            },
      ],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2,
      },
    }),
  },
  {
    path: /\/v1\/messages$/,
    read: ({ messages, tools }) => ({
      results: messages
        .flatMap(({ content }: Body) => (Array.isArray(content) ? content : []))
        .filter(({ type }: Body) => type === 'tool_result')
        .map(({ content }: Body) => textIn(content)),
      tools: tools.map(({ name }: Body) => name),
    }),
    write: (move, id) => ({
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: 'fake',
      stop_reason: 'call' in move ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      content: ['call' in move ? { type: 'tool_use', id, ...move.call } : { type: 'text', text: move.text }],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  },
  {
    path: /:generateContent$/,
    read: ({ contents, tools }) => ({
      results: contents
        .flatMap(({ parts }: Body) => parts)
        .filter(({ functionResponse }: Body) => functionResponse !== undefined)
        .map(({ functionResponse }: Body) => JSON.stringify(functionResponse.response)),
      tools: tools[0].functionDeclarations.map(({ name }: Body) => name),
    }),
    write: (move, id) => ({
      candidates: [
        {
          index: 0,
          finishReason: 'STOP',
          content: {
            role: 'model',
            parts: [
              'call' in move
                ? { functionCall: { id, name: move.call.name, args: move.call.input } }
                : { text: move.text },
            ],
          },
        },
      ],
    }),
  },
];

/**
 * A model at the APIs of OpenAI (chat completions and responses), Anthropic and Gemini: it asks for the weather of Rome,
 * converts what it was told, and answers with the result. Returns the variables that lead their packages to it.
 */
export async function startFakeModels(): Promise<{ readonly env: Record<string, string>; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const answer = await answerTo(request).catch((error: Error) => ({ error: { message: error.message } }));
    response.writeHead('error' in answer && answer.error !== null ? 400 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  const address = `http://127.0.0.1:${await listening(server)}`;
  return {
    env: {
      OPENAI_BASE_URL: `${address}/v1`,
      ANTHROPIC_BASE_URL: address,
      GOOGLE_GEMINI_BASE_URL: address,
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answerTo(request: IncomingMessage): Promise<object> {
  const { pathname } = new URL(request.url ?? '', 'http://localhost');
  const api = APIS.find(({ path }) => path.test(pathname));
  if (api === undefined) throw new Error(`No model listens at ${pathname}.`);
  const { results, tools } = api.read(await json(request));
  for (const name of ['get_weather', 'to_fahrenheit']) {
    if (!tools.includes(name)) throw new Error(`The request has no tool "${name}".`);
  }
  return api.write(nextMove(results), `call_${results.length + 1}`);
}

/** Only what the tools returned leads on, so that a loop that loses a result does not end as the page shows. */
function nextMove(results: readonly string[]): Move {
  const [weather, converted] = results;
  if (weather === undefined) return { call: { name: 'get_weather', input: { city: 'Rome' } } };
  if (converted === undefined) {
    return { call: { name: 'to_fahrenheit', input: { celsius: numberAfter('celsius', weather) } } };
  }
  return { text: `It is ${numberAfter('fahrenheit', converted)} degrees Fahrenheit in Rome.` };
}

function numberAfter(name: string, text: string): number {
  const found = new RegExp(`${name}\\W+([\\d.]+)`).exec(text);
  if (found === null) throw new Error(`A result of a tool should hold ${name}: ${text}`);
  return Number(found[1]);
}

function written({ name, input }: Wanted): object {
  return { name, arguments: JSON.stringify(input) };
}

function textIn(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

async function listening(server: Server): Promise<number> {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
