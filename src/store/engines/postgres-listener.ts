import type { Client } from 'pg';
import type { SqlEngine } from './sql-engine.ts';

/** Pauses before another attempt to connect. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A connection that was cut silently is noticed by a query that is not answered. */
const CHECK_MS = 30_000;

/** Notifications of PostgreSQL. */
export interface PostgresNotices {
  readonly listen: NonNullable<SqlEngine['listen']>;
  /** Closes the connections of all listeners. */
  close(): Promise<void>;
}

/** Creates the listening side of an engine. Each listener has a connection of its own. */
export function createListening(connect: () => Client): PostgresNotices {
  const listeners = new Set<PostgresListener>();
  let isClosed = false;
  return {
    listen(channel, onMessage) {
      if (isClosed) return () => undefined;
      const listener = new PostgresListener({ connect, channel, onMessage });
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        void listener.close();
      };
    },
    async close() {
      isClosed = true;
      await Promise.all(Array.from(listeners, (listener) => listener.close()));
    },
  };
}

interface ListenerOptions {
  readonly channel: string;
  connect(): Client;
  onMessage(message: string): void;
}

/** Receives the notifications of a channel, and '' after each time it has connected again. It connects again for as long as it is open. */
class PostgresListener {
  readonly #options: ListenerOptions;
  #isClosed = false;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isFirst = true;

  constructor(options: ListenerOptions) {
    this.#options = options;
    void this.#open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    (client as Counted).ref(); // it is waited for
    await client.end().catch(() => undefined); // it is gone already
  }

  async #open(): Promise<void> {
    const { connect, channel, onMessage } = this.#options;
    const client = connect();
    this.#client = client;
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    client.on('notification', ({ payload = '' }) => onMessage(payload));
    try {
      const connected = client.connect();
      unref(client);
      await connected;
      if (this.#client !== client) return; // closed meanwhile, and waited for
      unref(client); // an encrypted connection has another socket
      await client.query(`LISTEN ${channel}`);
    } catch {
      this.#drop(client);
    }
    if (this.#client !== client) return;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#later(CHECK_MS, () => this.#check(client));
    if (!this.#isFirst) onMessage('');
    this.#isFirst = false;
  }

  async #check(client: Client): Promise<void> {
    try {
      await client.query('SELECT 1');
      if (this.#client === client) this.#later(CHECK_MS, () => this.#check(client));
    } catch {
      this.#drop(client);
    }
  }

  #drop(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    void client.end().catch(() => undefined); // it is gone already
    if (this.#isClosed) return;
    this.#later(this.#pauseMs, () => this.#open());
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #later(ms: number, task: () => Promise<void>): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void task(), ms).unref();
  }
}

/** Methods that the types lack. */
type Counted = Client & { ref(): void; unref(): void };

/** An idle listener does not keep the process alive. */
function unref(client: Client): void {
  (client as Counted).unref(); // see above
}
