import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';
import type { EventChannel, Live } from '../api/event-channel.ts';

/** The events of the server, for all parts of the page. */
export const EventsContext = createContext<EventChannel | undefined>(undefined);

/** The channel of the page. */
export function useChannel(): EventChannel {
  const channel = useContext(EventsContext);
  if (channel === undefined) throw new Error('The page has no channel of events.');
  return channel;
}

/** Listens to events of the server while the component is shown. `reset` and `lost` mean: events were missed, load again. */
export function useServerEvents(names: readonly string[], listener: (name: string, data: unknown) => void): void {
  const channel = useChannel();
  const latest = useRef(listener);
  latest.current = listener;
  const key = names.join(' ');
  useEffect(() => {
    const wanted = new Set(key.split(' '));
    return channel.subscribe(({ name, data }) => wanted.has(name) && latest.current(name, data));
  }, [key, channel]);
}

/** The state of the event stream. */
export function useLive(): Live {
  const channel = useChannel();
  return useSyncExternalStore(channel.onLive, channel.live);
}
