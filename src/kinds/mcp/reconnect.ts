import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { McpFailure } from './mcp-failure.ts';
import type { McpConnection } from './open-connection.ts';

/** Options for a line. */
export interface LineOptions {
  /** Never called while the previous call is pending. */
  open(): Promise<McpConnection>;
  /** True if a lost connection is reopened before a call needs it. */
  readonly reopens: boolean;
  readonly clock: Clock;
  /** For background work; does not keep the process alive. */
  readonly idleClock: Clock;
  readonly random: () => number;
  onOpen(connection: McpConnection): void;
  onFailed(reason: string): void;
  onLost(reason: string): void;
  /** Registers work that goes on after a connection was given up. */
  track(work: Promise<void>): void;
}

/** A sequence of connections to the same server: opened lazily, and again after a loss. */
export interface ConnectionLine {
  /** The open connection, or the next one. Rejects with an `McpFailure`, at once during the pause between attempts. */
  connect(): Promise<McpConnection>;
  /** For callers: during an outage it waits at most `PATIENCE_MS`; the attempt goes on in the background. */
  connectSoon(): Promise<McpConnection>;
  /** Gives up a dead connection. */
  lose(connection: McpConnection): void;
  isOpening(): boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
/** The longest pause that a caller meets. It limits both how late a recovered server is used and how often a crashing one is started. */
const LONGEST_PAUSE_MS = 2000;
/** The longest pause between background attempts. */
const LONGEST_IDLE_PAUSE_MS = 60_000;
/** A server that ends sooner than this after its start counts as failing, and its restarts are spaced by growing pauses. */
const SHORT_LIFE_MS = LONGEST_PAUSE_MS;
/** Together with the pauses of the retry extension this stays below the 3 s that a caller may wait. */
const PATIENCE_MS = 1500;
/** Retry delay given to a caller that ran out of patience. */
const COME_BACK_MS = 1000;

export function createReconnect(options: LineOptions): ConnectionLine {
  const { clock, idleClock } = options;
  let connection: McpConnection | undefined;
  let opening: Promise<McpConnection> | undefined;
  let openedAt = 0;
  /** Failures in a row. */
  let failures = 0;
  /** True from a lost connection or failed attempt until the next connection is open. */
  let isInOutage = false;
  let retryAt = 0;
  let lastReason = '';
  let isClosed = false;
  let stopTimer = () => {};

  const connect = (): Promise<McpConnection> => {
    if (connection !== undefined) return Promise.resolve(connection);
    if (opening !== undefined) return opening;
    if (retryAt > clock.now()) return Promise.reject(tooSoon());
    stopTimer();
    opening = start().finally(() => {
      opening = undefined;
    });
    return opening;
  };

  const start = async (): Promise<McpConnection> => {
    const opened = await options.open().catch((cause: unknown) => {
      const reason = messageOf(cause);
      failures++;
      pause(reason, failures);
      options.onFailed(reason);
      throw cause instanceof McpFailure && cause.kind !== 'unreachable' ? cause : tooSoon(cause);
    });
    if (isClosed) {
      await opened.close();
      throw new McpFailure('unreachable', 'it was closed');
    }
    connection = opened;
    isInOutage = false;
    openedAt = clock.now();
    void opened.closed.then(() => lose(opened));
    options.onOpen(opened);
    return opened;
  };

  const lose = (lost: McpConnection): void => {
    if (connection !== lost) return;
    connection = undefined;
    options.track(lost.retire()); // other requests may still be answered
    failures = clock.now() - openedAt < SHORT_LIFE_MS ? failures + 1 : 0;
    const reason = lost.lastWords() ?? 'the connection was lost';
    pause(reason, failures - 1); // a first loss has no pause
    if (!isClosed) options.onLost(reason);
  };

  /** The only place that paces attempts. Calls during the pause fail at once and learn when to retry. */
  const pause = (reason: string, steps: number): void => {
    isInOutage = true;
    if (isClosed) return;
    const growingMs = steps <= 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (steps - 1), LONGEST_IDLE_PAUSE_MS);
    const jitter = 0.5 + options.random() / 2; // spreads retries of servers that failed together
    retryAt = clock.now() + Math.min(growingMs, LONGEST_PAUSE_MS) * jitter;
    lastReason = reason;
    stopTimer();
    const idleMs = Math.max(growingMs * jitter, FIRST_PAUSE_MS);
    if (options.reopens) stopTimer = idleClock.setTimer(idleMs, () => void connect().catch(() => {})); // a failure pauses again
  };

  const tooSoon = (cause?: unknown): McpFailure => {
    const retryAfterMs = Math.max(1, Math.ceil(retryAt - clock.now()));
    return new McpFailure('unreachable', lastReason, { cause, retryAfterMs });
  };

  const connectSoon = (): Promise<McpConnection> => {
    const connecting = connect();
    if (!isInOutage || opening === undefined) return connecting;
    return new Promise((resolve, reject) => {
      const stopWaiting = clock.setTimer(PATIENCE_MS, () =>
        reject(new McpFailure('unreachable', lastReason, { retryAfterMs: COME_BACK_MS })),
      );
      connecting.then(resolve, reject).finally(stopWaiting);
    });
  };

  return {
    connect,
    connectSoon,
    lose,
    isOpening: () => opening !== undefined,
    async close() {
      isClosed = true;
      stopTimer();
      await opening?.catch(() => {});
      const last = connection;
      connection = undefined;
      await last?.close();
    },
  };
}
