import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, useEffect } from 'react';
import { toAbsolute, toDuration } from '../../parts/relative-time.tsx';
import { Status } from '../../parts/status.tsx';
import { useOpenKeys } from '../../parts/use-open-keys.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import { type CallRow, statusOf, TONES, toWords } from './call-types.ts';
import classes from './calls-table.module.css';

const ROW_PX = 32;
const HEAD_PX = 30;
const COLUMNS = ['Time', 'Status', 'Tool', 'Caller', 'Conversation', 'Profile', 'Door', 'Tokens', 'Duration'];

interface CallsTableProps {
  readonly rows: readonly CallRow[];
  readonly open: string | undefined;
  readonly hasMore: boolean;
  readonly scroller: RefObject<HTMLDivElement | null>;
  onOpen(id: string): void;
  onEnd(): void;
}

/** The log as a table; only the rows in view are in the document. */
export function CallsTable({ rows, open, hasMore, scroller, onOpen, onEnd }: CallsTableProps) {
  useOpenKeys(
    rows.map(({ callId }) => callId),
    open,
    onOpen,
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
    scrollPaddingEnd: HEAD_PX, // the headings move the rows down
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another open call moves the list
  useEffect(() => {
    const place = rows.findIndex(({ callId }) => callId === open);
    if (place >= 0) virtual.scrollToIndex(place);
  }, [open]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - 20) onEnd();
  }, [hasMore, last, rows.length, onEnd]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a virtual table are placed by hand
    <div role="table" aria-label="Calls" aria-rowcount={rows.length + 1} className={classes.table}>
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above */}
      <div role="row" aria-rowindex={1} className={`${classes.row} ${classes.head}`}>
        {COLUMNS.map((name) => (
          // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
          <span key={name} role="columnheader" data-column={name}>
            {name}
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" className={classes.rows} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          // Keyed by place: in a busy log, texts change in rows that stay, which costs less than new rows.
          return <Row key={index} row={row} place={index} top={start} isOpen={row.callId === open} onOpen={onOpen} />;
        })}
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: CallRow;
  readonly place: number;
  readonly top: number;
  readonly isOpen: boolean;
  onOpen(id: string): void;
}

const Row = memo(function Row({ row, place, top, isOpen, onOpen }: RowProps) {
  const { tool, caller, operator, conversation, turn, profile, door, durationMs, parentId, count, tokens, outcome } =
    row;
  const isOver = outcome !== 'waiting' && durationMs !== undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the link in it is what keys reach
    <div
      role="row"
      aria-rowindex={place + 2}
      aria-current={isOpen ? 'true' : undefined}
      className={classes.row}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onOpen(row.callId)}
    >
      <Cell column="Time">
        <time dateTime={row.at} title={toAbsolute(Date.parse(row.at))}>
          {toClock(row.at)}
        </time>
      </Cell>
      <Cell column="Status">
        <CallState row={row} />
      </Cell>
      <Cell column="Tool">
        {parentId !== undefined && (
          <span className={classes.nested} title="Called by another call">
            ↳
          </span>
        )}
        <a
          className={`name ${classes.tool}`}
          href={`/calls/${encodeURIComponent(row.callId)}`}
          onClick={(event) => {
            if (!event.ctrlKey && !event.metaKey && !event.shiftKey) event.preventDefault();
          }}
        >
          <VisibleText text={tool === '' ? 'unknown tool' : tool} limit={80} />
        </a>
        {count !== undefined && <span className="soft">×{count}</span>}
      </Cell>
      <Cell column="Caller">
        {caller === undefined ? (
          <span className="faint">{operator ? 'operator' : 'without an id'}</span>
        ) : (
          <VisibleText text={caller} limit={60} />
        )}
      </Cell>
      <Cell column="Conversation">
        {conversation !== undefined && <VisibleText text={conversation} limit={60} />}
        {turn !== undefined && (
          <span className="faint">
            <VisibleText text={turn} limit={30} />
          </span>
        )}
      </Cell>
      <Cell column="Profile">
        <VisibleText text={profile} limit={40} />
      </Cell>
      <Cell column="Door">{door}</Cell>
      <Cell column="Tokens">{tokens?.toLocaleString('en')}</Cell>
      <Cell column="Duration">{isOver ? toDuration(durationMs) : ''}</Cell>
    </div>
  );
});

function Cell({ column, children }: { readonly column: string; readonly children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a virtual table
    <span role="cell" className={classes.cell} data-column={column}>
      {children}
    </span>
  );
}

/** The state of a call: its status, or the code of its error. */
export function CallState({ row }: { readonly row: CallRow }) {
  const status = statusOf(row);
  return <Status tone={TONES[status]}>{status === 'failed' ? toWords(row.outcome) : status}</Status>;
}

/** The time of day with milliseconds: 18:04:05.123. */
function toClock(at: string): string {
  const time = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return Number.isNaN(time.getTime()) ? 'unknown' : `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
