import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';
import type { Connections } from './connections.ts';
import { McpFailure } from './mcp-failure.ts';
import { MAIN, type Share } from './mcp-servers.ts';
import type { McpConnection, McpEra } from './open-connection.ts';
import type { ShownTools } from './shown-tools.ts';

/** Options for listing the tools of a server. */
interface LearningOptions {
  readonly connections: Connections;
  readonly tools: ShownTools;
  readonly share: Share;
  readonly initTimeoutMs: number;
  readonly clock: Clock;
}

/** The subject of list requests if callers do not share one connection. */
const LIST = 'list';

/** Connects if needed and lists the tools within the start timeout. Failures are reported; it never rejects. */
export function createLearning({
  connections,
  tools,
  share,
  initTimeoutMs,
  clock,
}: LearningOptions): () => Promise<void> {
  const subject = share === 'all' ? MAIN : LIST;
  return async () => {
    const begunAt = clock.now();
    const work = (connection: McpConnection): Promise<void> => {
      if (connection.openedAt < begunAt) tools.forget(connection); // a connection opened by this call is already listing
      // After a slow or queued start, listing still gets its own minimum time.
      const leftMs = Math.max(initTimeoutMs - (clock.now() - begunAt), Math.min(initTimeoutMs, LEAST_LIST_MS));
      return within(clock, leftMs, (onAbort) => tools.update(connection, onAbort));
    };
    try {
      await connections.use({ subject, work, isPassing: true });
    } catch (cause) {
      tools.fail(messageOf(cause));
    } finally {
      if (subject === LIST) await connections.release(LIST);
    }
  };
}

const LEAST_LIST_MS = 10_000;

type OnAbort = (listener: () => void) => () => void;

/** Runs work and aborts it at the timeout. */
async function within(clock: Clock, timeoutMs: number, work: (onAbort: OnAbort) => Promise<void>): Promise<void> {
  const late = new McpFailure('unreachable', 'it did not list its tools in time');
  const isOver = Promise.withResolvers<never>();
  const listeners = createListeners();
  const stopTimer = clock.setTimer(timeoutMs, () => {
    isOver.reject(late);
    listeners.tell();
  });
  try {
    await Promise.race([work(listeners.add), isOver.promise]);
  } finally {
    stopTimer();
  }
}

/** A server detected as legacy is assumed to stay legacy for this long. */
export const ERA_MS = 24 * 3_600_000;

/** The detected era, stored with the list. */
export function toKeptEra(era: McpEra): JsonObject {
  return { era, eraAt: Date.now() };
}

/** The stored era; undefined if it is too old or invalid. */
export function readKeptEra(about: JsonObject | undefined): McpEra | undefined {
  const { era, eraAt } = about ?? {};
  const ageMs = typeof eraAt === 'number' ? Date.now() - eraAt : Number.POSITIVE_INFINITY;
  return era === 'legacy' && ageMs >= 0 && ageMs < ERA_MS ? era : undefined;
}
