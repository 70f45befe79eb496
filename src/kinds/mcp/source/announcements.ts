import type { Clock } from '../../../core/ports/ports.ts';
import type { McpConnection } from '../connection/mcp-connection.ts';
import type { ShownTools } from './shown-tools.ts';

/** How long the next announcement waits after the list was asked for. */
const PAUSE_MS = 100;

/** Takes announcements of other tools: the list is asked for at once, but of a server that announces without end only a few times a second. */
export function createAnnouncements(
  tools: Pick<ShownTools, 'forget' | 'updateSoon'>,
  clock: Clock,
): (connection: McpConnection) => void {
  /** Connections that were asked just now, and whether they have announced something since. */
  const justAsked = new Map<McpConnection, boolean>();
  return function announce(connection) {
    if (justAsked.has(connection)) {
      justAsked.set(connection, true);
      return;
    }
    justAsked.set(connection, false);
    tools.forget(connection);
    tools.updateSoon(connection);
    clock.setTimer(PAUSE_MS, () => {
      const isChanged = justAsked.get(connection) === true;
      justAsked.delete(connection);
      if (isChanged) announce(connection);
    });
  };
}
