import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { type SourceEntry, toEntries } from './source-entries.ts';

/** The entries of the configuration by the names of their sources. */
export function useSourceEntries(): ReadonlyMap<string, SourceEntry> | undefined {
  const { data } = useQuery({
    queryKey: ['sources', 'configuration'],
    queryFn: ({ signal }) => api<Answer<'/api/configuration'>>('/api/configuration', { signal }),
    select: ({ values }) => toEntries(values),
  });
  return data;
}
