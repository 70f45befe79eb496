// A server of 2026-07-28 that notes in the file of its first argument everything that a call brings.
import { appendFileSync } from 'node:fs';
import { inputRequired, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , file = ''] = process.argv;
const input = { type: 'object' as const, properties: { to: { type: 'string' } }, required: ['to'] };

serveStdio(() => {
  const server = new Server({ name: 'witness', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: ['transfer', 'ask'].map((name) => ({ name, description: `Tool ${name}`, inputSchema: input })),
  }));
  server.setRequestHandler('tools/call', (request, { mcpReq }) => {
    const { name, arguments: given } = request.params;
    const received = {
      name,
      arguments: given,
      responses: mcpReq.inputResponses ?? null,
      state: mcpReq.requestState() ?? null,
      meta: request.params._meta ?? null,
      capabilities:
        (mcpReq.envelope as Record<string, unknown>)?.['io.modelcontextprotocol/clientCapabilities'] ?? null,
    };
    appendFileSync(file, `${JSON.stringify(received)}\n`);
    const isAnswered = mcpReq.inputResponses?.amount !== undefined;
    if (name === 'ask' && !isAnswered)
      return inputRequired({
        inputRequests: {
          amount: inputRequired.elicit({
            message: 'How much?',
            requestedSchema: { type: 'object', properties: { amount: { type: 'number' } } },
          }),
        },
        requestState: 'asked how much',
      });
    return { content: [{ type: 'text', text: `did ${JSON.stringify(received.responses)}` }] };
  });
  return server;
});
