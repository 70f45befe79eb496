import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMcpDoor } from '../../../src/doors/mcp/mcp-door.ts';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';

const STALLED_MS = 100;

async function served(maxConnections: number) {
  const large = 'x'.repeat(10_000_000);
  const tools = [
    { name: 'text', description: 'Text', run: () => large },
    { name: 'data', description: 'Data', run: () => ({ content: 'short', data: { large } }) },
    { name: 'slow', description: 'Waits', run: () => after(STALLED_MS * 5, 'done') },
  ];
  const crib = await cribOf(folderWith({ 'toolcrib.yaml': 'profiles: { all: {} }\ndefaultProfile: all\n' }), { tools });
  const mcp = createMcpDoor(crib, { version: '1.0.0' });
  const server = await startServer(crib, { mcp, port: 0, graceMs: 0, maxConnections, stalledMs: STALLED_MS });
  onTestFinished(async () => {
    await mcp.close();
    await server.close();
  });
  return server;
}

function post(path: string, sent: object): string {
  const body = JSON.stringify(sent);
  const accept = path === '/mcp' ? 'application/json, text/event-stream' : 'application/json';
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`;
  return `${head}Accept: ${accept}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
const EXECUTE = '/api/tools/execute/';

it.each([
  ['a large text over REST', post(`${EXECUTE}text`, {})],
  ['large data over REST', post(`${EXECUTE}data`, {})],
  ['a large text over MCP', post('/mcp', call('text'))],
  ['large data over MCP', post('/mcp', call('data'))],
  ['many pages', 'GET /docs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(60)],
])(
  'a client that asks for %s and reads nothing loses its connection',
  async (_what, asked) => {
    const { url, port } = await served(1);
    const client = createConnection(port, '127.0.0.1');
    onTestFinished(() => void client.destroy());
    client.on('error', () => {}).pause();
    await once(client, 'connect');
    client.write(asked);
    await vi.waitFor(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200), { timeout: 20_000 });
  },
  30_000,
);

it('a client that waits for a slow call keeps its connection, and so does one between two requests', async () => {
  const { port } = await served(10);
  const client = createConnection(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  for (let round = 0; round < 2; round++) {
    client.write(post('/mcp', call('slow')));
    const [answer] = await once(client, 'data');
    expect(String(answer)).toContain('"done"');
    await after(STALLED_MS * 3);
  }
  expect(client.destroyed).toBe(false);
});
