import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { ApprovalRule } from '../../parts/approval/approval-rule.tsx';
import type { JsonMembers, Remember } from '../../parts/approval/approval-types.ts';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { Empty } from '../../parts/empty.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './remembered-list.module.css';

/** A remembered approval, as REST lists it. */
interface Grant {
  readonly id: string;
  readonly by: string;
  readonly at: string;
  readonly expiresAt: string;
  readonly usesLeft?: number;
  readonly tool?: string;
  readonly caller?: { readonly id?: string };
  readonly profile?: string;
  readonly conversation?: string;
  readonly inside?: readonly string[];
  readonly arguments?: JsonMembers;
  readonly remember?: Remember;
  readonly note?: string;
}

/** The remembered approvals, each with its rule and a button that revokes it. */
export function RememberedList() {
  const { data, error, isLoading, refetch } = useQuery({
    queryKey: ['grants'],
    queryFn: ({ signal }) => api<{ grants: readonly Grant[] }>('/api/grants', { signal }),
    staleTime: 0,
  });
  if (error !== null)
    return <CouldNotLoad what="The remembered approvals" message={error.message} onRetry={() => void refetch()} />;
  if (isLoading || data === undefined) return <SkeletonRows count={4} />;
  if (data.grants.length === 0)
    return (
      <Empty title="No approval is remembered.">
        <p className="soft">
          An approval is remembered if the approver chooses so on its card. The rule is then listed here.
        </p>
      </Empty>
    );
  return (
    <ul className={classes.list}>
      {data.grants.map((grant) => (
        <li key={grant.id} className={classes.grant}>
          <GrantRule grant={grant} />
        </li>
      ))}
    </ul>
  );
}

function GrantRule({ grant }: { readonly grant: Grant }) {
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api(`/api/grants/${encodeURIComponent(grant.id)}`, { method: 'DELETE' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['grants'] }),
  });
  const { tool = '', caller = {}, profile = '', remember, usesLeft } = grant;
  return (
    <>
      <div className={classes.head}>
        <span>
          <strong className="name">
            <VisibleText text={tool === '' ? grant.id : tool} limit={100} />
          </strong>{' '}
          <span className="soft">
            remembered by <VisibleText text={grant.by} limit={80} /> <RelativeTime at={grant.at} />
            {usesLeft !== undefined && `, ${usesLeft} calls left`}
          </span>
        </span>
        <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
          Revoke
        </button>
      </div>
      {error !== null && (
        <p role="alert">
          <VisibleText text={error.message} />
        </p>
      )}
      {remember !== undefined && (
        <ApprovalRule
          about={{ ...grant, tool, caller, profile }}
          remember={remember}
          endsAt={Date.parse(grant.expiresAt)}
          usesLeft={usesLeft}
        />
      )}
    </>
  );
}
