import type { JsonObject, MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { OutputTail } from '../../system/processes/child-output.ts';
import { childTransport, type ServerCommand } from './child-transport.ts';
import { type Connected, connectClient } from './connect-client.ts';
import type { RemoteAddress } from './http-exchange.ts';
import { httpTransport } from './http-transport.ts';
import { McpFailure } from './mcp-failure.ts';
import { type SharedStarts, type StartPhase, type StartReport, watchStart } from './start-watch.ts';
import type { ServerTransport, WireRequest } from './wire-requests.ts';

/** Opens a connection: starts or reaches the server and negotiates the era. Rejects with an `McpFailure`. A first start is queued, unless a caller waits for it. */
export async function openConnection(options: OpenOptions): Promise<McpConnection> {
  const { address, isFirst, signal, isNeeded, starts } = options;
  if (address.kind !== 'child' || !isFirst) return openNow(options, () => {});
  options.onStart({ phase: 'waiting', said: () => '' });
  const leave = await starts.queue.enter({ signal, isUrgent: isNeeded }).catch(() => {
    throw new McpFailure('unreachable', CLOSED);
  });
  try {
    return await openNow(options, (report) => {
      options.onStart(report);
      if (report.phase === 'silent') leave();
    });
  } finally {
    leave();
  }
}

const CLOSED = 'it was closed';

async function openNow(options: OpenOptions, see: OpenOptions['onStart']): Promise<McpConnection> {
  const { timeoutMs, clock, signal, track, starts } = options;
  const ended = Promise.withResolvers<never>();
  let attempt: ServerTransport | undefined;
  let isOver = false;
  const end = (reason: string): void => {
    isOver = true;
    if (attempt !== undefined) track(attempt.close());
    ended.reject(new McpFailure('unreachable', reason));
  };
  const tell = (phase: StartPhase) => see({ phase, said: () => attempt?.program?.said() ?? '' });
  const watch = watchStart({
    timeoutMs,
    clock,
    progress: starts.progress,
    onPhase: tell,
    onOver: end,
  });
  const begin = (next: ServerTransport): void => {
    attempt = next;
    if (next.program !== undefined) watch.follow(next.program);
    if (isOver) track(next.close());
  };
  const onAbort = () => end(CLOSED);
  tell('working');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([open(options, begin), ended.promise]);
  } finally {
    watch.stop();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Tries the newest protocol first. If an old server exits or does not know the path, falls back to the older ones. */
async function open(options: OpenOptions, begin: (transport: ServerTransport) => void): Promise<McpConnection> {
  const { address, era } = options;
  if (address.kind === 'child') {
    const start = async () => childTransport(await address.command(), options.output);
    const first = await connectClient(await start(), { options, era, begin });
    if (first.ok) return first.connection;
    if (era === 'legacy' || !first.hasEnded) throw first.failure;
    // Some servers exit on any request before `initialize`.
    return connectionOf(await connectClient(await start(), { options, era: 'legacy', begin }));
  }
  const sdk = await import('@modelcontextprotocol/client');
  const remote = await address.remote(sdk);
  if (address.type === 'sse')
    return connectionOf(await connectClient(httpTransport(sdk, remote, 'sse'), { options, era: 'legacy', begin }));
  const first = await connectClient(httpTransport(sdk, remote, 'http'), { options, era, begin });
  if (first.ok) return first.connection;
  const isOther = address.type === undefined && [400, 404, 405].includes(first.status ?? 0);
  if (!isOther) throw first.failure;
  const older = await connectClient(httpTransport(sdk, remote, 'sse'), { options, era: 'legacy', begin });
  if (older.ok) return older.connection;
  throw first.failure; // it does not speak the older transport either
}

function connectionOf(connected: Connected): McpConnection {
  if (connected.ok) return connected.connection;
  throw connected.failure;
}

/** The two protocol generations of MCP. */
export type McpEra = 'modern' | 'legacy';

/** The address of a server. The functions are called for each connection, so that secrets are held no longer than needed. */
export type McpAddress =
  | { readonly kind: 'child'; command(): MaybePromise<ServerCommand> }
  | {
      readonly kind: 'remote';
      readonly type: 'http' | 'sse' | undefined;
      remote(sdk: ClientSdk): MaybePromise<RemoteAddress>;
    };

/** The SDK, loaded by the first connection over HTTP, for its transports and its discovery of token endpoints. */
export type ClientSdk = typeof import('@modelcontextprotocol/client');

/** One connection to one server. The code that opened it must close it. */
export interface McpConnection {
  readonly era: McpEra;
  readonly openedAt: number;
  /** Resolves with the result as it came. Rejects with an `McpFailure`. */
  request(request: WireRequest): Promise<JsonObject>;
  /** Resolves when the connection is over, on either side; never rejects. */
  readonly closed: Promise<void>;
  /** The reason the connection ended, for the operator. */
  lastWords(): string | undefined;
  /** Closes the connection once all requests are answered; no new requests may follow. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** Options for opening a connection. */
export interface OpenOptions {
  readonly address: McpAddress;
  /** The known era. Only `legacy` has an effect: it skips a probe that old servers do not understand. */
  readonly era: McpEra | undefined;
  /** Timeout until the server is ready for requests; extended while a child shows progress. */
  readonly timeoutMs: number;
  /** True until a connection was opened; first starts are queued. */
  readonly isFirst: boolean;
  /** Resolves when a caller waits for the connection. */
  readonly isNeeded: Promise<unknown>;
  readonly starts: SharedStarts;
  /** Called whenever the phase of a first start changes. */
  onStart(report: StartReport): void;
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** For background work; does not keep the process alive. */
  readonly idleClock: Clock;
  readonly output: OutputTail;
  /** Registers work that outlives the attempt, such as ending a server. */
  track(work: Promise<void>): void;
  onToolsChanged(connection: McpConnection): void;
}
