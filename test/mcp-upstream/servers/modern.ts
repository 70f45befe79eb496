import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { showPresence } from './present.ts';
import { createState, createWorkbench } from './workbench.ts';

showPresence('server');
let server: ReturnType<typeof createWorkbench> | undefined;
const state = createState(() => void server?.sendToolListChanged());
serveStdio(() => {
  server = createWorkbench(state);
  return server;
});
