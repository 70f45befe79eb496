import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { Crib } from '../../crib/crib.ts';
import type { Gateway, RequestContext } from './context.ts';
import { createHeldCalls } from './held-calls.ts';
import { createListChanges, createListings } from './listings.ts';
import { createSpacing } from './spacing.ts';
import { openStdio } from './stdio-transport.ts';
import { createToolServer, listingFor } from './tool-server.ts';

/** Options for serving one client over stdio. */
export interface StdioOptions {
  readonly caller: Caller;
  /** Default: the default profile. */
  readonly profile?: string;
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly clock?: Clock;
  warn(message: string): void;
}

/** An open connection. */
export interface StdioConnection {
  /** Resolves when the client is gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Turns of the event loop to wait until the MCP SDK has written an answer; it needs one. */
const ANSWER_TURNS = 4;

/** A connection whose calls run in this process. */
export interface ServedStdio extends StdioConnection {
  /** Resolves when the answers of all ended calls are written. */
  flushed(): Promise<void>;
}

/** Serves one client of any revision over stdio. Rejects if the caller may not use the profile. */
export async function serveStdio(crib: Crib, options: StdioOptions): Promise<ServedStdio> {
  const { caller, profile, version, stdin, stdout, clock, warn } = options;
  const chest = await crib.server.openAtDoor(profile, caller);
  const [sdk, stdio] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const spacing = createSpacing(stdout, clock);
  const held = createHeldCalls();
  const gateway: Gateway = { crib, sdk, listings: createListings(crib.server.traitsOf), held, version, spacing, warn };
  const context: RequestContext = { caller, profile, isPublic: false, instructions: chest.instructions() };
  const changes = createListChanges(crib.server);
  const ended = untilEnded(stdin);
  const connection = stdio.serveStdio(
    ({ era }) => {
      const server = createToolServer(gateway, context, { era, isToldOfChanges: true });
      const tell = () => void server.sendToolListChanged().catch(() => undefined); // the client is gone
      server.onclose = changes.follow(() => listingFor(gateway, context), tell);
      return server;
    },
    { transport: await openStdio(stdin, stdout) },
  );
  return {
    ended,
    async flushed() {
      await setImmediate(); // by then, answers that wait for their progress are registered
      await spacing.settled();
      for (let turn = 0; turn < ANSWER_TURNS; turn++) await setImmediate();
      await new Promise<void>((resolve) => stdout.write('', () => resolve()));
    },
    async close() {
      changes.close();
      await connection.close();
    },
  };
}

function untilEnded(stdin: Readable): Promise<void> {
  return new Promise((resolve) => stdin.once('end', resolve).once('close', resolve));
}

/** The streams of a client that cannot be served, and the reason. */
export interface RefusedStdio extends Pick<StdioOptions, 'stdin' | 'stdout'> {
  readonly reason: string;
}

const SERVER_ERROR = -32_000;

/** Answers every request, including the handshake, with the reason as an error. Resolves when the client is gone. */
export async function refuseStdio({ stdin, stdout, reason }: RefusedStdio): Promise<void> {
  const transport = await openStdio(stdin, stdout);
  const ended = untilEnded(stdin);
  let sent: Promise<void> = Promise.resolve();
  transport.onmessage = (message) => {
    if (!('method' in message && 'id' in message)) return; // notifications are not answered
    const answer: JSONRPCMessage = { jsonrpc: '2.0', id: message.id, error: { code: SERVER_ERROR, message: reason } };
    sent = transport.send(answer).catch(() => undefined); // the client is gone
  };
  await transport.start();
  await ended;
  await sent;
  await transport.close();
}
