import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { type SourceEntry, toEntries } from './source-entries.ts';

/** The entries of the configuration by the names of their sources. */
export function useSourceEntries(): {
  readonly entries: ReadonlyMap<string, SourceEntry> | undefined;
  readonly isLoading: boolean;
} {
  const { data, isLoading } = useQuery({
    queryKey: ['sources', 'configuration'],
    queryFn: ({ signal }) => api<Answer<'/api/configuration'>>('/api/configuration', { signal }),
    select: ({ values }) => toEntries(values),
  });
  return { entries: data, isLoading };
}
