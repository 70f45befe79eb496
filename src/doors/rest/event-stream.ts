/** The headers of such a stream. */
export const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no', // a proxy that collects would keep events back
};

/** How many events wait for somebody who reads slowly, before the oldest are dropped. */
const MAX_WAITING = 1000;
/** The same in characters, for events that are long. */
const MAX_WAITING_LENGTH = 2_000_000;
/** How many are handed to the connection ahead of reading. */
const AHEAD = 16;

/** Server-sent events to somebody who listens. */
export interface EventStream {
  readonly stream: ReadableStream<Uint8Array>;
  send(event: string, data: unknown): void;
  /** Says that the connection lives, where nothing waits to be said. */
  beat(): void;
  end(): void;
}

/** Whoever reads too slowly is told how many were lost, and costs no more memory. */
export function createEventStream(onGone: () => void): EventStream {
  const encoder = new TextEncoder();
  const waiting: string[] = [];
  let [waitingLength, lost] = [0, 0];
  let isOver = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const takeOldest = (): string => {
    const oldest = waiting.shift() ?? '';
    waitingLength -= oldest.length;
    return oldest;
  };
  const hasRoom = () => (controller?.desiredSize ?? 0) > 0;
  const write = (text: string) => controller?.enqueue(encoder.encode(text));
  const flush = (): void => {
    if (isOver || !hasRoom()) return;
    if (lost > 0) write(toText('lost', { count: lost }));
    lost = 0;
    while (waiting.length > 0 && hasRoom()) write(takeOldest());
  };
  const leave = (): void => {
    if (isOver) return;
    isOver = true;
    waiting.length = 0;
    onGone();
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        write(': connected\n\n'); // so that the headers leave at once
      },
      pull: flush,
      cancel: leave,
    },
    { highWaterMark: AHEAD },
  );
  return {
    stream,
    send(event, data) {
      if (isOver) return;
      const text = toText(event, data);
      waiting.push(text);
      waitingLength += text.length;
      while (waiting.length > MAX_WAITING || (waitingLength > MAX_WAITING_LENGTH && waiting.length > 1)) {
        takeOldest();
        lost++;
      }
      flush();
    },
    beat() {
      if (!isOver && waiting.length === 0 && hasRoom()) write(': \n\n');
    },
    end() {
      if (!isOver) controller?.close();
      leave();
    },
  };
}

function toText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
