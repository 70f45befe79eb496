import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { createListeners } from '../../system/listeners.ts';
import type { Connections } from './connections.ts';
import { McpFailure } from './mcp-failure.ts';
import { MAIN, type Share } from './mcp-servers.ts';
import type { McpConnection, McpEra } from './open-connection.ts';
import type { ShownTools } from './shown-tools.ts';

/** What the tools of a server are learned with. */
interface LearningOptions {
  readonly connections: Connections;
  readonly tools: ShownTools;
  readonly share: Share;
  readonly initTimeoutMs: number;
  readonly clock: Clock;
}

/** Who asks for the list where no connection is everybody's. */
const LIST = 'list';

/** Connects, if nobody has, and asks for the tools, within the time that a start may take. What goes wrong is told; it never rejects. */
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
      if (connection.openedAt < begunAt) tools.forget(connection); // one that was opened for this is being asked already
      // A start that took its time, or waited for a place, has left the list its own.
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

/** Does work that is called off when its time is up. */
async function within(clock: Clock, timeoutMs: number, work: (onAbort: OnAbort) => Promise<void>): Promise<void> {
  const late = new McpFailure('unreachable', 'it took too long to list its tools');
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

/** How long an old server is not asked whether it has learned something new. */
export const ERA_MS = 24 * 3_600_000;

/** What is kept with a list about how its server speaks. */
export function toKeptEra(era: McpEra): JsonObject {
  return { era, eraAt: Date.now() };
}

/** The era that was kept; nothing for what is too old, or what somebody else wrote. */
export function readKeptEra(about: JsonObject | undefined): McpEra | undefined {
  const { era, eraAt } = about ?? {};
  const ageMs = typeof eraAt === 'number' ? Date.now() - eraAt : Number.POSITIVE_INFINITY;
  return era === 'legacy' && ageMs >= 0 && ageMs < ERA_MS ? era : undefined;
}
