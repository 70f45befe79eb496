import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createEchoServer } from './echo-server.ts';

serveStdio(createEchoServer);
