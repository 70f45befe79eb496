import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { type Answer, INTERNAL, refuse, type SendWhole, toResponse, writeWhole } from './answers.ts';
import { createRestApp, type RestOptions } from './create-rest-app.ts';
import { isLoopbackHost } from './host-check.ts';

/** How a server listens, and how much it lets others take. */
export interface ServerOptions extends RestOptions {
  /** Default 2742; 0 for any. */
  readonly port?: number;
  /** Until the headers of a request have come. Default 10 s. */
  readonly headersTimeoutMs?: number;
  /** Until all of a request has come. Default 60 s. */
  readonly requestTimeoutMs?: number;
  /** How long a connection is kept for another request. Default 5 s. */
  readonly keepAliveMs?: number;
  readonly maxHeaderBytes?: number;
  readonly maxConnections?: number;
  /** How long closing waits for calls under way before it ends them. Default: `server.graceMs` of the configuration, else 10 s. */
  readonly graceMs?: number;
}

/** A server that listens. */
export interface RunningServer {
  /** Where it is reached, without a slash at the end. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Takes no more requests, lets calls under way end or ends them, sends all answers, and then closes; a second time does nothing. The crib stays open. */
  close(): Promise<void>;
}

const USUAL_HOST = '127.0.0.1';
const USUAL_PORT = 2742;
const DEFAULTS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 5000,
  maxHeaderBytes: 16_384,
  maxConnections: 2000,
};
const USUAL_GRACE_MS = 10_000;

/** Serves a crib over HTTP. Beyond this machine only where `access` says who may come in, or where the caller insists. */
export async function startServer(crib: Crib, given: ServerOptions = {}): Promise<RunningServer> {
  const { host: wanted, port: wantedPort, hosts = [] } = crib.server.serverSettings();
  const host = given.host ?? wanted ?? USUAL_HOST;
  await requireAccess(crib, host, given.isInsecure === true);
  const names = [...(given.hosts ?? []), ...(typeof hosts === 'string' ? [hosts] : hosts)];
  const app = createRestApp(crib, { ...given, host, hosts: names });
  const limits = { ...DEFAULTS, ...given };
  const server = createHttpServer(limits);
  const requests = trackRequests(
    server,
    getRequestListener((request, { outgoing }) => app.fetch(request, { send: sendTo(outgoing) }), {
      overrideGlobalObjects: false,
      errorHandler: whyUnreadable,
    }),
  );
  const { port, address } = await listen(server, host, given.port ?? wantedPort ?? USUAL_PORT);
  const stops = [crib.server.noteListening({ address, port }), crib.server.runParked()];
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    for (const stop of stops) stop();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    requests.end();
    app.close();
    given.mcp?.endNews?.();
    // Asked now: the configuration may have changed since the start.
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

/** Throws where strangers could come in and nothing says who they are. */
async function requireAccess(crib: Crib, host: string, isInsecure: boolean): Promise<void> {
  if (isLoopbackHost(host) || isInsecure) return;
  const stranger = await crib.identify();
  if (!stranger.ok) return;
  const message = `The server listens on this machine only (127.0.0.1) until "access:" in the configuration says who may come in; it does not listen on ${host}. --insecure lets everybody in.`;
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
    requireHostHeader: false, // a request without one is refused further in, in the words of all other answers
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

function sendTo(outgoing: ServerResponse | Http2ServerResponse): SendWhole | undefined {
  if (!(outgoing instanceof ServerResponse)) return undefined; // the types know of servers that this one is not
  return (answer) => {
    writeWhole(outgoing, answer);
    return RESPONSE_ALREADY_SENT;
  };
}

/** What is said to a request that is HTTP and yet cannot be read. */
function whyUnreadable(cause: unknown): Response {
  const isTheirs = cause instanceof Error && cause.name === 'RequestError';
  return toResponse(isTheirs ? UNREADABLE : INTERNAL);
}

const UNREADABLE: Answer = refuse(400, {
  code: 'invalid_input',
  message: 'The address of the request or its Host cannot be read.',
  retryable: false,
});

const UNEXPECTED: Answer = refuse(417, {
  code: 'invalid_input',
  message: 'What the request expects is not known here; leave out "Expect".',
  retryable: false,
});

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, host, port)));
    server.listen({ host, port }, () => resolve(server.address() as AddressInfo)); // no pipe: it was given a port
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already; choose another with --port, or end it',
  EACCES: 'this user may not; choose a port above 1023 with --port',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --host',
  ENOTFOUND: 'there is no such host; choose another with --host',
};

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): ToolcribError {
  const why = REASONS[cause.code ?? ''] ?? `the system says ${cause.code ?? 'nothing'}`;
  return new ToolcribError('cannot_listen', `The server cannot listen on ${host}:${port}: ${why}.`, { cause });
}

/** How long answers may take to leave once their calls have ended. */
const LEAVING_MS = 2000;

/** Lets calls under way end, ends those that take too long, and sends their answers; only then connections are closed. */
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

/** What the parser says, as status and words. */
const KNOWN: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to come.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'The body is too large.'],
};
const OTHER = ['400 Bad Request', 'This is not HTTP.'] as const;

/** Answers what is no request, in the words of all other answers, and hangs up. */
function answerMalformed(cause: NodeJS.ErrnoException, socket: Duplex): void {
  const { _httpMessage: answering } = socket as { readonly _httpMessage?: ServerResponse | null }; // Node's own name for it
  // What is half said to an earlier request must not be broken into.
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

/** Requests that are being answered. */
interface OpenRequests {
  /** From now on a connection ends with its answer. */
  end(): void;
  /** Resolves when there are none any more, or after `maxMs`. */
  drained(maxMs: number): Promise<void>;
}

/** Answers the requests of a server and knows which are under way. */
function trackRequests(server: Server, answer: RequestListener): OpenRequests {
  const open = new Set<ServerResponse>();
  let onEmpty: (() => void) | undefined;
  let isEnding = false;
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isEnding) outgoing.shouldKeepAlive = false;
    open.add(outgoing);
    outgoing.once('close', () => {
      open.delete(outgoing);
      if (open.size === 0) onEmpty?.();
    });
    answer(incoming, outgoing);
  });
  return {
    end() {
      isEnding = true;
      for (const outgoing of open) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
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
