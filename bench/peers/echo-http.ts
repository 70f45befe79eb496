import { serve } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createEchoServer } from './echo-server.ts';

// node echo-http.ts PORT
const { fetch } = createMcpHandler(createEchoServer);
serve({ fetch: (request) => fetch(request), hostname: '127.0.0.1', port: Number(process.argv[2]) });
