import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, api } from '../../api/client.ts';
import type { Approval, ApprovalBinding, ApprovalItem, Decision } from './approval-types.ts';

/** One request with its whole arguments, as the server knows it now. */
export function useApproval(id: string) {
  return useQuery({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => api<{ approval: Approval }>(`/api/approvals/${encodeURIComponent(id)}`, { signal }),
    select: ({ approval }) => approval,
  });
}

/** The hashes that an answer is bound to, and the last approved call of the same tool and caller. */
export function useBinding(id: string | undefined) {
  return useQuery({
    queryKey: ['approvals', 'binding', id],
    queryFn: ({ signal }) => api<ApprovalBinding>(`/api/approvals/${encodeURIComponent(id ?? '')}/binding`, { signal }),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Answers a request. If another approver was first, the request is read again and says by whom. */
export function useAnswer(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (decision: Decision) =>
      api<{ approval: Approval }>(`/api/approvals/${encodeURIComponent(id)}`, { method: 'POST', body: decision }),
    onSuccess: ({ approval }) => {
      // The answer to one call of a batch is that call alone; the batch is read again.
      if (approval.batch === undefined || approval.batch === approval.id) putApproval(queries, approval);
      else void queries.invalidateQueries({ queryKey: ['approvals'] });
    },
    onError: (error) => {
      if (error instanceof ApiError) void queries.invalidateQueries({ queryKey: ['approvals'] });
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['grants'] }),
  });
}

/** The changed request with the whole arguments that are known. */
function withWhole(changed: Approval, known: Approval): Approval {
  const { arguments: _arguments, argumentsLength: _length, items, ...rest } = changed;
  if (items === undefined) return { ...known, ...rest };
  const wholes = new Map(known.items?.map((item) => [item.id, item]));
  return { ...known, ...rest, items: items.map((item) => ({ ...item, ...argumentsOf(wholes.get(item.id)) })) };
}

function argumentsOf(item: ApprovalItem | undefined): Partial<Pick<ApprovalItem, 'arguments'>> {
  return item === undefined ? {} : { arguments: item.arguments };
}

type Queries = ReturnType<typeof useQueryClient>;

/** Takes a request from an answer or an event into what the page shows. Its arguments may be cut: whole ones are kept. */
export function putApproval(queries: Queries, changed: Approval): void {
  queries.setQueryData<{ approval: Approval }>(['approvals', 'one', changed.id], (before) => {
    if (before === undefined) return before;
    return { approval: withWhole(changed, before.approval) };
  });
  queries.setQueriesData<{ approvals: readonly Approval[] }>({ queryKey: ['approvals', 'list'] }, (before) => {
    if (before === undefined) return before;
    const isKnown = before.approvals.some(({ id }) => id === changed.id);
    const replaced = before.approvals.map((approval) => (approval.id === changed.id ? changed : approval));
    return { approvals: isKnown ? replaced : [...before.approvals, changed] };
  });
}
