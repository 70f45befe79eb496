import { useEffect } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useSession } from '../../api/session.ts';
import type { Approval } from '../../parts/approval/approval-types.ts';
import { ApprovalCard } from '../../parts/approval-card.tsx';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FirstCall } from '../../parts/first-call.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { useOpenKeys } from '../../parts/use-open-keys.ts';
import classes from './approvals-page.module.css';
import { InboxList } from './inbox-list.tsx';
import { NotifyButton } from './notify-button.tsx';
import { RememberedList } from './remembered-list.tsx';
import { useInbox } from './use-inbox.ts';

const TABS = ['waiting', 'answered', 'remembered'] as const;
type Tab = (typeof TABS)[number];

/** The inbox of approvals: what waits, what was answered, and what is remembered. */
export function ApprovalsPage({ id }: { readonly id: string | undefined }) {
  const [search] = useSearchParams();
  const tab = TABS.find((name) => name === search.get('tab')) ?? 'waiting';
  const inbox = useInbox();
  return (
    <>
      <PageHeader title="Approvals" detail={id}>
        <NotifyButton waiting={inbox.waiting} />
      </PageHeader>
      <Tabs tab={tab} waiting={inbox.waiting.length} />
      {tab === 'remembered' ? (
        <RememberedList />
      ) : (
        <Requests id={id} tab={tab} approvals={tab === 'waiting' ? inbox.shown : inbox.answered} inbox={inbox} />
      )}
    </>
  );
}

function Tabs({ tab, waiting }: { readonly tab: Tab; readonly waiting: number }) {
  const { role } = useSession();
  return (
    <nav className={classes.tabs} aria-label="Kinds of requests">
      {TABS.filter((name) => name !== 'remembered' || role === 'operator').map((name) => (
        <Link
          key={name}
          href={name === 'waiting' ? '/approvals' : `/approvals?tab=${name}`}
          className={classes.tab}
          aria-current={name === tab ? 'page' : undefined}
        >
          {name === 'waiting' ? 'Waiting' : name === 'answered' ? 'Answered' : 'Remembered'}
          {name === 'waiting' && waiting > 0 && <span className={classes.count}>{waiting}</span>}
        </Link>
      ))}
    </nav>
  );
}

interface RequestsProps {
  readonly id: string | undefined;
  readonly tab: Tab;
  readonly approvals: readonly Approval[];
  readonly inbox: ReturnType<typeof useInbox>;
}

/** The list on the left, the open request on the right; on a phone one of them. */
function Requests({ id, tab, approvals, inbox }: RequestsProps) {
  const [, navigate] = useLocation();
  const addressOf = (one: string) => `/approvals/${one}${tab === 'waiting' ? '' : `?tab=${tab}`}`;
  const open = id ?? approvals.find(({ state }) => tab !== 'waiting' || state === 'waiting')?.id ?? approvals[0]?.id;
  useOpenKeys(
    approvals.map((approval) => approval.id),
    open,
    (next) => navigate(addressOf(next)),
  );
  useEffect(() => {
    document.querySelector(`[data-request="${CSS.escape(open ?? '')}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  if (inbox.error !== null && approvals.length === 0)
    return <CouldNotLoad what="The approvals" message={inbox.error.message} onRetry={inbox.reload} />;
  if (open === undefined) return inbox.isLoading ? <SkeletonRows count={8} /> : <NothingWaits tab={tab} />;
  return (
    <div className={classes.split} data-open={id !== undefined}>
      <InboxList approvals={approvals} open={open} addressOf={addressOf} />
      <div className={classes.detail}>
        <ApprovalCard key={open} id={open} hasKeys />
      </div>
    </div>
  );
}

function NothingWaits({ tab }: { readonly tab: Tab }) {
  if (tab === 'answered')
    return (
      <Empty title="No request was answered yet.">
        <p className="soft">Answered, expired and withdrawn requests are listed here.</p>
      </Empty>
    );
  return (
    <Empty title="No call waits for approval.">
      <p className="soft">A call that needs your approval appears here at once, and in the title of this tab.</p>
      <FirstCall danger="destructive" says="To see one, run" />
    </Empty>
  );
}
