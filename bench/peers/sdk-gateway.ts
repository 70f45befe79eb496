import { serve } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { connectUpstream } from './upstream.ts';

// node sdk-gateway.ts PORT URL, or PORT COMMAND ARGUMENTS: the least that the SDK needs to pass calls on. No guards.
const [port, ...target] = process.argv.slice(2);
const upstream = await connectUpstream(target);

const { fetch } = createMcpHandler(() => {
  const server = new Server({ name: 'sdk-gateway', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', ({ params }) => upstream.listTools(params));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, { mcpReq }) =>
    upstream.callTool({ name, arguments: given }, { signal: mcpReq.signal }),
  );
  return server;
});
serve({ fetch: (request) => fetch(request), hostname: '127.0.0.1', port: Number(port) });
