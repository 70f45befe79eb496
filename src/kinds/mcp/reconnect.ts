import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { McpFailure } from './mcp-failure.ts';
import type { McpConnection } from './open-connection.ts';

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
  /** The same for a caller: during an outage it waits no longer than `PATIENCE_MS` for an attempt that goes on without it. */
  connectSoon(): Promise<McpConnection>;
  /** Gives up a connection that turned out to be over. */
  lose(connection: McpConnection): void;
  isOpening(): boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
/** The longest pause that a caller meets. It bounds both how late a server that is back is used and how often one that crashes is started. */
const LONGEST_PAUSE_MS = 2000;
/** The longest pause between attempts that no caller asks for. */
const LONGEST_IDLE_PAUSE_MS = 60_000;
/** A server that ends sooner than this after it was started is in trouble; one that lives longer is not started more often than with pauses. */
const SHORT_LIFE_MS = LONGEST_PAUSE_MS;
/** With the pauses of the retry extension less than the 3 s that a caller may be kept. */
const PATIENCE_MS = 1500;
/** When a caller whose patience ended may come back. */
const COME_BACK_MS = 1000;

export function createReconnect(options: LineOptions): ConnectionLine {
  const { clock, idleClock } = options;
  let connection: McpConnection | undefined;
  let opening: Promise<McpConnection> | undefined;
  let openedAt = 0;
  /** How often in a row it went wrong. */
  let failures = 0;
  /** True from the moment that a connection was lost or not opened until the next one is open. */
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
    options.track(lost.retire()); // others may still get their answers over it
    failures = clock.now() - openedAt < SHORT_LIFE_MS ? failures + 1 : 0;
    const reason = lost.lastWords() ?? 'the connection was lost';
    pause(reason, failures - 1); // the first time may be bad luck
    if (!isClosed) options.onLost(reason);
  };

  /** The only place that paces attempts: who calls meanwhile is told at once when the next one may be made. */
  const pause = (reason: string, steps: number): void => {
    isInOutage = true;
    if (isClosed) return;
    const growingMs = steps <= 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (steps - 1), LONGEST_IDLE_PAUSE_MS);
    const jitter = 0.5 + options.random() / 2; // those that failed together come back apart
    retryAt = clock.now() + Math.min(growingMs, LONGEST_PAUSE_MS) * jitter;
    lastReason = reason;
    stopTimer();
    const idleMs = Math.max(growingMs * jitter, FIRST_PAUSE_MS);
    if (options.reopens) stopTimer = idleClock.setTimer(idleMs, () => void connect().catch(() => {})); // it pauses again
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
