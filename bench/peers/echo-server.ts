import { Server } from '@modelcontextprotocol/server';

const ECHO = {
  name: 'echo',
  description: 'Says the first hundred letters of a text, and how many there are',
  inputSchema: { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** A server of one tool that does next to nothing, on the low level of the SDK. */
export function createEchoServer(): Server {
  const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [ECHO] }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: echoOf(String(params.arguments?.text)) }],
  }));
  return server;
}

/** What the tool answers. */
export function echoOf(text: string): string {
  return `${text.length}: ${text.slice(0, 100)}`;
}
