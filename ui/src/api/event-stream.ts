/** An event of the server. */
export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
  readonly id?: string;
}

/** Options for reading a stream of events once, until it ends. */
interface Reading {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  onOpen?(): void;
  /** Called for every piece, heartbeats included. */
  onBytes?(): void;
  onEvent(event: ServerEvent): void;
}

/** Longest silence of a stream that lives: the server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 40_000;

/** Reads a stream of events until it ends, breaks, or says nothing for too long. Returns the status of a refusal. */
export async function readEventStream(path: string, reading: Reading): Promise<number | undefined> {
  const { headers, signal, onOpen, onBytes, onEvent } = reading;
  const dead = new AbortController();
  let heardAt = Date.now();
  const watch = setInterval(() => Date.now() - heardAt > SILENCE_MS && dead.abort(), 2000);
  try {
    const response = await fetch(path, { headers, signal: AbortSignal.any([signal, dead.signal]) });
    if (!response.ok || response.body === null) return response.status;
    onOpen?.();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      heardAt = Date.now();
      onBytes?.();
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const event = toEvent(part);
        if (event !== undefined) onEvent(event);
      }
    }
  } catch {
    return undefined; // the connection is lost, or was silent; the caller opens another
  } finally {
    clearInterval(watch);
    dead.abort();
  }
}

function toEvent(part: string): ServerEvent | undefined {
  const fields = new Map(
    part.split('\n').flatMap((line) => {
      const colon = line.indexOf(': ');
      return colon <= 0 ? [] : [[line.slice(0, colon), line.slice(colon + 2)] as const];
    }),
  );
  const [name, data, id] = ['event', 'data', 'id'].map((field) => fields.get(field));
  if (name === undefined || data === undefined) return undefined;
  return { name, data: JSON.parse(data), ...(id !== undefined && { id }) };
}
