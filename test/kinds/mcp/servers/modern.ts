import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { showPresence } from './present.ts';
import { createState, createWorkbench } from './workbench.ts';

showPresence('server');
let server: Server | undefined;
const state = createState(() => void server?.sendToolListChanged());
const create = (): Server => {
  server = createWorkbench(state);
  return server;
};
// With `old` it is a server that has never heard of the newest era.
if (process.argv[2] === 'old') await create().connect(new StdioServerTransport());
else serveStdio(create);
