import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import type { JsonObject, MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { FetchError } from '../fetch/fetch-error.ts';
import type { OutputTail } from '../processes/output-tail.ts';
import type { ChildCommand } from '../processes/start-child.ts';
import { childTransport } from './child-transport.ts';
import { followTools } from './follow-tools.ts';
import { statusOf } from './http-failure.ts';
import { httpTransport, type RemoteAddress } from './http-transport.ts';
import { McpFailure } from './mcp-failure.ts';
import type { ServerTransport } from './server-transport.ts';
import { createWireRequests, type WireRequest } from './wire-requests.ts';

/** Which of the two ways of speaking MCP a server knows. */
export type McpEra = 'modern' | 'legacy';

/** How a server is reached. Functions are asked when a connection is opened, so that secrets are held no longer than needed. */
export type McpAddress =
  | { readonly kind: 'child'; command(): MaybePromise<ChildCommand> }
  | {
      readonly kind: 'remote';
      readonly type: 'http' | 'sse' | undefined;
      remote(sdk: Sdk): MaybePromise<RemoteAddress>;
    };

/** The SDK, which is loaded by the first connection. */
export type Sdk = typeof import('@modelcontextprotocol/client');

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
  /** For everything until the server can be asked. */
  readonly timeoutMs: number;
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

/** Opens a connection: starts or reaches the server and agrees on the era. Rejects with an `McpFailure`. */
export async function openConnection(options: OpenOptions): Promise<McpConnection> {
  const { timeoutMs, clock, signal, track } = options;
  const ended = Promise.withResolvers<never>();
  let attempt: Attempt | undefined;
  let isOver = false;
  const end = (reason: string): void => {
    isOver = true;
    if (attempt !== undefined) track(attempt.transport.close());
    ended.reject(new McpFailure('unreachable', reason));
  };
  const begin = (next: Attempt): void => {
    attempt = next;
    if (isOver) track(next.transport.close());
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

/** One try, which can be ended from outside. */
interface Attempt {
  readonly transport: ServerTransport;
}

type Begin = (attempt: Attempt) => void;

/** Tries the newest way first. What an old server makes of it (it ends, or knows no such path) leads to the older ones. */
async function open(options: OpenOptions, begin: Begin): Promise<McpConnection> {
  const { address, era } = options;
  const sdk = await import('@modelcontextprotocol/client');
  if (address.kind === 'child') {
    const start = async () => childTransport(await address.command(), options.output);
    const first = await connect(sdk, await start(), { options, era, begin });
    if (first.ok) return first.connection;
    if (era === 'legacy' || !first.hasEnded) throw first.failure;
    // Some servers end when they are asked anything before `initialize`.
    return connectionOf(await connect(sdk, await start(), { options, era: 'legacy', begin }));
  }
  const remote = await address.remote(sdk);
  if (address.type === 'sse')
    return connectionOf(await connect(sdk, httpTransport(sdk, remote, 'sse'), { options, era: 'legacy', begin }));
  const first = await connect(sdk, httpTransport(sdk, remote, 'http'), { options, era, begin });
  if (first.ok) return first.connection;
  const isOther = address.type === undefined && [400, 404, 405].includes(first.status ?? 0);
  if (!isOther) throw first.failure;
  const older = await connect(sdk, httpTransport(sdk, remote, 'sse'), { options, era: 'legacy', begin });
  if (older.ok) return older.connection;
  throw first.failure; // it is no server of the older kind either
}

type Connected =
  | { readonly ok: true; readonly connection: McpConnection }
  | {
      readonly ok: false;
      readonly failure: McpFailure;
      /** Of HTTP. */
      readonly status: number | undefined;
      /** True if the server is gone. */
      readonly hasEnded: boolean;
    };

function connectionOf(connected: Connected): McpConnection {
  if (connected.ok) return connected.connection;
  throw connected.failure;
}

interface Connecting {
  readonly options: OpenOptions;
  readonly era: McpEra | undefined;
  readonly begin: Begin;
}

async function connect(sdk: Sdk, transport: ServerTransport, connecting: Connecting): Promise<Connected> {
  const { options, era, begin } = connecting;
  const { timeoutMs, address } = options;
  // Over HTTP silence is an outage; a server on a pipe may just not know the question.
  const probeMs = address.kind === 'child' ? Math.min((timeoutMs * 2) / 3, LONGEST_PROBE_MS) : timeoutMs;
  const client = new sdk.Client(SELF, {
    capabilities: {},
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } },
    jsonSchemaValidator: NO_VALIDATOR,
  });
  const closed = Promise.withResolvers<void>();
  const requests = createWireRequests(transport, () => envelopeOf(sdk, client));
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    requests.fail(transport.failureOf(undefined, 0));
    closed.resolve();
  };
  client.onerror = () => {}; // whoever asked is told; the rest is noise between two programs
  begin({ transport });
  try {
    await client.connect(requests.transport, {
      timeout: timeoutMs,
      ...(era === 'legacy' && { prior: { kind: 'legacy' as const } }),
    });
  } catch (cause) {
    const words = transport.lastWords();
    await transport.close();
    const failure = new McpFailure('unreachable', words ?? wordsOf(cause), { cause });
    return { ok: false, failure, status: statusOf(cause), hasEnded: words !== undefined };
  }
  transport.keepAlive?.(false);
  const connection: McpConnection = {
    era: client.getProtocolEra() ?? 'legacy',
    openedAt: options.clock.now(),
    request: requests.send,
    closed: closed.promise,
    lastWords: transport.lastWords,
    async retire() {
      stopFollowing();
      await requests.idle();
      await transport.close();
    },
    async close() {
      stopFollowing();
      await transport.close();
    },
  };
  const stopFollowing = followTools(client, {
    clock: options.idleClock,
    onToolsChanged: () => options.onToolsChanged(connection),
  });
  return { ok: true, connection };
}

/** What each of our own requests of the newest era says about us, as the SDK says it in its requests. */
function envelopeOf(sdk: Sdk, client: Client): JsonObject | undefined {
  if (client.getProtocolEra() !== 'modern') return undefined;
  return {
    [sdk.PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion() ?? '',
    [sdk.CLIENT_INFO_META_KEY]: SELF,
    [sdk.CLIENT_CAPABILITIES_META_KEY]: {},
  };
}

const SELF = { name: 'toolcrib', version: '0.1.0' };

/** One that says nothing for so long is asked the older question, which it knows, too, if it was only slow to start. */
const LONGEST_PROBE_MS = 10_000;

/** Answers are checked by the pipeline, by the schemas that the catalog shows. */
const NO_VALIDATOR: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }), // nobody asks for it
};

/** What we said ourselves is clearer than what became of it on its way through the SDK. */
function wordsOf(cause: unknown): string {
  for (let at = cause; at instanceof Error; at = at.cause)
    if (at instanceof McpFailure || at instanceof ToolcribError || at instanceof FetchError) return at.message;
  return messageOf(cause).replaceAll(/\s+/g, ' ').slice(0, 300);
}
