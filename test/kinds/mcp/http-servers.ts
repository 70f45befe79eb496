import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { createState, createWorkbench, type WorkbenchState } from './servers/workbench.ts';

/** A server on 127.0.0.1 that can be taken away and put back on the same port. */
export interface HttpServer {
  readonly url: string;
  readonly host: string;
  /** What was asked, in order. */
  readonly requests: IncomingMessage[];
  /** Ends it as a crash would: all connections with it. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startHttp(listener: RequestListener): Promise<HttpServer> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  let server: Server;
  let port = 0;
  const start = async () => {
    server = createServer((request, response) => {
      requests.push(request);
      listener(request, response);
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo); // it listens on a port
  };
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    for (let turn = 0; turn < 4; turn++) await setImmediate(); // the other ends of its connections hear of it
  };
  await start();
  onTestFinished(stop);
  const host = `127.0.0.1:${port}`;
  return { url: `http://${host}/mcp`, host, requests, start, stop };
}

/** A server of the newest era that refuses older clients; or one that also serves those, and with `old` only those. */
export async function startModern(
  state: WorkbenchState = createState(),
  legacy: 'stateless' | 'reject' = 'reject',
  era: 'newest' | 'old' = 'newest',
) {
  const handler = createMcpHandler(() => createWorkbench(state), { legacy });
  const serve = (request: Request) =>
    era === 'old' && request.headers.has('mcp-method') ? new Response(null, { status: 400 }) : handler.fetch(request);
  const listen = getRequestListener(serve, { overrideGlobalObjects: false });
  const server = await startHttp((request, response) => void listen(request, response));
  return { ...server, state, changed: () => handler.notify.toolsChanged() };
}

/** One instance of an old server; its tools can be changed while it runs. */
function createOld(tools: readonly string[], crash: () => void): OldServer {
  const server = new OldServer({ name: 'old', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  let count = 0;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    if (params.name === 'crash') crash();
    if (params.name === 'wait') await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    return { content: [{ type: 'text', text: params.name === 'count' ? String(++count) : `${params.name} done` }] };
  });
  return server;
}

/** A server of the older era that keeps a session for each client. */
export async function startSessions(tools: string[] = ['work', 'count', 'wait', 'crash']) {
  const sessions = new Map<string, { readonly transport: StreamableHTTPServerTransport; readonly server: OldServer }>();
  const http: HttpServer = await startHttp(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return known.transport.handleRequest(request, response);
    if (request.headers['mcp-session-id'] !== undefined || request.method !== 'POST')
      return void response.writeHead(404).end();
    const server = createOld(tools, () => void http.stop());
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { transport, server }),
    });
    await server.connect(transport as never); // its own types disagree about what may be undefined
    await transport.handleRequest(request, response);
  });
  return {
    ...http,
    sessions,
    async add(name: string) {
      tools.push(name);
      for (const { server } of sessions.values()) await server.sendToolListChanged();
    },
  };
}

/** A server of the transport before: a stream for answers, and an address for requests. */
export async function startSse() {
  const transports = new Map<string, SSEServerTransport>();
  const http: HttpServer = await startHttp(async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response);
      transports.set(transport.sessionId, transport);
      await createOld(['work', 'count'], () => void http.stop()).connect(transport);
      return;
    }
    const transport = transports.get(url.searchParams.get('sessionId') ?? '');
    if (transport === undefined) response.writeHead(405).end();
    else await transport.handlePostMessage(request, response);
  });
  return http;
}
