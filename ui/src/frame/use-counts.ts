import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../api/answer.ts';
import { api } from '../api/client.ts';
import { type PageName, useSession } from '../api/session.ts';

/** Numbers beside the pages: tools, waiting approvals, failed sources. */
export type Counts = Readonly<Partial<Record<PageName, number>>>;

/** The largest number of waiting approvals that is counted. */
const MOST_WAITING = 200;

/** Counts what the caller may see. Events refresh it. */
export function useCounts(): Counts {
  const { pages, signedIn } = useSession();
  const tools = useQuery({
    queryKey: ['counts', 'tools'],
    queryFn: ({ signal }) => api<Answer<'/api/tools'>>('/api/tools', { query: { limit: 1 }, signal }),
    select: ({ total }) => total,
    enabled: pages.includes('tools'),
  });
  const approvals = useQuery({
    queryKey: ['counts', 'approvals'],
    queryFn: ({ signal }) =>
      api<Answer<'/api/approvals'>>('/api/approvals', { query: { state: 'waiting', limit: MOST_WAITING }, signal }),
    select: (answer) => answer.approvals.length,
    enabled: signedIn && pages.includes('approvals'),
  });
  const sources = useQuery({
    queryKey: ['sources'],
    queryFn: ({ signal }) => api<Answer<'/api/sources'>>('/api/sources', { signal }),
    select: (answer) => answer.sources.filter(({ state }) => state === 'failed' || state === 'down').length,
    enabled: pages.includes('sources'),
  });
  return {
    ...(tools.data !== undefined && { tools: tools.data }),
    ...(approvals.data !== undefined && { approvals: approvals.data }),
    ...(sources.data !== undefined && { sources: sources.data }),
  };
}
