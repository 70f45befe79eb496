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

/**
 * Opens a connection: starts or reaches the server and agrees on the era. Rejects with an `McpFailure`. A server that is
 * started for the first time waits for a place, unless a caller waits for it.
 */
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

/** Tries the newest way first. What an old server makes of it (it ends, or knows no such path) leads to the older ones. */
async function open(options: OpenOptions, begin: (transport: ServerTransport) => void): Promise<McpConnection> {
  const { address, era } = options;
  const sdk = await import('@modelcontextprotocol/client');
  if (address.kind === 'child') {
    const start = async () => childTransport(await address.command(), options.output);
    const first = await connectClient(sdk, await start(), { options, era, begin });
    if (first.ok) return first.connection;
    if (era === 'legacy' || !first.hasEnded) throw first.failure;
    // Some servers end when they are asked anything before `initialize`.
    return connectionOf(await connectClient(sdk, await start(), { options, era: 'legacy', begin }));
  }
  const remote = await address.remote(sdk);
  if (address.type === 'sse')
    return connectionOf(await connectClient(sdk, httpTransport(sdk, remote, 'sse'), { options, era: 'legacy', begin }));
  const first = await connectClient(sdk, httpTransport(sdk, remote, 'http'), { options, era, begin });
  if (first.ok) return first.connection;
  const isOther = address.type === undefined && [400, 404, 405].includes(first.status ?? 0);
  if (!isOther) throw first.failure;
  const older = await connectClient(sdk, httpTransport(sdk, remote, 'sse'), { options, era: 'legacy', begin });
  if (older.ok) return older.connection;
  throw first.failure; // it is no server of the older kind either
}

function connectionOf(connected: Connected): McpConnection {
  if (connected.ok) return connected.connection;
  throw connected.failure;
}

/** Which of the two ways of speaking MCP a server knows. */
export type McpEra = 'modern' | 'legacy';

/** How a server is reached. Functions are asked when a connection is opened, so that secrets are held no longer than needed. */
export type McpAddress =
  | { readonly kind: 'child'; command(): MaybePromise<ServerCommand> }
  | {
      readonly kind: 'remote';
      readonly type: 'http' | 'sse' | undefined;
      remote(sdk: ClientSdk): MaybePromise<RemoteAddress>;
    };

/** The SDK, which is loaded by the first connection. */
export type ClientSdk = typeof import('@modelcontextprotocol/client');

/** One connection to one server. Whoever opened it closes it. */
export interface McpConnection {
  readonly era: McpEra;
  readonly openedAt: number;
  /** Resolves with the result as it came. Rejects with an `McpFailure`. */
  request(request: WireRequest): Promise<JsonObject>;
  /** Resolves when it is over, whoever ended it; never rejects. */
  readonly closed: Promise<void>;
  /** Why it is over, for the owner of the crib. */
  lastWords(): string | undefined;
  /** Closes it when all that was asked is answered; nobody asks anything more. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** What opening a connection takes. */
export interface OpenOptions {
  readonly address: McpAddress;
  /** The era that is known already: only `legacy` spares something, a question that old servers do not understand. */
  readonly era: McpEra | undefined;
  /** For everything until the server can be asked; longer while a child shows progress. */
  readonly timeoutMs: number;
  /** True until a connection was opened: such a start waits for a place. */
  readonly isFirst: boolean;
  /** Resolves when a caller waits for the connection. */
  readonly isNeeded: Promise<unknown>;
  readonly starts: SharedStarts;
  /** Told how far a first start has come, whenever that changes. */
  onStart(report: StartReport): void;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** For what nobody waits for. */
  readonly idleClock: Clock;
  readonly output: OutputTail;
  /** Told of what takes longer than the attempt: a server that is being ended. */
  track(work: Promise<void>): void;
  onToolsChanged(connection: McpConnection): void;
}
