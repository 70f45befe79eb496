import { ERA_MS } from './learn-tools.ts';
import { McpFailure } from './mcp-failure.ts';
import { MAIN } from './mcp-servers.ts';
import type { McpConnection, McpEra, OpenOptions } from './open-connection.ts';
import { type ConnectionLine, createReconnect, type LineOptions } from './reconnect.ts';

/** What the connections to one server are opened with. */
export interface ConnectionsOptions extends Omit<LineOptions, 'open' | 'onOpen' | 'track'> {
  open(attempt: OpenAttempt): Promise<McpConnection>;
  /** The era that was found out before this process began. */
  readonly era: McpEra | undefined;
  onOpen(connection: McpConnection, subject: string): void;
}

/** What one attempt to open a connection is made with. */
interface OpenAttempt extends Pick<OpenOptions, 'era' | 'signal' | 'track' | 'isNeeded'> {}

/** The connections to one server, one for each subject that shares state; opened by their first use. */
export interface Connections {
  /** Does work with the connection of a subject. Rejects with an `McpFailure` if there is none to be had. */
  use<Result>(use: ConnectionUse<Result>): Promise<Result>;
  /** Closes the connection of a subject, unless somebody uses it. */
  release(subject: string): Promise<void>;
  /** Takes no more work, lets what is under way finish, and closes everything. */
  drain(): Promise<void>;
  /** Closes everything now. */
  close(): Promise<void>;
  /** How much is under way. */
  inFlight(): number;
}

/** Work for a connection. */
interface ConnectionUse<Result> {
  readonly subject: string;
  work(connection: McpConnection): Promise<Result>;
  /** True if the work alone is no reason to keep the connection. */
  readonly isPassing?: boolean;
  /** Calls the listener once nobody waits any more; returns how to stop listening. */
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

/** Whether a connection was used for more than passing work. */
interface Need {
  isSo: boolean;
  /** Resolves when that is so. */
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

/** Connections that nobody used for half an hour are closed, but for the one that all share, once somebody has needed it. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { clock, idleClock } = options;
  const lines = new Map<string, Used>();
  const idle = Promise.withResolvers<void>();
  const closing = new AbortController();
  /** Connections that were given up and are being closed. */
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
    era = undefined; // if it was the wrong one, the next time asks again
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
      throw new McpFailure('unreachable', `${MAX_LINES} connections are in use, and no more are opened`);
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
          // What cannot even be asked is not there any more, whatever it says itself.
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
      idle.resolve(); // whoever was being waited for is not any more
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
    const stopListening = onAbort(() => reject(new McpFailure('cancelled', 'nobody waits for it any more')));
    promise.then(resolve, reject).finally(stopListening);
  });
}
