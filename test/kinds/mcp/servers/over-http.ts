// A server over HTTP on the port of its first argument, to be killed; it says on stdout when it listens.
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createState, createWorkbench } from './workbench.ts';

const state = createState();
const handler = createMcpHandler(() => createWorkbench(state), { legacy: 'stateless' });
const server = createServer(getRequestListener((request) => handler.fetch(request), { overrideGlobalObjects: false }));
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('listening\n'));
