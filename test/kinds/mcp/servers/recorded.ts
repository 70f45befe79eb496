// A server that lists what another was recorded to list: its first argument is the file.
import { readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , file = ''] = process.argv;
const { tools } = JSON.parse(readFileSync(file, 'utf8'));

serveStdio(() => {
  const server = new Server({ name: 'recorded', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'recorded' }] }));
  return server;
});
