import { ERA_MS } from './learn-tools.ts';
import { McpFailure } from './mcp-failure.ts';
import { MAIN } from './mcp-servers.ts';
import type { McpConnection, McpEra, OpenOptions } from './open-connection.ts';
import { type ConnectionLine, createReconnect, type LineOptions } from './reconnect.ts';

/** Options for the connections to one server. */
export interface ConnectionsOptions extends Omit<LineOptions, 'open' | 'onOpen' | 'track'> {
  open(attempt: OpenAttempt): Promise<McpConnection>;
  /** The era that was detected before this process started. */
  readonly era: McpEra | undefined;
  onOpen(connection: McpConnection, subject: string): void;
}

/** Options for one attempt to open a connection. */
interface OpenAttempt extends Pick<OpenOptions, 'era' | 'signal' | 'track' | 'isNeeded'> {}

/** The connections to one server, one for each subject that shares state. They are opened lazily. */
export interface Connections {
  /** Runs work on the connection of a subject. Rejects with an `McpFailure` if the connection cannot be opened. */
  use<Result>(use: ConnectionUse<Result>): Promise<Result>;
  /** Closes the connection of a subject, unless it is in use. */
  release(subject: string): Promise<void>;
  /** Accepts no more work, waits for work in flight, then closes everything. */
  drain(): Promise<void>;
  /** Closes everything now. */
  close(): Promise<void>;
  /** Number of uses in flight. */
  inFlight(): number;
}

/** Work for a connection. */
interface ConnectionUse<Result> {
  readonly subject: string;
  work(connection: McpConnection): Promise<Result>;
  /** True if the work alone does not keep the connection open. */
  readonly isPassing?: boolean;
  /** Calls the listener when the caller stops waiting; returns a function that stops listening. */
  readonly onAbort?: ((listener: () => void) => () => void) | undefined;
}

const MAX_LINES = 100;
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;

interface Used {
  readonly subject: string;
  readonly line: ConnectionLine;
  inFlight: number;
  usedAt: number;
  readonly need: Need;
}

/** Records whether a connection was used for more than passing work. */
interface Need {
  isSo: boolean;
  /** Resolves on the first such use. */
  readonly arisen: Promise<void>;
  arise(): void;
}

function createNeed(): Need {
  const { promise: arisen, resolve } = Promise.withResolvers<void>();
  const need: Need = {
    isSo: false,
    arisen,
    arise() {
      need.isSo = true;
      resolve();
    },
  };
  return need;
}

/** Closes connections that were idle for half an hour, except the shared one once a caller has used it. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { clock, idleClock } = options;
  const lines = new Map<string, Used>();
  const idle = Promise.withResolvers<void>();
  const closing = new AbortController();
  /** Connections that are being closed. */
  const ended = new Set<Promise<void>>();
  let { era } = options;
  let eraAt = clock.now();
  let ending: Promise<void> | undefined;
  let stopSweeping: (() => void) | undefined;

  const track = (work: Promise<void>): void => {
    const done = work.catch(() => {}).finally(() => ended.delete(done));
    ended.add(done);
  };

  const open = async (isNeeded: Promise<void>): Promise<McpConnection> => {
    const known = clock.now() - eraAt < ERA_MS ? era : undefined;
    era = undefined; // if it was wrong, the next attempt detects it again
    const connection = await options.open({ era: known, signal: closing.signal, track, isNeeded });
    if (known === undefined) eraAt = clock.now();
    era = connection.era;
    return connection;
  };

  const usedBy = (subject: string): Used => {
    const known = lines.get(subject);
    if (known !== undefined) return known;
    if (lines.size >= MAX_LINES) makeRoom();
    stopSweeping ??= sweepLater();
    const line = createReconnect({
      ...options,
      open: () => open(used.need.arisen),
      track,
      reopens: options.reopens && subject === MAIN,
      onOpen: (connection) => options.onOpen(connection, subject),
    });
    const used: Used = { subject, line, inFlight: 0, usedAt: clock.now(), need: createNeed() };
    lines.set(subject, used);
    return used;
  };

  const makeRoom = (): void => {
    const [oldest] = [...lines.values()].filter(isIdle).sort((a, b) => a.usedAt - b.usedAt);
    if (oldest === undefined)
      throw new McpFailure('unreachable', `all ${MAX_LINES} connections to the server are in use`);
    track(remove(oldest));
  };

  const remove = (used: Used): Promise<void> => {
    lines.delete(used.subject);
    return used.line.close();
  };

  const sweepLater = (): (() => void) =>
    idleClock.setTimer(SWEEP_MS, () => {
      const before = clock.now() - IDLE_MS;
      for (const used of lines.values()) if (!isKept(used) && isIdle(used) && used.usedAt < before) track(remove(used));
      stopSweeping = lines.size > 0 ? sweepLater() : undefined;
    });

  const inFlight = (): number => [...lines.values()].reduce((sum, used) => sum + used.inFlight, 0);

  const closeAll = async (): Promise<void> => {
    stopSweeping?.();
    closing.abort();
    await Promise.all([...lines.values()].map(remove));
    await Promise.all(ended);
  };

  return {
    inFlight,
    async use({ subject, work, onAbort, isPassing = false }) {
      if (ending !== undefined) throw new McpFailure('unreachable', 'it is being closed');
      const used = usedBy(subject);
      used.inFlight++;
      if (!isPassing) used.need.arise();
      try {
        const connection = await untilAborted(isPassing ? used.line.connect() : used.line.connectSoon(), onAbort);
        return await work(connection).catch((cause: unknown) => {
          // If a request cannot even be sent, the connection is dead, whatever its own state says.
          if (cause instanceof McpFailure && cause.kind === 'unreachable') used.line.lose(connection);
          throw cause;
        });
      } finally {
        used.inFlight--;
        used.usedAt = clock.now();
        if (ending !== undefined && inFlight() === 0) idle.resolve();
      }
    },
    async release(subject) {
      const used = lines.get(subject);
      if (used !== undefined && isIdle(used)) await remove(used);
    },
    drain() {
      if (inFlight() === 0) idle.resolve();
      ending ??= idle.promise.then(closeAll);
      return ending;
    },
    close() {
      ending ??= closeAll();
      idle.resolve(); // drain() stops waiting
      return ending;
    },
  };
}

function isKept({ subject, need }: Used): boolean {
  return subject === MAIN && need.isSo;
}

function isIdle({ inFlight, line }: Used): boolean {
  return inFlight === 0 && !line.isOpening();
}

function untilAborted<Value>(promise: Promise<Value>, onAbort: ConnectionUse<Value>['onAbort']): Promise<Value> {
  if (onAbort === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(() => reject(new McpFailure('cancelled', 'the caller stopped waiting')));
    promise.then(resolve, reject).finally(stopListening);
  });
}
