import { toFieldValue, toParamHeaders } from '../../formats/mcp-headers.ts';
import { messagesIn } from './event-messages.ts';
import { declaredHeaders } from './param-headers.ts';

type Message = Readonly<Record<string, unknown>>;

/** The headers with which HTTP repeats what a message says, and what over stdin the client need not say. */
export interface ForwardHeaders {
  for(message: Message): Record<string, string>;
  /** Learns what an answer says about the messages to come. */
  note(message: Message, response: Response, answer: Message): void;
  /** Looks up which arguments of a tool stand in headers; false if none do. */
  learn(message: Message, signal: AbortSignal): Promise<boolean>;
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** Headers for one client, to one address. */
export function createForwardHeaders(url: string, credential: string | undefined): ForwardHeaders {
  let session: string | undefined;
  let negotiated: string | undefined;
  const schemas = new Map<unknown, Message>();
  const headersFor = (message: Message): Record<string, string> => {
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
        const list: Message = { jsonrpc: '2.0', id: 'toolcrib', method: 'tools/list', params };
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

function membersOf(value: unknown): Message {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
