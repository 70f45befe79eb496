import { askForSignIn, OWN_HEADER } from './client.ts';
import { readEventStream, type ServerEvent } from './event-stream.ts';

/** The state of the event stream. `since`: until when the page is known to be up to date. */
export type Live =
  | { readonly state: 'off' }
  | { readonly state: 'live' }
  | { readonly state: 'connecting' | 'reconnecting'; readonly since: number };

/** The events of the server in this tab. */
export interface EventChannel {
  /** Begins to listen. Idempotent. */
  start(): void;
  stop(): void;
  subscribe(listener: (event: ServerEvent) => void): () => void;
  live(): Live;
  onLive(listener: () => void): () => void;
}

type Message = { readonly event: ServerEvent } | { readonly live: Live } | { readonly question: 'live' };

const NAME = 'toolcrib-events';
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** The tab with the stream tells the others at most this often that it lives. */
const TELL_MS = 5000;
/** A tab that hears nothing of the tab with the stream for this long says so. */
const QUIET_MS = 60_000;

/**
 * Creates the channel. One tab holds a lock and reads the stream for all tabs of the browser, because HTTP/1.1 allows six
 * connections to a server. When that tab closes, another gets the lock.
 */
export function createEventChannel(): EventChannel {
  const listeners = new Set<(event: ServerEvent) => void>();
  const channel = new BroadcastChannel(NAME);
  const live = createLive();
  let heardAt = 0;
  let lastId: string | undefined;
  let running: AbortController | undefined;

  const receive = (message: Message): void => {
    heardAt = Date.now();
    if ('live' in message) live.set(message.live);
    if (!('event' in message)) return;
    lastId = message.event.id ?? lastId;
    for (const listener of listeners) listener(message.event);
  };
  const publish = (message: Message): void => {
    channel.postMessage(message);
    receive(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (running === undefined) return;
    if ('question' in data) return live.get().state === 'live' ? channel.postMessage({ live: live.get() }) : undefined;
    receive(data);
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const watch = setInterval(() => {
      if (live.get().state === 'live' && Date.now() - heardAt > QUIET_MS)
        live.set({ state: 'reconnecting', since: heardAt });
    }, 2000);
    signal.addEventListener('abort', () => clearInterval(watch));
    live.set({ state: 'connecting', since: Date.now() });
    channel.postMessage({ question: 'live' } satisfies Message);
    await whenLeader(signal, () => readAll({ signal, publish, live: live.get, lastId: () => lastId }));
  };

  return {
    start() {
      if (running !== undefined) return;
      running = new AbortController();
      void run(running.signal);
    },
    stop() {
      running?.abort();
      running = undefined;
      live.set({ state: 'off' });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    live: live.get,
    onLive: live.on,
  };
}

/** Runs a function in one tab at a time. Locks exist on https and on this machine; elsewhere every tab runs it. */
async function whenLeader(signal: AbortSignal, lead: () => Promise<void>): Promise<void> {
  try {
    await (navigator.locks === undefined ? lead() : navigator.locks.request(NAME, { signal }, lead));
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
}

/** The state of the stream, and the parts of the page that show it. */
function createLive() {
  const listeners = new Set<() => void>();
  let live: Live = { state: 'off' };
  return {
    get: () => live,
    set(next: Live): void {
      const isSame = live.state === 'live' && next.state === 'live';
      live = next;
      if (isSame) return;
      for (const listener of listeners) listener();
    },
    on(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Leading {
  readonly signal: AbortSignal;
  publish(message: Message): void;
  live(): Live;
  lastId(): string | undefined;
}

/** Reads the stream for all tabs, again and again until this tab stops. */
async function readAll({ signal, publish, live, lastId }: Leading): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  let toldAt = 0;
  let hasGap = live().state === 'live'; // another tab read it before
  while (!signal.aborted) {
    const id = lastId();
    const refused = await readEventStream('/api/events', {
      headers: { ...OWN_HEADER, ...(id === undefined ? {} : { 'last-event-id': id }) },
      signal,
      onOpen() {
        waitMs = FIRST_WAIT_MS;
        publish({ live: { state: 'live' } });
        // Without an id the server cannot repeat what was missed: every tab loads its data again.
        if (hasGap && id === undefined) publish({ event: { name: 'reset', data: {} } });
        hasGap = true;
      },
      onBytes() {
        if (Date.now() - toldAt < TELL_MS) return;
        toldAt = Date.now();
        publish({ live: { state: 'live' } });
      },
      onEvent: (event) => publish({ event }),
    });
    if (signal.aborted) return;
    if (refused === 403 || refused === 404) return publish({ live: { state: 'off' } });
    const before = live();
    publish({ live: { state: 'reconnecting', since: 'since' in before ? before.since : Date.now() } });
    if (refused === 401 && !(await askForSignIn())) return publish({ live: { state: 'off' } });
    if (refused === 401) continue;
    await waitOrOnline(waitMs, signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

/** Waits, but not longer than until the browser is online again or this tab stops. */
function waitOrOnline(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
