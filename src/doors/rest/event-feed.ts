import { randomUUID } from 'node:crypto';
import { whyNotAnswer } from '../../core/approval-request.ts';
import type { Caller } from '../../core/caller.ts';
import { isRecord } from '../../core/json.ts';
import type { Approver } from '../../core/policy.ts';
import type { Crib } from '../../crib/crib.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import { type EVENTS, type Tell, type Watching, watchCrib } from './event-watch.ts';

/** Sends the events of a crib to listeners. */
export interface EventFeed {
  /** A stream of events from now on, or from the last one that the client has; undefined if the limit of listeners is reached. */
  open(listening?: EventListening): Promise<ReadableStream<Uint8Array> | undefined>;
  /** A stream of other events for one listener; `begin` returns a function that stops them. Undefined if the limit is reached. */
  openOwn(
    begin: (own: Pick<EventStream, 'send' | 'finish'>) => () => void,
    listening?: Pick<EventListening, 'caller'>,
  ): ReadableStream<Uint8Array> | undefined;
  close(): void;
}

/** A listener of events. */
interface EventListening {
  /** The caller that listens; absent for an operator, who gets everything. */
  readonly caller?: Caller;
  /** The id of the last event that the client has. */
  readonly lastId?: string;
}

/** Options for creating an event feed. */
export interface EventFeedOptions {
  /** Default: 100. One caller that is not an operator gets a quarter of them, all such callers three quarters. */
  readonly maxListeners?: number;
  /** Interval of heartbeats on an idle connection. */
  readonly heartbeatMs?: number;
  /** Interval of the checks whether a listener may still listen. Default: 2 seconds. */
  readonly recheckMs?: number;
  /** Time for which events are still recorded after the last listener has left, so that it can resume. Default: 15 s. */
  readonly lingerMs?: number;
}

/** Number and size in characters of the recent events that a client can resume from. */
const MOST_KEPT = 2000;
const MOST_KEPT_LENGTH = 4_000_000;

interface KeptEvent {
  readonly number: number;
  readonly event: keyof typeof EVENTS;
  readonly data: unknown;
}

interface Listener extends Pick<EventListening, 'caller'> {
  readonly stream: EventStream;
}

/** Creates a feed that watches the crib only while it has listeners, and shortly after. */
export function createEventFeed(crib: Crib, options: EventFeedOptions = {}): EventFeed {
  const { maxListeners = 100, heartbeatMs = 15_000, lingerMs = 15_000 } = options;
  const listeners = new Set<Listener>();
  const owns = new Set<EventStream>();
  const recent = createRecentEvents();
  const places = createPlaces(maxListeners);
  const tell: Tell = (event, data) => {
    const kept = recent.add(event, data);
    for (const listener of listeners) sendTo(listener, kept, recent.idOf(kept));
  };
  const watching = createLingering(() => watchCrib(crib, tell), { lingerMs, onEnd: recent.restart });
  return {
    async open({ lastId, ...listening } = {}) {
      const leave = places.take(listening.caller);
      if (leave === undefined) return undefined;
      // Events from now on are sent.
      await watching.begin().catch((cause: unknown) => {
        leave();
        throw cause;
      });
      const stream = createEventStream(() => {
        leave();
        clearInterval(timer);
        listeners.delete(listener);
        if (listeners.size === 0) watching.leave();
      });
      const listener: Listener = { ...listening, stream };
      const timer = setInterval(stream.beat, heartbeatMs).unref();
      listeners.add(listener);
      const missed = lastId === undefined ? [] : recent.after(lastId);
      const resumed = lastId !== undefined && missed !== undefined;
      stream.send('hello', { at: new Date().toISOString(), resumed }, resumed ? undefined : recent.lastId());
      if (missed === undefined) stream.send('reset', {}, recent.lastId());
      for (const kept of missed ?? []) sendTo(listener, kept, recent.idOf(kept));
      return stream.stream;
    },
    openOwn(begin, { caller } = {}) {
      const leave = places.take(caller);
      if (leave === undefined) return undefined;
      const own = createEventStream(() => {
        leave();
        owns.delete(own);
        clearInterval(timer);
        stop();
      });
      owns.add(own);
      const timer = setInterval(own.beat, heartbeatMs).unref();
      const stop = begin(own);
      return own.stream;
    },
    close() {
      for (const { stream } of listeners) stream.end();
      for (const own of owns) own.end();
      watching.end();
    },
  };
}

/** Events of the feed itself: the beginning of a stream, and a gap. */
export const FEED_EVENTS = {
  hello: '`{ at, resumed }`: the first event of a stream; `resumed` is true if the events since `Last-Event-ID` follow',
  reset: '`{}`: the events since `Last-Event-ID` are not kept; read everything again',
} as const;

function sendTo({ stream, caller }: Listener, { event, data }: KeptEvent, id: string): void {
  const shown = caller === undefined ? data : shownTo(caller, event, data);
  if (shown !== undefined) stream.send(event, shown, id);
}

/** The data of an event for a caller that is not an operator: its own calls and tasks, and approvals that concern it. */
function shownTo(caller: Caller, event: KeptEvent['event'], data: unknown): unknown {
  if (!isRecord(data)) return undefined;
  switch (event) {
    case 'calls':
    case 'calls-started':
      return caller.id !== undefined && data.caller === caller.id ? data : undefined;
    case 'tasks':
      return isRecord(data.caller) && caller.id !== undefined && data.caller.id === caller.id ? data : undefined;
    case 'approvals': {
      const { caller: made, approvers } = data as { readonly caller: Caller; readonly approvers: readonly Approver[] }; // as toShownApproval makes it
      const isOwn = made.id !== undefined && made.id === caller.id;
      return isOwn || whyNotAnswer({ callerId: made.id ?? '', approvers }, caller) === undefined ? data : undefined;
    }
    case 'tools-changed':
      return {}; // names of tools may be hidden
    case 'sources':
    case 'stops':
      return undefined;
  }
}

/** The places of listeners. No caller can take those of others, nor all callers together those of operators. */
function createPlaces(most: number) {
  const taken = new Map<string | undefined, number>();
  const share = Math.ceil(most / 4);
  const sum = () => [...taken.values()].reduce((all, count) => all + count, 0);
  return {
    /** Takes a place and returns the function that leaves it; undefined if there is none. */
    take(caller: Caller | undefined): (() => void) | undefined {
      const holder = caller === undefined ? undefined : `caller ${caller.id ?? ''}`; // operators share theirs
      const [own, operators] = [taken.get(holder) ?? 0, taken.get(undefined) ?? 0];
      const isFull = holder !== undefined && (own >= share || sum() - operators >= Math.max(1, most - share));
      if (isFull || sum() >= most) return undefined;
      taken.set(holder, own + 1);
      return () => {
        const left = (taken.get(holder) ?? 0) - 1;
        if (left > 0) taken.set(holder, left);
        else taken.delete(holder);
      };
    },
  };
}

/** Starts a watch with the first listener, and ends it some time after the last one has left. */
function createLingering(start: () => Watching, { lingerMs, onEnd }: { readonly lingerMs: number; onEnd(): void }) {
  let watching: Watching | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearTimeout(timer);
    if (watching === undefined) return;
    watching.stop();
    watching = undefined;
    onEnd();
  };
  return {
    end,
    begin(): Promise<void> {
      clearTimeout(timer);
      watching ??= start();
      return watching.ready;
    },
    leave(): void {
      if (lingerMs === 0) end();
      else timer = setTimeout(end, lingerMs).unref();
    },
  };
}

/** The recent events. Ids name the run of the watch, so that no event of another run is taken for one of this run. */
function createRecentEvents() {
  const kept: { readonly event: KeptEvent; readonly length: number }[] = [];
  let run = randomUUID().slice(0, 8);
  let number = 0;
  let length = 0;
  const idOf = (event: Pick<KeptEvent, 'number'>): string => `${run}-${event.number}`;
  return {
    idOf,
    lastId: () => idOf({ number }),
    add(event: KeptEvent['event'], data: unknown): KeptEvent {
      const added = { number: ++number, event, data };
      const size = JSON.stringify(data)?.length ?? 0;
      kept.push({ event: added, length: size });
      length += size;
      while (kept.length > MOST_KEPT || (length > MOST_KEPT_LENGTH && kept.length > 1))
        length -= kept.shift()?.length ?? 0;
      return added;
    },
    /** The events after an id; undefined if some of them are not kept. */
    after(id: string): readonly KeptEvent[] | undefined {
      const [, of, at] = /^([\da-f]{8})-(\d{1,15})$/.exec(id) ?? [];
      const last = Number(at);
      const oldest = kept[0]?.event.number ?? number + 1;
      if (of !== run || last > number || last < oldest - 1) return undefined;
      return kept.flatMap(({ event }) => (event.number > last ? [event] : []));
    },
    restart(): void {
      run = randomUUID().slice(0, 8);
      kept.length = 0;
      length = 0;
      number = 0;
    },
  };
}
