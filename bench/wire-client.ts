import type { Readable, Writable } from 'node:stream';
import { Pool } from 'undici';
import { echoOf, type Message } from './peers/echo-answer.ts';

/** What is measured is what stands behind it, so this client does no more than the protocol asks for. */
export interface EchoClient {
  /** Rejects unless the answer is what the tool says to this text. */
  echo(text: string, letters?: number): Promise<void>;
  /** The number of tools on the first page of the list. */
  list(): Promise<number>;
  close(): void;
}

/** The two ways of speaking MCP: every request for itself, or after a handshake. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

/** Where messages go. */
export interface Wire {
  /** Resolves with the answer; with nothing for a message without an id. */
  send(message: Message, headers: Headers): Promise<Message | undefined>;
  close(): void;
}

type Headers = Readonly<Record<string, string>>;

const SELF = { name: 'bench', version: '1.0.0' };

/** Connects and finds the tool. */
export async function openClient(wire: Wire, revision: Revision): Promise<EchoClient> {
  const isModern = revision === '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': SELF,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  let lastId = 0;
  const ask = async (method: string, params: Message): Promise<Message> => {
    const named = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
    const answer = await wire.send(
      { jsonrpc: '2.0', id: ++lastId, method, params: isModern ? { ...params, _meta } : params },
      { 'mcp-protocol-version': revision, ...(isModern && { 'mcp-method': method, ...named }) },
    );
    if (answer?.result === undefined) throw new Error(`${method}: ${JSON.stringify(answer)?.slice(0, 300)}`);
    return answer.result as Message; // results of these methods are objects
  };
  if (!isModern) {
    await ask('initialize', { protocolVersion: revision, capabilities: {}, clientInfo: SELF });
    await wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-protocol-version': revision });
  }
  const list = async () => ((await ask('tools/list', {})) as { tools: readonly { name: string }[] }).tools; // as the protocol has it
  const name = (await list()).map((tool) => tool.name).find((one) => /echo$|tool_0$/.test(one));
  if (name === undefined) throw new Error('There is no tool to call.');
  return {
    async echo(text, letters) {
      const more = letters === undefined ? {} : { letters };
      const result = await ask('tools/call', { name, arguments: { text, ...more } });
      const [part] = result.content as readonly { text?: string }[]; // likewise
      if (part?.text !== echoOf(text, letters))
        throw new Error(`Not the echo: ${JSON.stringify(result).slice(0, 300)}`);
    },
    list: async () => (await list()).length,
    close: wire.close,
  };
}

/** Messages by POST over connections that are kept, with a session where the server wants one. */
export function httpWire(url: string, token?: string): Wire {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 256 });
  const fixed = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  let session = {};
  return {
    async send(message, headers) {
      const asked = { ...fixed, ...headers, ...session };
      const answer = await pool.request({ path, method: 'POST', headers: asked, body: JSON.stringify(message) });
      const id = answer.headers['mcp-session-id'];
      if (typeof id === 'string') session = { 'mcp-session-id': id };
      const text = await answer.body.text();
      return message.id === undefined ? undefined : answerIn(text, message.id);
    },
    close: () => void pool.close(),
  };
}

/** The body is the answer, or one of the events in it is. */
function answerIn(text: string, id: unknown): Message {
  if (text.startsWith('{')) return JSON.parse(text);
  for (const [, data = ''] of text.matchAll(/^data: ?(\{.*)$/gm)) {
    const message: Message = JSON.parse(data);
    if (message.id === id) return message;
  }
  throw new Error(`No answer: ${text.slice(0, 300)}`);
}

/** Messages as lines on the pipes of a child. */
export function stdioWire({ stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable }): Wire {
  const waiting = new Map<unknown, PromiseWithResolvers<Message>>();
  const ended = new Error('The child has ended');
  let rest: string[] = [];
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...more] = chunk.split('\n');
    rest.push(first);
    for (const line of more) {
      const message: Message = JSON.parse(rest.join(''));
      rest = [line];
      waiting.get(message.id)?.resolve(message);
      waiting.delete(message.id);
    }
  });
  stdout.on('close', () => {
    for (const { reject } of waiting.values()) reject(ended);
  });
  return {
    async send(message) {
      if (stdout.destroyed) throw ended;
      stdin.write(`${JSON.stringify(message)}\n`);
      if (message.id === undefined) return undefined;
      const answered = Promise.withResolvers<Message>();
      waiting.set(message.id, answered);
      return answered.promise;
    },
    close: () => {},
  };
}
