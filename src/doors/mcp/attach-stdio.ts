import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { messageOf } from '../../core/tool-error.ts';
import { toFieldValue, toParamHeaders } from '../../formats/mcp-headers.ts';
import { systemClock } from '../../system/clock.ts';
import { keepDigits } from '../../system/exact-json.ts';
import { declaredHeaders } from './param-headers.ts';
import type { StdioConnection } from './serve-stdio.ts';
import { createSpacing, type Ping } from './spacing.ts';
import { openStdio } from './stdio-transport.ts';

/** Options for forwarding stdio to a running server. */
export interface AttachOptions {
  /** The URL of a profile, such as http://127.0.0.1:2742/mcp. */
  readonly url: string;
  /** A key or token. Without it, no credential is sent. */
  readonly credential?: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  warn(message: string): void;
}

type Message = Readonly<Record<string, unknown>>;

/** Forwards the messages of a stdio client to a running server, so that the crib is not opened twice. */
export async function attachStdio(options: AttachOptions): Promise<StdioConnection> {
  const transport = await openStdio(options.stdin, options.stdout);
  const send = (message: unknown) => transport.send(message as JSONRPCMessage).catch(() => undefined); // the client is gone
  const headers = createForwardHeaders(options.url, options.credential);
  const spacing = createSpacing(options.stdout);
  const underWay = new Map<unknown, AbortController>();
  const pings = createPings(send);
  // The handshake of older clients sets the session of all later messages.
  let greeting: Promise<void> = Promise.resolve();
  let isOlder = false;

  const forward = async (message: Message): Promise<void> => {
    const { id, method } = message;
    const controller = new AbortController();
    if (id !== undefined) underWay.set(id, controller);
    try {
      await post(options.url, message, {
        headers,
        signal: controller.signal,
        send,
        taken: (moment) => spacing.after(moment, isOlder ? pings.ask : undefined),
      });
    } catch (cause) {
      if (controller.signal.aborted) return;
      options.warn(`${String(method)} could not be forwarded to ${options.url}: ${messageOf(cause)}`);
      const error = {
        code: -32_603,
        message: 'The Toolcrib server does not answer. Restart it with "toolcrib serve".',
      };
      if (id !== undefined) await send({ jsonrpc: '2.0', id, error });
    } finally {
      if (underWay.get(id) === controller) underWay.delete(id);
    }
  };

  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (received) => {
    const message = received as unknown as Message; // the transport has validated the JSON-RPC message
    if (message.method === 'notifications/cancelled') {
      underWay.get((message.params as Message | undefined)?.requestId)?.abort(); // closing the request cancels it, in every revision
      return;
    }
    if (pings.take(message)) return;
    const sent = greeting.then(() => forward(message));
    if (message.method !== 'initialize') return;
    isOlder = true;
    greeting = sent;
  };
  await transport.start();
  return {
    ended,
    async close() {
      for (const controller of underWay.values()) controller.abort();
      await transport.close();
    },
  };
}

/** Pings of this process, between the forwarded messages. */
interface Pings {
  readonly ask: Ping;
  /** True if the message answers one of these pings. */
  take(message: Message): boolean;
}

function createPings(send: (message: unknown) => Promise<unknown>): Pings {
  const asked = new Map<unknown, () => void>();
  let count = 0;
  return {
    async ask() {
      const id = `toolcrib-ping-${++count}`;
      const answered = new Promise<void>((resolve) => asked.set(id, resolve));
      await send({ jsonrpc: '2.0', id, method: 'ping' });
      await answered;
    },
    take({ id, method }) {
      const answer = method === undefined ? asked.get(id) : undefined;
      if (answer === undefined) return false;
      asked.delete(id);
      answer();
      return true;
    },
  };
}

interface Posting {
  readonly headers: ForwardHeaders;
  readonly signal: AbortSignal;
  send(message: unknown): Promise<unknown>;
  /** Resolves when the client has read what was sent at this moment. */
  taken(moment: number): Promise<void>;
}

/** The refusal of a call without the headers that its tool requires. The tool has not run, so the call can be repeated. */
const HEADER_MISMATCH = -32_020;

async function post(url: string, message: Message, posting: Posting): Promise<void> {
  const { headers, signal, send, taken } = posting;
  const body = JSON.stringify(message, keepDigits);
  const ask = () => fetch(url, { method: 'POST', headers: headers.for(message), body, signal });
  let response = await ask();
  if (response.status === 400 && message.method === 'tools/call') {
    const refused: unknown = await response.clone().json();
    if (codeIn(refused) === HEADER_MISMATCH && (await headers.learn(message, signal))) response = await ask();
  }
  let isAnswered = false;
  let progressAt: number | undefined;
  for await (const answer of messagesIn(response)) {
    if (answer.jsonrpc !== '2.0') break;
    headers.note(message, response, answer);
    const isAnswer = answer.method === undefined;
    isAnswered ||= isAnswer;
    if (isAnswer && progressAt !== undefined) await taken(progressAt);
    await send(message.id !== undefined && answer.id === null ? { ...answer, id: message.id } : answer);
    if (answer.method === 'notifications/progress') progressAt = systemClock.now();
  }
  if (!isAnswered && message.id !== undefined)
    throw new Error(`the server returned status ${response.status} without an answer`);
}

function codeIn(answer: unknown): unknown {
  const error: unknown = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined;
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

type ForwardedMessage = Readonly<Record<string, unknown>>;

/** The HTTP headers of forwarded messages: repeated values, and values that stdio does not need. */
interface ForwardHeaders {
  for(message: ForwardedMessage): Record<string, string>;
  /** Stores the session and the revision from the answer to the handshake. */
  note(message: ForwardedMessage, response: Response, answer: ForwardedMessage): void;
  /** Loads the schema of a tool, which names the arguments to repeat in headers; false if the tool is not listed. */
  learn(message: ForwardedMessage, signal: AbortSignal): Promise<boolean>;
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** Creates the headers for one client and one URL. */
function createForwardHeaders(url: string, credential: string | undefined): ForwardHeaders {
  let session: string | undefined;
  let negotiated: string | undefined;
  const schemas = new Map<unknown, ForwardedMessage>();
  const headersFor = (message: ForwardedMessage): Record<string, string> => {
    const { name, arguments: given, _meta } = membersOf(message.params);
    const modern = membersOf(_meta)[VERSION];
    const version = typeof modern === 'string' ? modern : negotiated;
    const schema = typeof modern === 'string' ? schemas.get(name) : undefined;
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...(version !== undefined && { 'mcp-protocol-version': version }),
      ...(typeof modern === 'string' && typeof message.method === 'string' && { 'mcp-method': message.method }),
      ...(typeof modern === 'string' && typeof name === 'string' && { 'mcp-name': toFieldValue(name) }),
      ...(schema !== undefined && toParamHeaders(declaredHeaders(schema), given)),
    };
  };
  return {
    for: headersFor,
    note(message, response, { result }) {
      if (message.method !== 'initialize') return;
      session = response.headers.get('mcp-session-id') ?? undefined;
      const { protocolVersion } = membersOf(result);
      negotiated = typeof protocolVersion === 'string' ? protocolVersion : undefined;
    },
    async learn(message, signal) {
      const { name, _meta } = membersOf(message.params);
      let cursor: unknown;
      do {
        const params = { _meta, ...(cursor !== undefined && { cursor }) };
        const list: ForwardedMessage = { jsonrpc: '2.0', id: 'toolcrib', method: 'tools/list', params };
        const response = await fetch(url, {
          method: 'POST',
          headers: headersFor(list),
          body: JSON.stringify(list),
          signal,
        });
        cursor = undefined;
        for await (const { result } of messagesIn(response)) {
          const { tools, nextCursor } = membersOf(result);
          for (const tool of Array.isArray(tools) ? tools : []) schemas.set(tool.name, membersOf(tool.inputSchema));
          cursor = nextCursor;
        }
      } while (cursor !== undefined && !schemas.has(name));
      return schemas.has(name);
    },
  };
}

function membersOf(value: unknown): ForwardedMessage {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

type EventMessage = Readonly<Record<string, unknown>>;

/** The messages of an HTTP response as they arrive: one as JSON, or several as events. */
async function* messagesIn(response: Response): AsyncGenerator<EventMessage> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json'))
    yield* [(await response.json()) as EventMessage].flat(); // the receiver validates it
  else if (type.startsWith('text/event-stream') && response.body !== null) yield* eventsIn(response.body);
  else await response.body?.cancel(); // accepted without a message
}

async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<EventMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) yield* dataOf(event);
  }
}

/** The message of an event; heartbeats have no data. */
function* dataOf(event: string): Generator<EventMessage> {
  const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
  if (data.length > 0) yield JSON.parse(data.join('\n'));
}
