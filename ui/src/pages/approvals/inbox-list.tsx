import { Link } from 'wouter';
import { Countdown } from '../../parts/approval/answer-bar.tsx';
import { objectOf } from '../../parts/approval/approval-sentence.tsx';
import type { Approval } from '../../parts/approval/approval-types.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './inbox-list.module.css';

interface InboxListProps {
  readonly approvals: readonly Approval[];
  readonly open: string;
  addressOf(id: string): string;
}

/** The requests, one under the other: tool, caller, object, and how much time is left. */
export function InboxList({ approvals, open, addressOf }: InboxListProps) {
  return (
    <ul className={classes.list} aria-label="Requests">
      {approvals.map((approval) => (
        <li key={approval.id} data-request={approval.id}>
          <Link
            href={addressOf(approval.id)}
            className={classes.request}
            aria-current={approval.id === open ? 'true' : undefined}
            data-state={approval.state}
          >
            <span className={classes.line}>
              <span className={`name ${classes.tool}`}>
                <VisibleText text={approval.tool} limit={60} />
              </span>
              <span className={classes.time}>
                <RelativeTime at={approval.createdAt} />
              </span>
            </span>
            <span className={classes.about}>
              <About approval={approval} />
            </span>
            <span className={classes.line}>
              <span className={classes.caller}>
                <VisibleText text={approval.caller.id ?? 'a caller without an id'} limit={40} />
              </span>
              <State approval={approval} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function About({ approval }: { readonly approval: Approval }) {
  const object = objectOf(approval);
  if (object === undefined) return <VisibleText text={approval.reason} limit={80} />;
  const [name, value] = object;
  return (
    <>
      <VisibleText text={name} limit={30} /> <VisibleText text={String(value)} limit={60} />
    </>
  );
}

function State({ approval: { state, answer, expiresAt, outcome } }: { readonly approval: Approval }) {
  if (state === 'waiting') return <Countdown until={expiresAt} />;
  if (answer === undefined) return <Status tone="quiet">{state === 'withdrawn' ? 'Withdrawn' : 'Expired'}</Status>;
  if (answer.decision === 'deny') return <Status tone="danger">Denied</Status>;
  if (outcome !== undefined && outcome !== 'done') return <Status tone="danger">Failed</Status>;
  return state === 'claimed' ? <Status tone="active">Running</Status> : <Status tone="good">Approved</Status>;
}
