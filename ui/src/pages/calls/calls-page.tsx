import { useCallback, useMemo, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { CopyLine } from '../../parts/copy-line.tsx';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FirstCall } from '../../parts/first-call.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { CallDetail } from './call-detail.tsx';
import { type CallFilters, readFilters, withFilters } from './call-filters.ts';
import classes from './calls-page.module.css';
import { CallsTable } from './calls-table.tsx';
import { Conversations } from './conversations.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FilterBar } from './filter-bar.tsx';
import { StopMenu } from './stop-menu.tsx';
import { useCallLog } from './use-call-log.ts';
import { Waterfall } from './waterfall.tsx';

const VIEWS = [
  { name: 'log', says: 'Log' },
  { name: 'conversations', says: 'Conversations' },
] as const;

/** The log of calls, live: as a list, by conversation, or as the waterfall of one call. */
export function CallsPage({ id }: { readonly id: string | undefined }) {
  const address = useCallsAddress(id);
  const { filters, isWaterfall } = address;
  const [isPaused, setPaused] = useState(false);
  const [isAtTop, setAtTop] = useState(true);
  const log = useCallLog({ filters, isFollowing: isAtTop && id === undefined, isPaused });
  const rows = useRef(log.rows);
  rows.current = log.rows;
  return (
    <>
      <PageHeader title="Calls" detail={id}>
        <button type="button" className="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <StopMenu filters={filters} />
        <ExportMenu filters={filters} />
      </PageHeader>
      <Views address={address} isPaused={isPaused} />
      {!isWaterfall && <FilterBar filters={filters} rows={rows} onChange={address.change} />}
      <div className={classes.split} data-docked={id !== undefined} data-waterfall={isWaterfall}>
        {isWaterfall && id !== undefined ? (
          <div className={classes.main}>
            <Waterfall
              root={address.root ?? id}
              open={id}
              known={log.rows.find(({ callId }) => callId === (address.root ?? id))}
              onOpen={address.openCall}
            />
          </div>
        ) : (
          <LogPane address={address} log={log} id={id} onScroll={setAtTop} />
        )}
        {id !== undefined && (
          <CallDetail
            id={id}
            known={log.rows.find(({ callId }) => callId === id)}
            isReady={!log.isLoading}
            onClose={address.close}
          />
        )}
      </div>
    </>
  );
}

/** What the address says, and how it is changed. */
function useCallsAddress(id: string | undefined) {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const path = id === undefined ? '/calls' : `/calls/${encodeURIComponent(id)}`;
  const go = useCallback(
    (to: string, next: URLSearchParams) => navigate(next.size === 0 ? to : `${to}?${next}`),
    [navigate],
  );
  const view = search.get('view') ?? 'log';
  return {
    filters: useMemo(() => readFilters(search), [search]),
    view,
    isWaterfall: view === 'waterfall' && id !== undefined,
    root: search.get('root') ?? undefined,
    openCall: useCallback((call: string) => go(`/calls/${encodeURIComponent(call)}`, search), [go, search]),
    close: () => go('/calls', withoutView(search)),
    change: useCallback(
      (changed: Partial<Record<keyof CallFilters, string>>) => go(path, withFilters(search, changed)),
      [go, path, search],
    ),
    show: (name: string) => go(path, withView(search, name)),
  };
}

type CallsAddress = ReturnType<typeof useCallsAddress>;

function Views({ address, isPaused }: { readonly address: CallsAddress; readonly isPaused: boolean }) {
  const shown = address.isWaterfall ? [...VIEWS, { name: 'waterfall', says: 'Waterfall' }] : VIEWS;
  return (
    <div className={classes.views}>
      {shown.map(({ name, says }) => (
        <button
          key={name}
          type="button"
          className={classes.view}
          aria-pressed={address.view === name}
          onClick={() => name !== 'waterfall' && address.show(name)}
        >
          {says}
        </button>
      ))}
      <span className={classes.state} role="status">
        {isPaused ? 'Paused' : ''}
      </span>
    </div>
  );
}

interface LogPaneProps {
  readonly address: CallsAddress;
  readonly log: ReturnType<typeof useCallLog>;
  readonly id: string | undefined;
  onScroll(isAtTop: boolean): void;
}

/** The calls, with those that wait behind a count. */
function LogPane({ address, log, id, onScroll }: LogPaneProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const count = log.held.length;
  const showHeld = () => {
    log.showHeld();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <div className={classes.main}>
      {count > 0 && (
        <button type="button" className={classes.held} onClick={showHeld}>
          Show {count.toLocaleString('en')} new {count === 1 ? 'call' : 'calls'}
        </button>
      )}
      <div
        ref={scroller}
        className={classes.scroller}
        onScroll={({ currentTarget }) => onScroll(currentTarget.scrollTop < 8)}
      >
        <LogOrWhyNot
          log={log}
          view={address.view}
          id={id}
          isFiltered={Object.keys(address.filters).length > 0}
          scroller={scroller}
          onOpen={address.openCall}
        />
      </div>
    </div>
  );
}

function withView(search: URLSearchParams, view: string): URLSearchParams {
  const next = withoutView(search);
  if (view !== 'log') next.set('view', view);
  return next;
}

function withoutView(search: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete('root');
  if (next.get('view') !== 'conversations') next.delete('view');
  return next;
}

interface LogOrWhyNotProps {
  readonly log: ReturnType<typeof useCallLog>;
  readonly view: string;
  readonly id: string | undefined;
  readonly isFiltered: boolean;
  readonly scroller: React.RefObject<HTMLDivElement | null>;
  onOpen(id: string): void;
}

/** The calls; or that there are none yet, that none matches, or that they could not be loaded. */
function LogOrWhyNot({ log, view, id, isFiltered, scroller, onOpen }: LogOrWhyNotProps) {
  if (log.error !== null && log.rows.length === 0)
    return <CouldNotLoad what="The calls" message={log.error.message} onRetry={log.reload} />;
  if (log.rows.length === 0 && log.isLoading) return <SkeletonRows count={16} />;
  if (log.rows.length === 0)
    return isFiltered ? (
      <Empty title="No call matches the filters.">
        <p className="soft">New calls that match appear here at once.</p>
      </Empty>
    ) : (
      <Empty title="No call was made yet.">
        <FirstCall danger="read" says="Calls of every door appear here at once. Run" />
        <p className="soft">Or connect an MCP client to this address:</p>
        <CopyLine text={`${location.origin}/mcp`} />
      </Empty>
    );
  if (view === 'conversations')
    return (
      <Conversations
        rows={log.rows}
        open={id}
        scroller={scroller}
        onOpen={onOpen}
        hasMore={log.hasMore}
        onEnd={log.loadOlder}
      />
    );
  return (
    <CallsTable
      rows={log.rows}
      open={id}
      hasMore={log.hasMore}
      scroller={scroller}
      onOpen={onOpen}
      onEnd={log.loadOlder}
    />
  );
}
