import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useMemo } from 'react';
import { Link } from 'wouter';
import { RelativeTime, toDuration } from '../../parts/relative-time.tsx';
import { useOpenKeys } from '../../parts/use-open-keys.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import { type CallRow, type EntryKind, statusOf } from './call-types.ts';
import { CallState } from './calls-table.tsx';
import { summaryWords, type TimelineItem, toTimeline } from './conversation-groups.ts';
import classes from './conversations.module.css';

interface ConversationsProps {
  readonly rows: readonly CallRow[];
  readonly open: string | undefined;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly hasMore: boolean;
  onOpen(id: string): void;
  onEnd(): void;
}

const HEIGHTS = { conversation: 44, turn: 34, entry: 32 };

/** Conversations as timelines: each turn with its searches, calls, waits and denials. */
export function Conversations({ rows, open, scroller, hasMore, onOpen, onEnd }: ConversationsProps) {
  const items = useMemo(() => toTimeline(rows), [rows]);
  useOpenKeys(
    items.flatMap((item) => (item.kind === 'entry' ? [item.row.callId] : [])),
    open,
    onOpen,
  );
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (place) => HEIGHTS[items[place]?.kind ?? 'entry'],
    overscan: 10,
    getItemKey: (place) => items[place]?.key ?? place,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another open call moves the list
  useEffect(() => {
    const place = items.findIndex((item) => item.kind === 'entry' && item.row.callId === open);
    if (place >= 0) virtual.scrollToIndex(place);
  }, [open]);
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= items.length - 5) onEnd();
  }, [hasMore, last, items.length, onEnd]);
  return (
    <ul className={classes.timeline} aria-label="Conversations" style={{ height: virtual.getTotalSize() }}>
      {shown.map(({ index, start, key }) => {
        const item = items[index];
        if (item === undefined) return null;
        return (
          <li
            key={key}
            className={classes.item}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Item item={item} isOpen={item.kind === 'entry' && item.row.callId === open} onOpen={onOpen} />
          </li>
        );
      })}
    </ul>
  );
}

function Item({
  item,
  isOpen,
  onOpen,
}: {
  readonly item: TimelineItem;
  readonly isOpen: boolean;
  onOpen(id: string): void;
}) {
  if (item.kind === 'conversation') return <ConversationHead head={item} />;
  if (item.kind === 'entry') return <Entry item={item} isOpen={isOpen} onOpen={onOpen} />;
  return (
    <div className={classes.turn}>
      <span className={classes.turnName}>
        {item.id === undefined ? 'Without a turn' : <VisibleText text={item.id} limit={60} />}
      </span>
      <span className="soft">{summaryWords(item.summary, toDuration)}</span>
      <span className={classes.end}>{toDuration(item.summary.spanMs)}</span>
    </div>
  );
}

function ConversationHead({ head }: { readonly head: Extract<TimelineItem, { kind: 'conversation' }> }) {
  const { id, calls, lastAt } = head;
  return (
    <div className={classes.conversation}>
      {id === undefined ? (
        <strong>Without a conversation</strong>
      ) : (
        <Link
          href={`/calls?${new URLSearchParams({ view: 'conversations', conversation: id })}`}
          className={classes.link}
        >
          <strong>
            <VisibleText text={id} limit={80} />
          </strong>
        </Link>
      )}
      <span className="soft">{calls === 1 ? '1 call' : `${calls.toLocaleString('en')} calls`}</span>
      <span className={classes.end}>
        <RelativeTime at={lastAt} />
      </span>
    </div>
  );
}

const ICONS: Readonly<Record<EntryKind, string>> = {
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm3 7l3 3',
  call: 'M6 4l4 4-4 4',
  wait: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zm0 2.5V8l2 1.5',
  denial: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM4.5 11.5l7-7',
};

interface EntryProps {
  readonly item: Extract<TimelineItem, { kind: 'entry' }>;
  readonly isOpen: boolean;
  onOpen(id: string): void;
}

function Entry({ item: { row, entry, place }, isOpen, onOpen }: EntryProps) {
  return (
    <button
      type="button"
      className={classes.entry}
      aria-current={isOpen ? 'true' : undefined}
      onClick={() => onOpen(row.callId)}
    >
      <span className={classes.after}>+{toDuration(Math.max(0, place.afterMs))}</span>
      <svg viewBox="0 0 16 16" width="14" height="14" role="img" aria-label={entry} data-entry={entry}>
        <path
          d={ICONS[entry]}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <span className={`name ${classes.tool}`}>
        {row.parentId !== undefined && <span className="faint">↳ </span>}
        <VisibleText text={row.tool === '' ? 'unknown tool' : row.tool} limit={80} />
      </span>
      <CallState row={row} />
      <span className={classes.track}>
        <span
          className={classes.bar}
          data-status={statusOf(row)}
          style={{ left: `${place.left * 100}%`, width: `max(2px, ${Math.min(1 - place.left, place.width) * 100}%)` }}
        />
      </span>
      <span className={classes.tokens}>
        {row.tokens === undefined ? '' : `${row.tokens.toLocaleString('en')} ${row.tokens === 1 ? 'token' : 'tokens'}`}
      </span>
      <span className={classes.end}>{row.durationMs === undefined ? '' : toDuration(row.durationMs)}</span>
    </button>
  );
}
