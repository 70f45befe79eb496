import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Approval } from '../../parts/approval/approval-types.ts';
import { putApproval } from '../../parts/approval/use-approval.ts';
import { useServerEvents } from '../../parts/live-events.ts';

const LIST = ['approvals', 'list'];

interface Inbox {
  readonly waiting: readonly Approval[];
  /** Requests that are over; newest first. */
  readonly answered: readonly Approval[];
  /** The waiting requests and those that were answered while the page was open, oldest first: no row disappears under the pointer. */
  readonly shown: readonly Approval[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  reload(): void;
}

/** The requests for approval, kept up to date by events. */
export function useInbox(): Inbox {
  const queries = useQueryClient();
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const { data, error, isLoading, refetch } = useQuery({
    queryKey: LIST,
    queryFn: ({ signal }) =>
      api<{ approvals: readonly Approval[] }>('/api/approvals', { query: { limit: 200 }, signal }),
  });
  useServerEvents(['approvals', 'reset', 'lost'], (name, changed) => {
    if (name === 'approvals')
      putApproval(queries, changed as Approval); // the shape of the event
    else void queries.invalidateQueries({ queryKey: ['approvals'] });
  });
  const approvals = data?.approvals ?? [];
  const waiting = approvals.filter(({ state }) => state === 'waiting');
  const unseen = waiting.filter(({ id }) => !seen.has(id));
  if (unseen.length > 0) setSeen(new Set([...seen, ...unseen.map(({ id }) => id)]));
  return {
    waiting,
    answered: approvals.filter(({ state }) => state !== 'waiting').toReversed(),
    shown: approvals.filter(({ id, state }) => state === 'waiting' || seen.has(id)),
    isLoading,
    error,
    reload: () => void refetch(),
  };
}
