import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { BriefSet } from '../../system/brief-map.ts';
import { USUAL_ADDRESS } from '../../system/fetch/own-addresses.ts';
import { type Answer, refuse } from './answers.ts';
import { createRestApp, type RestOptions } from './create-rest-app.ts';
import { isLoopbackHost } from './host-check.ts';
import { createListener } from './http-listener.ts';

/** Options for starting a server. */
export interface ServerOptions extends RestOptions {
  /** Default: 2742. 0 for any free port. */
  readonly port?: number;
  /** Timeout for the headers of a request. Default: 10 s. */
  readonly headersTimeoutMs?: number;
  /** Timeout for a complete request. Default: 60 s. */
  readonly requestTimeoutMs?: number;
  /** Keep-alive time of an idle connection. Default: 5 s. */
  readonly keepAliveMs?: number;
  /** A client that reads nothing of its answer for twice this time at most is disconnected. Default: 30 s. */
  readonly stalledMs?: number;
  readonly maxHeaderBytes?: number;
  readonly maxConnections?: number;
  /** Time that `close` waits for running calls before it cancels them. Default: `server.graceMs` of the configuration, else 10 s. */
  readonly graceMs?: number;
}

/** A listening server. */
export interface RunningServer {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Stops accepting requests, waits for running calls or cancels them, sends all answers, then closes. Idempotent. The crib stays open. */
  close(): Promise<void>;
}

const DEFAULTS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 5000,
  stalledMs: 30_000,
  maxHeaderBytes: 16_384,
  maxConnections: 2000,
};
const USUAL_GRACE_MS = 10_000;

/** Serves a crib over HTTP. Listens beyond this machine only if `access` is configured or `isInsecure` is set. */
export async function startServer(crib: Crib, given: ServerOptions = {}): Promise<RunningServer> {
  const { host: wanted, port: wantedPort, hosts = [] } = crib.server.serverSettings();
  const host = given.host ?? wanted ?? USUAL_ADDRESS.host;
  await requireAccess(crib, host, given.isInsecure === true);
  const names = [...(given.hosts ?? []), ...(typeof hosts === 'string' ? [hosts] : hosts)];
  const app = createRestApp(crib, { ...given, host, hosts: names });
  const limits = { ...DEFAULTS, ...given };
  const server = createHttpServer(limits);
  const requests = trackRequests(server, createListener(app), limits);
  const { port, address } = await listen(server, host, given.port ?? wantedPort ?? USUAL_ADDRESS.port);
  const { noteListening, runParked, definitions, sourceLog } = crib.server;
  const stops = [noteListening({ address, port }), runParked(), definitions.watch(), sourceLog.watch()];
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    for (const stop of stops) stop();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    requests.end();
    app.close();
    given.mcp?.endNews?.();
    // Read now: the configuration may have changed since the start.
    const graceMs = given.graceMs ?? crib.server.serverSettings().graceMs ?? USUAL_GRACE_MS;
    await drain(server, requests, { crib, graceMs });
    await closed;
  };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    host,
    port,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Throws if other machines could connect without a credential. */
async function requireAccess(crib: Crib, host: string, isInsecure: boolean): Promise<void> {
  if (isLoopbackHost(host) || isInsecure) return;
  const stranger = await crib.identify();
  if (!stranger.ok) return;
  const message = `The server cannot listen on ${host}, because the configuration does not require a credential. Add "access:" to it, listen on 127.0.0.1, or pass --insecure to let every client call tools.`;
  throw new ToolcribError('not_guarded', message);
}

function createHttpServer(limits: typeof DEFAULTS): Server {
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: Math.max(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 5000),
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    requireHostHeader: false, // the app refuses such a request in the format of all other answers
  });
  server.maxConnections = limits.maxConnections;
  server.maxHeadersCount = 200;
  server.on('clientError', answerMalformed);
  server.on('checkExpectation', (_, outgoing) => {
    const { status, body } = UNEXPECTED;
    outgoing.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
  });
  return server;
}

const UNEXPECTED: Answer = refuse(417, {
  code: 'invalid_input',
  message: 'The Expect header of the request is not supported. Remove it.',
  retryable: false,
});

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, host, port)));
    server.listen({ host, port }, () => resolve(server.address() as AddressInfo)); // not a pipe, because a port was given
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there; choose another port with --port, or stop that program',
  EACCES: 'this user has no permission; choose a port above 1023 with --port',
  EADDRNOTAVAIL: 'this machine does not have this address; choose another with --host',
  ENOTFOUND: 'host not found; choose another with --host',
};

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): ToolcribError {
  const why = REASONS[cause.code ?? ''] ?? `the system reports ${cause.code ?? 'no reason'}`;
  return new ToolcribError('cannot_listen', `The server cannot listen on ${host}:${port}: ${why}.`, { cause });
}

/** Timeout for sending answers after their calls have ended. */
const LEAVING_MS = 2000;

/** Waits for running calls, cancels those that take too long, and sends their answers; then closes the connections. */
async function drain(server: Server, requests: OpenRequests, { crib, graceMs }: Drain): Promise<void> {
  server.closeIdleConnections();
  await crib.server.idle(graceMs);
  crib.server.endCalls();
  await requests.drained(LEAVING_MS);
  server.closeAllConnections();
}

interface Drain {
  readonly crib: Crib;
  readonly graceMs: number;
}

/** Errors of the HTTP parser as status and message. */
const KNOWN: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request was not complete in time.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'The body is too large.'],
};
const OTHER = ['400 Bad Request', 'The request is not valid HTTP.'] as const;

/** Answers a malformed request in the format of all other answers, and closes the connection. */
function answerMalformed(cause: NodeJS.ErrnoException, socket: Duplex): void {
  const { _httpMessage: answering } = socket as { readonly _httpMessage?: ServerResponse | null }; // an internal member of Node
  // A partly sent answer to an earlier request must not be corrupted.
  if (cause.code === 'ECONNRESET' || !socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [status, message] = KNOWN[cause.code ?? ''] ?? OTHER;
  const error = { code: 'invalid_input', message, retryable: false };
  const body = JSON.stringify({ ok: false, status: 'failed', error });
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * Called when nothing was sent or received for some time. If bytes wait, the client does not read: it would keep its
 * answer in memory and its place among the connections for as long as it wants. Otherwise the call takes its time.
 */
function endIfStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** The requests in progress. */
interface OpenRequests {
  /** From now on, each connection closes after its answer. */
  end(): void;
  /** Resolves when no request is in progress, or after `maxMs`. */
  drained(maxMs: number): Promise<void>;
}

/** Answers the requests of a server and tracks those in progress. */
function trackRequests(
  server: Server,
  answer: RequestListener,
  { stalledMs }: Pick<typeof DEFAULTS, 'stalledMs'>,
): OpenRequests {
  const open = new BriefSet<ServerResponse>();
  let onEmpty: (() => void) | undefined;
  let isEnding = false;
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isEnding) outgoing.shouldKeepAlive = false;
    outgoing.setTimeout(stalledMs).on('timeout', endIfStalled);
    const remove = open.add(outgoing);
    outgoing.once('close', () => {
      remove();
      if (open.size === 0) onEmpty?.();
    });
    answer(incoming, outgoing);
  });
  return {
    end() {
      isEnding = true;
      for (const outgoing of open.values()) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
    },
    drained(maxMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        onEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
        if (open.size === 0) onEmpty();
      });
    },
  };
}
