import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Answer } from '../api/answer.ts';
import { SESSION_KEY } from '../api/session.ts';
import { useLive, useServerEvents } from '../parts/live-events.ts';

/** Keys of answers that an event makes old. Pages that change rows in place listen themselves. */
const OLD: Readonly<Record<string, readonly (readonly string[])[]>> = {
  approvals: [['counts', 'approvals']],
  sources: [['sources'], ['counts', 'tools']],
  'tools-changed': [['sources'], ['counts', 'tools'], ['tools'], ['facets']],
  stops: [['stops'], ['sources']],
};

/** A change that an event told: of the state of a source, or of the list of tools. */
export type SeenChange =
  | { readonly at: string; readonly source: string; readonly state: SourceState; readonly reason?: string }
  | ({ readonly at: string } & Readonly<Partial<Record<'added' | 'removed' | 'changed', readonly string[]>>>);

type SourceState = Answer<'/api/sources'>['sources'][number]['state'];

/** The key of the changes since the console was opened, newest first. */
export const CHANGES_KEY = ['changes'] as const;
const MOST_CHANGES = 200;

function toChange(name: string, data: unknown): SeenChange {
  const at = new Date().toISOString();
  if (name !== 'sources') return { at, ...(data as object) }; // the shapes of these events
  const { name: source, state, reason } = data as { name: string; state: SourceState; reason?: string };
  return { at, source, state, ...(reason !== undefined && { reason }) };
}

/** Answers that no gap makes old. */
const KEPT: readonly unknown[] = [SESSION_KEY[0], CHANGES_KEY[0]];

/** Loads answers again that events made old, and everything after a gap. */
export function useEventRefresh(): void {
  const queries = useQueryClient();
  const { state } = useLive();
  useServerEvents([...Object.keys(OLD), 'reset', 'lost'], (name, data) => {
    if (name === 'sources' || name === 'tools-changed')
      queries.setQueryData<readonly SeenChange[]>(CHANGES_KEY, (seen = []) =>
        [toChange(name, data), ...seen].slice(0, MOST_CHANGES),
      );
    const keys = OLD[name];
    if (keys === undefined)
      void queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.includes(queryKey[0]) });
    else for (const queryKey of keys) void queries.invalidateQueries({ queryKey: [...queryKey] });
  });
  useEffect(() => {
    // What changed between the first answers and the begin of the stream.
    if (state === 'live')
      for (const key of ['counts', 'approvals']) void queries.invalidateQueries({ queryKey: [key] });
  }, [state, queries]);
}
