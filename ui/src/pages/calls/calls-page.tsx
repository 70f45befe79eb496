import { Button } from '@mantine/core';
import { useCallback, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { useListKeys } from '../approvals/use-list-keys.ts';
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
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const filters = readFilters(search);
  const view = search.get('view') ?? 'log';
  const [isPaused, setPaused] = useState(false);
  const [isAtTop, setAtTop] = useState(true);
  const scroller = useRef<HTMLDivElement>(null);
  const log = useCallLog({ filters, isFollowing: isAtTop && id === undefined, isPaused });
  const go = useCallback(
    (path: string, next: URLSearchParams) => navigate(next.size === 0 ? path : `${path}?${next}`),
    [navigate],
  );
  const openCall = useCallback((call: string) => go(`/calls/${encodeURIComponent(call)}`, search), [go, search]);
  const close = () => go('/calls', withoutView(search));
  useListKeys(
    log.rows.map(({ callId }) => callId),
    id,
    openCall,
  );
  const path = id === undefined ? '/calls' : `/calls/${encodeURIComponent(id)}`;
  const change = (changed: Partial<Record<keyof CallFilters, string>>) => go(path, withFilters(search, changed));
  const showHeld = () => {
    log.showHeld();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <>
      <PageHeader title="Calls" detail={id}>
        <Button variant="default" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <StopMenu filters={filters} />
        <ExportMenu filters={filters} />
      </PageHeader>
      <div className={classes.views}>
        {VIEWS.map(({ name, says }) => (
          <button
            key={name}
            type="button"
            className={classes.view}
            aria-pressed={view === name}
            onClick={() => go(path, withView(search, name))}
          >
            {says}
          </button>
        ))}
        <span className={classes.state} role="status">
          {isPaused ? 'Paused' : ''}
        </span>
      </div>
      <FilterBar filters={filters} rows={log.rows} onChange={change} />
      <div className={classes.split} data-docked={id !== undefined}>
        <div className={classes.main}>
          {log.held.length > 0 && (
            <button type="button" className={classes.held} onClick={showHeld}>
              Show {log.held.length.toLocaleString('en')} new {log.held.length === 1 ? 'call' : 'calls'}
            </button>
          )}
          {view === 'waterfall' && id !== undefined ? (
            <Waterfall root={search.get('root') ?? id} open={id} onOpen={openCall} />
          ) : (
            <div
              ref={scroller}
              className={classes.scroller}
              onScroll={({ currentTarget }) => setAtTop(currentTarget.scrollTop < 8)}
            >
              <LogOrWhyNot
                log={log}
                view={view}
                id={id}
                isFiltered={Object.keys(filters).length > 0}
                scroller={scroller}
                onOpen={openCall}
              />
            </div>
          )}
        </div>
        {id !== undefined && (
          <CallDetail
            id={id}
            known={log.rows.find(({ callId }) => callId === id)}
            isReady={!log.isLoading}
            onClose={close}
          />
        )}
      </div>
    </>
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
    return (
      <Empty title="The calls could not be loaded.">
        <p className="soft">
          <VisibleText text={log.error.message} />
        </p>
        <Button variant="default" onClick={log.reload}>
          Try again
        </Button>
      </Empty>
    );
  if (log.rows.length === 0 && log.isLoading) return <div className={classes.bones} aria-busy="true" />;
  if (log.rows.length === 0)
    return isFiltered ? (
      <Empty title="No call matches the filters.">
        <p className="soft">New calls that match appear here at once.</p>
      </Empty>
    ) : (
      <Empty title="No call was made yet.">
        <p className="soft">
          Make one: <code>toolcrib call roll_dice --sides 6</code>
        </p>
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
