// An MCP server that writes each id into a file before it answers: `node ledger-server.ts FILE [PORT]`. Without a port it speaks stdio.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , file = '', port] = process.argv;

const inputSchema = {
  type: 'object' as const,
  properties: { id: { type: 'string' }, ms: { type: 'integer' } },
  required: ['id'],
};

function createLedger(): Server {
  const server = new Server({ name: 'ledger', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [
      { name: 'write', description: 'Writes an id down', inputSchema },
      {
        name: 'look',
        description: 'Writes down that an id was looked at',
        inputSchema,
        annotations: { readOnlyHint: true },
      },
    ],
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { id, ms = 0 } = params.arguments as { readonly id: string; readonly ms?: number }; // by the schema
    appendFileSync(file, `${id}\n`);
    await setTimeout(ms);
    return { content: [{ type: 'text', text: id }] };
  });
  return server;
}

if (port === undefined) serveStdio(createLedger);
else {
  const handler = createMcpHandler(createLedger);
  createServer(getRequestListener((request) => handler.fetch(request))).listen(Number(port), '127.0.0.1', () =>
    process.stderr.write('listens\n'),
  );
}
