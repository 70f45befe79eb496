import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { messageOf } from '../../core/tool-error.ts';
import { messagesIn } from './event-messages.ts';
import { createForwardHeaders, type ForwardHeaders } from './forward-headers.ts';
import type { StdioConnection } from './serve-stdio.ts';

/** Where to forward to, and as whom. */
export interface AttachOptions {
  /** The address of a profile, such as http://127.0.0.1:2742/mcp. */
  readonly url: string;
  /** A key or token; nobody in particular if absent. */
  readonly credential?: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  warn(message: string): void;
}

type Message = Readonly<Record<string, unknown>>;

/** Hands what a client says over stdin to a crib that listens, and back what it answers: the crib itself is not opened twice. */
export async function attachStdio(options: AttachOptions): Promise<StdioConnection> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const transport = new StdioServerTransport(options.stdin, options.stdout);
  const send = (message: unknown) => transport.send(message as JSONRPCMessage).catch(() => undefined); // a client that is gone wants no answer
  const headers = createForwardHeaders(options.url, options.credential);
  const underWay = new Map<unknown, AbortController>();
  // The handshake of older clients says under which session everything after it comes.
  let greeting: Promise<void> = Promise.resolve();

  const forward = async (message: Message): Promise<void> => {
    const { id, method } = message;
    const controller = new AbortController();
    if (id !== undefined) underWay.set(id, controller);
    try {
      await post(options.url, message, { headers, signal: controller.signal, send });
    } catch (cause) {
      if (controller.signal.aborted) return;
      options.warn(`${String(method)} could not be handed to ${options.url}: ${messageOf(cause)}`);
      const error = { code: -32_603, message: 'The crib that this was attached to does not answer; start it again.' };
      if (id !== undefined) await send({ jsonrpc: '2.0', id, error });
    } finally {
      if (underWay.get(id) === controller) underWay.delete(id);
    }
  };

  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (received) => {
    const message = received as unknown as Message; // a message of JSON-RPC, as the transport has seen to
    if (message.method === 'notifications/cancelled') {
      underWay.get((message.params as Message | undefined)?.requestId)?.abort(); // who hangs up has cancelled, in every revision
      return;
    }
    const sent = greeting.then(() => forward(message));
    if (message.method === 'initialize') greeting = sent;
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

interface Posting {
  readonly headers: ForwardHeaders;
  readonly signal: AbortSignal;
  send(message: unknown): Promise<unknown>;
}

/** Arguments that a tool wants in headers are known when it was refused for the lack of them: then nothing has run. */
const HEADER_MISMATCH = -32_020;

async function post(url: string, message: Message, posting: Posting): Promise<void> {
  const { headers, signal, send } = posting;
  const body = JSON.stringify(message);
  const ask = () => fetch(url, { method: 'POST', headers: headers.for(message), body, signal });
  let response = await ask();
  if (response.status === 400 && message.method === 'tools/call') {
    const refused: unknown = await response.clone().json();
    if (codeIn(refused) === HEADER_MISMATCH && (await headers.learn(message, signal))) response = await ask();
  }
  let isAnswered = false;
  for await (const answer of messagesIn(response)) {
    if (answer.jsonrpc !== '2.0') break;
    headers.note(message, response, answer);
    isAnswered ||= answer.method === undefined;
    await send(message.id !== undefined && answer.id === null ? { ...answer, id: message.id } : answer);
  }
  if (!isAnswered && message.id !== undefined) throw new Error(`it answered ${response.status} and nothing else`);
}

function codeIn(answer: unknown): unknown {
  const error: unknown = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined;
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
