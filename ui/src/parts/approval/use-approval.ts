import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, api } from '../../api/client.ts';
import type { Approval, ApprovalBinding, Decision } from './approval-types.ts';

/** One request with its whole arguments, as the server knows it now. */
export function useApproval(id: string) {
  return useQuery({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => api<{ approval: Approval }>(`/api/approvals/${encodeURIComponent(id)}`, { signal }),
    select: ({ approval }) => approval,
  });
}

/** The hashes that an answer is bound to, and the last approved call of the same tool and caller. */
export function useBinding(id: string) {
  return useQuery({
    queryKey: ['approvals', 'binding', id],
    queryFn: ({ signal }) => api<ApprovalBinding>(`/api/approvals/${encodeURIComponent(id)}/binding`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Answers a request. If another approver was first, the request is read again and says by whom. */
export function useAnswer(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (decision: Decision) =>
      api<{ approval: Approval }>(`/api/approvals/${encodeURIComponent(id)}`, { method: 'POST', body: decision }),
    onSuccess: ({ approval }) => putApproval(queries, approval),
    onError: (error) => {
      if (error instanceof ApiError) void queries.invalidateQueries({ queryKey: ['approvals'] });
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['grants'] }),
  });
}

type Queries = ReturnType<typeof useQueryClient>;

/** Takes a request from an answer or an event into what the page shows. Its arguments may be cut: whole ones are kept. */
export function putApproval(queries: Queries, changed: Approval): void {
  queries.setQueryData<{ approval: Approval }>(['approvals', 'one', changed.id], (before) => {
    if (before === undefined) return before;
    const { arguments: _arguments, argumentsLength: _length, ...rest } = changed;
    return { approval: { ...before.approval, ...rest } };
  });
  queries.setQueriesData<{ approvals: readonly Approval[] }>({ queryKey: ['approvals', 'list'] }, (before) => {
    if (before === undefined) return before;
    const isKnown = before.approvals.some(({ id }) => id === changed.id);
    const replaced = before.approvals.map((approval) => (approval.id === changed.id ? changed : approval));
    return { approvals: isKnown ? replaced : [...before.approvals, changed] };
  });
}
