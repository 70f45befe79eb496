import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach } from 'vitest';

/** A server on 127.0.0.1 that answers as it is told. */
export interface TestServer {
  readonly url: string;
  readonly host: string;
  /** What was asked, in order. */
  readonly requests: readonly IncomingMessage[];
  answer(listener: RequestListener): void;
  /** Answers with JSON from now on. */
  give(body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Resolves when the next request comes. */
  nextRequest(): Promise<IncomingMessage>;
  close(): Promise<void>;
}

const servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Starts one; it is closed after the test. */
export async function startServer(first?: RequestListener): Promise<TestServer> {
  let listener: RequestListener = first ?? ((_, response) => void response.end());
  let asked = Promise.withResolvers<IncomingMessage>();
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    listener(request, response);
    asked.resolve(request);
    asked = Promise.withResolvers();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const test: TestServer = {
    url: `http://${host}/specs`,
    host,
    requests,
    answer(next) {
      listener = next;
    },
    give(body, headers = {}) {
      listener = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(body));
      };
    },
    nextRequest: () => asked.promise,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  servers.push(test);
  return test;
}
