/** A JSON-RPC message. */
export type Message = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };
const ECHO = {
  name: 'echo',
  description: 'Says how long a text is and how it begins, or as many letters as are wanted',
  inputSchema: { type: 'object', properties: { text: TEXT, letters: { type: 'integer' } }, required: ['text'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const SELF = { name: 'echo', version: '1.0.0' };

/** Answers as a server of one tool that does next to nothing. By hand: a server of the SDK takes longer than a gateway. */
export function answerTo({ id, method, params }: Message, tools: readonly object[] = [ECHO]): Message | undefined {
  if (id === undefined) return undefined;
  const asked = (params ?? {}) as Message;
  if (method === 'initialize')
    return answer(id, { protocolVersion: asked.protocolVersion, capabilities: { tools: {} }, serverInfo: SELF });
  if (method === 'tools/list') return answer(id, { tools });
  if (method === 'ping') return answer(id, {});
  if (method !== 'tools/call') return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } };
  const { text, letters } = asked.arguments as { text: string; letters?: number };
  return answer(id, { content: [{ type: 'text', text: echoOf(text, letters) }] });
}

/** What the tool answers. */
export function echoOf(text: string, letters?: number): string {
  return letters === undefined ? `${text.length}: ${text.slice(0, 100)}` : 'x'.repeat(letters);
}

function answer(id: unknown, result: Message): Message {
  return { jsonrpc: '2.0', id, result };
}
