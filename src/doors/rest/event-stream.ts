/** HTTP headers of an event stream. */
export const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no', // a buffering proxy would delay events
};

/** Maximum number of events buffered for a slow reader; then the oldest are dropped. */
const MAX_WAITING = 1000;
/** Maximum size of the buffer in characters. */
const MAX_WAITING_LENGTH = 2_000_000;
/** Number of events written to the connection ahead of the reader. */
const AHEAD = 16;

/** The event that every stream may have. */
export const LOST_EVENT = {
  name: 'lost',
  data: '`{ count }`: how many events were dropped because the client read too slowly',
};

/** A stream of server-sent events to one listener. */
export interface EventStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** Sends an event; `id` lets the client resume after it. */
  send(event: string, data: unknown, id?: string): void;
  /** Sends a heartbeat if no event is waiting. */
  beat(): void;
  /** Ends the stream after the events that are waiting. */
  finish(): void;
  end(): void;
}

/** Creates an event stream with a bounded buffer. A slow reader is told how many events were lost. */
export function createEventStream(onGone: () => void): EventStream {
  const encoder = new TextEncoder();
  const backlog = createBacklog();
  let isOver = false;
  let isFinishing = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const hasRoom = () => (controller?.desiredSize ?? 0) > 0;
  const write = (text: string) => controller?.enqueue(encoder.encode(text));
  const flush = (): void => {
    if (isOver || !hasRoom()) return;
    const lost = backlog.takeLost();
    if (lost > 0) write(toText(LOST_EVENT.name, { count: lost }));
    while (!backlog.isEmpty() && hasRoom()) write(backlog.take());
    if (isFinishing && backlog.isEmpty()) end();
  };
  const leave = (): void => {
    if (isOver) return;
    isOver = true;
    backlog.clear();
    onGone();
  };

  const end = (): void => {
    if (isOver) return;
    leave();
    controller?.close();
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        write(': connected\n\n'); // sends the headers at once
      },
      pull: flush,
      cancel: leave,
    },
    { highWaterMark: AHEAD },
  );
  return {
    stream,
    send(event, data, id) {
      if (isOver) return;
      backlog.add(toText(event, data, id));
      flush();
    },
    beat() {
      if (!isOver && backlog.isEmpty() && hasRoom()) write(': \n\n');
    },
    finish() {
      isFinishing = true;
      flush();
    },
    end,
  };
}

/** A bounded buffer of events; the oldest are dropped and counted. */
function createBacklog() {
  const waiting: string[] = [];
  let length = 0;
  let lost = 0;
  const take = (): string => {
    const oldest = waiting.shift() ?? '';
    length -= oldest.length;
    return oldest;
  };
  return {
    take,
    isEmpty: () => waiting.length === 0,
    add(text: string) {
      waiting.push(text);
      length += text.length;
      while (waiting.length > MAX_WAITING || (length > MAX_WAITING_LENGTH && waiting.length > 1)) {
        take();
        lost++;
      }
    },
    takeLost(): number {
      const count = lost;
      lost = 0;
      return count;
    },
    clear() {
      waiting.length = 0;
      length = 0;
    },
  };
}

function toText(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
