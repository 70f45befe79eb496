import { useEffect, useRef } from 'react';

/** Listens to events of the server while the component is shown. */
export function useServerEvents(names: readonly string[], listener: (name: string, data: unknown) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  const key = names.join(' ');
  useEffect(() => {
    const wanted = new Set(key.split(' '));
    return listen((name, data) => wanted.has(name) && latest.current(name, data));
  }, [key]);
}

type Listener = (name: string, data: unknown) => void;
const listeners = new Set<Listener>();
let stop: AbortController | undefined;

function listen(listener: Listener): () => void {
  listeners.add(listener);
  if (stop === undefined) {
    stop = new AbortController();
    void readForever(stop.signal);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stop?.abort();
    stop = undefined;
  };
}

async function readForever(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { body } = await fetch('/api/events', { headers: { 'x-toolcrib-console': '1' }, signal });
      if (body === null) return;
      let rest = '';
      for await (const text of body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
        const parts = (rest + text).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) tell(part);
      }
    } catch {
      // The connection is lost: it is opened again below.
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

function tell(part: string): void {
  const name = /^event: (.*)$/m.exec(part)?.[1];
  const data = /^data: (.*)$/m.exec(part)?.[1];
  if (name === undefined || data === undefined) return;
  for (const listener of listeners) listener(name, JSON.parse(data));
}
