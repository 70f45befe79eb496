import type { Clock } from '../../core/ports.ts';
import { messageOf } from '../../core/tool-error.ts';
import type { McpConnection } from './mcp-connection.ts';
import { McpFailure } from './mcp-failure.ts';

/** What a line is opened with. */
export interface LineOptions {
  /** Never asked while the last time it was asked is under way. */
  open(): Promise<McpConnection>;
  /** True if what was lost is opened again before anybody needs it. */
  readonly reopens: boolean;
  readonly clock: Clock;
  /** For what nobody waits for. */
  readonly idleClock: Clock;
  readonly random: () => number;
  onOpen(connection: McpConnection): void;
  onFailed(reason: string): void;
  onLost(reason: string): void;
  /** Told of what goes on after a connection was given up. */
  track(work: Promise<void>): void;
}

/** One connection after the other to the same server: opened when needed, and again when it was lost. */
export interface ConnectionLine {
  /** The connection that is open, or the next one. Rejects with an `McpFailure`, at once while it is too soon to try again. */
  connect(): Promise<McpConnection>;
  /** Gives up a connection that turned out to be over. */
  lose(connection: McpConnection): void;
  isOpening(): boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;
/** A server that ends sooner than this after it was started is in trouble. */
const SHORT_LIFE_MS = 5000;

export function createConnectionLine(options: LineOptions): ConnectionLine {
  const { clock, idleClock } = options;
  let connection: McpConnection | undefined;
  let opening: Promise<McpConnection> | undefined;
  let openedAt = 0;
  /** How often in a row it went wrong. */
  let failures = 0;
  let retryAt = 0;
  let lastReason = '';
  let isClosed = false;
  let stopTimer = () => {};

  const connect = (): Promise<McpConnection> => {
    if (connection !== undefined) return Promise.resolve(connection);
    if (opening !== undefined) return opening;
    const waitMs = Math.ceil(retryAt - clock.now());
    if (waitMs > 0) return Promise.reject(new McpFailure('unreachable', lastReason, { retryAfterMs: waitMs }));
    stopTimer();
    opening = start().finally(() => {
      opening = undefined;
    });
    return opening;
  };

  const start = async (): Promise<McpConnection> => {
    const opened = await options.open().catch((cause: unknown) => {
      const failure = cause instanceof McpFailure ? cause : new McpFailure('unreachable', messageOf(cause), { cause });
      failures++;
      pause(failure.message, failures);
      options.onFailed(failure.message);
      throw failure;
    });
    if (isClosed) {
      await opened.close();
      throw new McpFailure('unreachable', 'it was closed');
    }
    connection = opened;
    openedAt = clock.now();
    void opened.closed.then(() => lose(opened));
    options.onOpen(opened);
    return opened;
  };

  const lose = (lost: McpConnection): void => {
    if (connection !== lost) return;
    connection = undefined;
    options.track(lost.retire()); // others may still get their answers over it
    failures = clock.now() - openedAt < SHORT_LIFE_MS ? failures + 1 : 0;
    const reason = lost.lastWords() ?? 'the connection was lost';
    pause(reason, failures - 1); // the first time may be bad luck
    if (!isClosed) options.onLost(reason);
  };

  const pause = (reason: string, steps: number): void => {
    if (isClosed) return;
    const longestMs = steps <= 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (steps - 1), LONGEST_PAUSE_MS);
    const pauseMs = longestMs * (0.5 + options.random() / 2); // those that failed together come back apart
    retryAt = clock.now() + pauseMs;
    lastReason = reason;
    stopTimer();
    if (options.reopens)
      stopTimer = idleClock.setTimer(Math.max(pauseMs, FIRST_PAUSE_MS), () => void connect().catch(() => {})); // it pauses again
  };

  return {
    connect,
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
