import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { SESSION_KEY } from '../api/session.ts';
import { useLive, useServerEvents } from '../parts/live-events.ts';

/** Keys of answers that an event makes old. Pages that change rows in place listen themselves. */
const OLD: Readonly<Record<string, readonly (readonly string[])[]>> = {
  approvals: [['counts', 'approvals']],
  sources: [['sources'], ['counts', 'tools']],
  'tools-changed': [['sources'], ['counts', 'tools'], ['tools'], ['facets']],
  stops: [['stops'], ['sources']],
};

/** The answer that no gap makes old. */
const KEPT: unknown = SESSION_KEY[0];

/** Loads answers again that events made old, and everything after a gap. */
export function useEventRefresh(): void {
  const queries = useQueryClient();
  const { state } = useLive();
  useServerEvents([...Object.keys(OLD), 'reset', 'lost'], (name) => {
    const keys = OLD[name];
    if (keys === undefined) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEPT });
    else for (const queryKey of keys) void queries.invalidateQueries({ queryKey: [...queryKey] });
  });
  useEffect(() => {
    // What changed between the first answers and the begin of the stream.
    if (state === 'live')
      for (const key of ['counts', 'approvals']) void queries.invalidateQueries({ queryKey: [key] });
  }, [state, queries]);
}
