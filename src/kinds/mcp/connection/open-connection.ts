import { McpFailure } from '../mcp-failure.ts';
import { childTransport } from './child-transport.ts';
import { type Connected, connectClient } from './connect-client.ts';
import { httpTransport } from './http-transport.ts';
import type { McpConnection, OpenOptions } from './mcp-connection.ts';
import type { ServerTransport } from './server-transport.ts';

/** Opens a connection: starts or reaches the server and agrees on the era. Rejects with an `McpFailure`. */
export async function openConnection(options: OpenOptions): Promise<McpConnection> {
  const { timeoutMs, clock, signal, track } = options;
  const ended = Promise.withResolvers<never>();
  let attempt: ServerTransport | undefined;
  let isOver = false;
  const end = (reason: string): void => {
    isOver = true;
    if (attempt !== undefined) track(attempt.close());
    ended.reject(new McpFailure('unreachable', reason));
  };
  const begin = (next: ServerTransport): void => {
    attempt = next;
    if (isOver) track(next.close());
  };
  const onAbort = () => end('it was closed');
  const stopTimer = clock.setTimer(timeoutMs, () => end(`it did not answer within ${timeoutMs} ms`));
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([open(options, begin), ended.promise]);
  } finally {
    stopTimer();
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
