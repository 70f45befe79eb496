import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

/** Answers of the server are kept and refreshed by events; a refusal is final, a lost connection is tried again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => !(error instanceof ApiError) && count < 3,
    },
  },
});
