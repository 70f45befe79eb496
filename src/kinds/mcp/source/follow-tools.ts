import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../../core/ports/ports.ts';

/** Who wants to hear that the tools of a server have changed. */
interface ToolsFollower {
  readonly clock: Clock;
  onToolsChanged(): void;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Tells when a server says that its tools have changed: older ones say so by themselves, those of the newest era to
 * whoever listens. A stream of news that breaks off is opened again. Returns how to stop.
 */
export function followTools(client: Client, { clock, onToolsChanged }: ToolsFollower): () => void {
  let isStopped = false;
  let stopTimer = () => {};
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    if (!isStopped) onToolsChanged();
  });
  let isAgain = false;
  const listen = async (lastPauseMs: number): Promise<void> => {
    let pauseMs = Math.min(lastPauseMs * 2, LONGEST_PAUSE_MS);
    try {
      const subscription = await client.listen({ toolsListChanged: true });
      pauseMs = FIRST_PAUSE_MS;
      if (isAgain && !isStopped) onToolsChanged(); // nobody listened meanwhile
      if ((await subscription.closed) === 'local') return;
    } catch {
      // It cannot be listened to just now; who calls a tool learns more.
    }
    if (isStopped || client.transport === undefined) return;
    isAgain = true;
    stopTimer = clock.setTimer(pauseMs, () => void listen(pauseMs));
  };
  if (client.getProtocolEra() === 'modern' && client.getServerCapabilities()?.tools?.listChanged === true)
    void listen(FIRST_PAUSE_MS / 2);
  return () => {
    isStopped = true;
    stopTimer();
  };
}
