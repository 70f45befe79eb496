import type { Client } from 'pg';

/** Pauses before another attempt to connect. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A connection that was cut without a word is noticed by a query that is not answered. */
const CHECK_MS = 30_000;

/** A connection that receives notifications. It connects again for as long as it is open. */
export interface PostgresListener {
  close(): Promise<void>;
}

/** Receives the notifications of a channel on a connection of its own, and '' after each time it has connected again. */
export function listenTo(
  connect: () => Client,
  channel: string,
  onMessage: (message: string) => void,
): PostgresListener {
  let isClosed = false;
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let isFirst = true;

  const later = (ms: number, task: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(task, ms).unref();
  };
  const drop = (dropped: Client): void => {
    if (client !== dropped) return;
    client = undefined;
    void dropped.end().catch(() => undefined);
    if (isClosed) return;
    later(pauseMs, () => void open());
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  };
  const check = async (opened: Client): Promise<void> => {
    try {
      await opened.query('SELECT 1');
      if (client === opened) later(CHECK_MS, () => void check(opened));
    } catch {
      drop(opened);
    }
  };
  const open = async (): Promise<void> => {
    const opened = connect();
    client = opened;
    opened.on('error', () => drop(opened));
    opened.on('end', () => drop(opened));
    opened.on('notification', ({ payload = '' }) => onMessage(payload));
    try {
      const connected = opened.connect();
      unref(opened);
      await connected;
      unref(opened); // an encrypted connection has another socket
      await opened.query(`LISTEN ${channel}`);
    } catch {
      drop(opened);
      return;
    }
    if (client !== opened) return;
    pauseMs = FIRST_PAUSE_MS;
    later(CHECK_MS, () => void check(opened));
    if (!isFirst) onMessage('');
    isFirst = false;
  };
  void open();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const open = client;
      client = undefined;
      await open?.end().catch(() => undefined);
    },
  };
}

/** An idle listener does not keep the process alive. */
function unref(client: Client): void {
  (client as Client & { unref(): void }).unref(); // the types lack it
}
