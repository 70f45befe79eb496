import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useServerEvents } from '../../parts/live-events.ts';

const PAGE_SIZE = 1000;
const DEBOUNCE_MS = 60;
const MAX_HITS = 50;

/** A source as the server lists it. */
export type SourceRow = Answer<'/api/sources'>['sources'][number];

type Facets = Answer<'/api/tools/facets'>;

/** An entry of a source that did not become a tool. */
export type LeftOut = NonNullable<Facets['leftOut']>[number];

/** An answer of the search, with the words it is for. */
export type SearchAnswer = Answer<'/api/search'> & { readonly words: string };

type ToolsAnswer = Answer<'/api/tools'>;

/** All tools, or those of a profile. The first thousand are shown while the others are on their way. */
export function useTools(profile: string | undefined) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['tools', 'all', profile],
    queryFn: ({ signal }) => readAll(client, profile, signal),
  });
  const { data: first } = useQuery<ToolsAnswer>({ queryKey: ['tools', 'first', profile], enabled: false });
  // The rows contain the states of sources, and stops; the frame follows the other events.
  useServerEvents(['sources', 'stops'], () => void client.invalidateQueries({ queryKey: ['tools', 'all'] }));
  return { rows: data?.tools ?? first?.tools, total: data?.total ?? first?.total ?? 0, error, refetch };
}

async function readAll(client: QueryClient, profile: string | undefined, signal: AbortSignal): Promise<ToolsAnswer> {
  const query = { limit: PAGE_SIZE, profile };
  let page = await api<ToolsAnswer>('/api/tools', { query, signal });
  if (page.nextCursor === undefined) return page;
  client.setQueryData(['tools', 'first', profile], page);
  const tools = [...page.tools];
  while (page.nextCursor !== undefined) {
    page = await api<ToolsAnswer>('/api/tools', { query: { ...query, cursor: page.nextCursor }, signal });
    tools.push(...page.tools);
  }
  return { tools, total: page.total };
}

/** What stands beside the tools for an operator: sources that have trouble, and entries that are not tools. */
export function useTrouble() {
  const { role } = useSession();
  const enabled = role === 'operator';
  const sources = useQuery({
    queryKey: ['sources'],
    enabled,
    queryFn: ({ signal }) => api<Answer<'/api/sources'>>('/api/sources', { signal }),
  });
  const facets = useQuery({
    queryKey: ['tools', 'facets'],
    enabled,
    queryFn: ({ signal }) => api<Facets>('/api/tools/facets', { signal }),
  });
  return {
    isLoading: sources.isLoading,
    // A source that is ready and has a reason left something out.
    sources: sources.data?.sources.filter(({ state, reason }) => state !== 'ready' || reason !== undefined) ?? [],
    leftOut: facets.data?.leftOut ?? [],
    leftOutTotal: facets.data?.leftOutTotal ?? 0,
  };
}

/** Searches by meaning while the operator types. The last answer stays until the next one is there. */
export function useSearch(words: string, profile: string | undefined) {
  const [asked, setAsked] = useState(words.trim());
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const { data, error } = useQuery({
    queryKey: ['tools', 'search', asked, profile],
    enabled: asked !== '',
    queryFn: async ({ signal }): Promise<SearchAnswer> => {
      const query = { q: asked, limit: MAX_HITS, profile };
      const answer = await api<Answer<'/api/search'>>('/api/search', { query, signal });
      return { ...answer, words: asked };
    },
    placeholderData: (before) => before,
  });
  return { answer: words.trim() === '' ? undefined : data, error };
}
