import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import { api } from '../../api/client.ts';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { useServerEvents } from '../../parts/live-events.ts';
import { toDuration, useNow } from '../../parts/relative-time.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { useOpenKeys } from '../../parts/use-open-keys.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import { type CallRow, statusOf, toWords } from './call-types.ts';
import classes from './waterfall.module.css';
import { placeOf, type Stretch, type TreeRow, toStretches, toTickTexts, toTree } from './waterfall-layout.ts';

interface WaterfallProps {
  /** The outermost call. */
  readonly root: string;
  readonly open: string;
  /** The row of the outermost call in the log, if it is loaded. */
  readonly known: CallRow | undefined;
  onOpen(id: string): void;
}

/** The nested calls of a call, as bars along the time. Idle stretches are folded. */
export function Waterfall({ root, open, known, onOpen }: WaterfallProps) {
  const { call, children, error } = useTree(root, known);
  const now = useNow();
  const isRunning = call?.outcome === 'running' || children.some(({ outcome }) => outcome === 'running');
  const rows = useMemo(() => toTree(call, children, isRunning ? now : 0), [call, children, isRunning, now]);
  const stretches = useMemo(() => toStretches(rows), [rows]);
  useOpenKeys(
    rows.map(({ row }) => row.callId),
    open,
    onOpen,
  );
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    overscan: 10,
    scrollPaddingEnd: 30, // the axis moves the rows down
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another open call moves the list
  useEffect(() => {
    const place = rows.findIndex(({ row }) => row.callId === open);
    if (place >= 0) virtual.scrollToIndex(place);
  }, [open]);
  if (error !== null) return <CouldNotLoad what="The nested calls" message={error.message} />;
  const [first] = rows;
  if (first === undefined) return <SkeletonRows count={12} />;
  return (
    <div className={classes.scroller} ref={scroller}>
      <Axis rows={rows} stretches={stretches} />
      <div
        role="treegrid"
        aria-label="Nested calls"
        aria-rowcount={rows.length}
        className={classes.rows}
        style={{ height: virtual.getTotalSize() }}
      >
        <IdleBands stretches={stretches} />
        {virtual.getVirtualItems().map(({ index, start }) => {
          const item = rows[index];
          if (item === undefined) return null;
          return (
            <Bar
              key={item.row.callId}
              item={item}
              place={{ index, top: start }}
              stretches={stretches}
              isOpen={item.row.callId === open}
              onOpen={onOpen}
            />
          );
        })}
      </div>
    </div>
  );
}

/** While many nested calls begin and end, the tree is loaded again this often. */
const RELOAD_MS = 500;

function useTree(root: string, known: CallRow | undefined) {
  const path = `/api/calls/${encodeURIComponent(root)}`;
  const outer = useQuery({
    queryKey: ['calls', root],
    queryFn: ({ signal }) => api<{ call?: CallRow }>(path, { signal }),
    enabled: known?.outcome !== 'running', // a running call has no row yet
  });
  const inner = useQuery({
    queryKey: ['calls', root, 'children'],
    queryFn: ({ signal }) => api<{ calls: readonly CallRow[] }>(`${path}/children`, { signal }),
  });
  const call = outer.data?.call ?? known;
  const children = inner.data?.calls ?? NONE;
  const ids = useRef<ReadonlySet<string>>(new Set());
  ids.current = new Set([root, ...children.map(({ callId }) => callId)]);
  useReloads(root, ids);
  return { call, children, error: call === undefined ? outer.error : inner.error };
}

/** Loads the tree again after events of its calls, not more often than it can be read. */
function useReloads(root: string, ids: RefObject<ReadonlySet<string>>): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useServerEvents(['calls', 'calls-started'], (_name, data) => {
    const { callId, parentId = '' } = data as Pick<CallRow, 'callId' | 'parentId'>; // the shape of the events
    if (!ids.current.has(callId) && !ids.current.has(parentId)) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: ['calls', root] });
    }, RELOAD_MS);
  });
}

const NONE: readonly CallRow[] = [];

/** The time along the top: how long the whole took, and how much of it was idle. */
function Axis({ rows, stretches }: { readonly rows: readonly TreeRow[]; readonly stretches: readonly Stretch[] }) {
  const idleMs = stretches.reduce((sum, { from, to, isIdle }) => (isIdle ? sum + to - from : sum), 0);
  const times = toTickTexts(TICKS, stretches, toDuration);
  return (
    <div className={classes.axis}>
      <span className={classes.label}>
        {rows.length === 2
          ? '1 nested call'
          : `${rows.length === 1 ? 'No' : (rows.length - 1).toLocaleString('en')} nested calls`}
        {idleMs > 0 && <span title="Idle stretches are folded"> · {toDuration(idleMs)} idle</span>}
      </span>
      <span className={`${classes.track} ${classes.times}`}>
        {TICKS.map((place, index) => (
          <span key={place} className={classes.time} data-place={place} style={{ left: `${place * 100}%` }}>
            {times[index]}
          </span>
        ))}
      </span>
      <span />
    </div>
  );
}

/** Where the axis says the time. Between folded stretches the scale differs, so each place says its own. */
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** What stands behind the bars: lines at the times of the axis, and the folded stretches. */
function IdleBands({ stretches }: { readonly stretches: readonly Stretch[] }) {
  return (
    <div className={classes.bands} aria-hidden="true">
      {TICKS.map((place) => (
        <span key={`tick ${place}`} className={classes.tick} style={{ left: `${place * 100}%` }} />
      ))}
      {stretches.map(({ from, to, left, right, isIdle }) =>
        isIdle ? (
          <span
            key={from}
            className={classes.band}
            title={`Idle for ${toDuration(to - from)}`}
            style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}
          />
        ) : null,
      )}
    </div>
  );
}

interface BarProps {
  readonly item: TreeRow;
  readonly place: { readonly index: number; readonly top: number };
  readonly stretches: readonly Stretch[];
  readonly isOpen: boolean;
  onOpen(id: string): void;
}

function Bar({ item: { row, depth, start, end }, place, stretches, isOpen, onOpen }: BarProps) {
  const left = placeOf(start, stretches);
  const width = Math.max(0, placeOf(end, stretches) - left);
  const status = statusOf(row);
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a virtual tree are placed by hand
    <div
      role="row"
      aria-level={depth + 1}
      aria-rowindex={place.index + 1}
      aria-selected={isOpen}
      className={classes.row}
      style={{ transform: `translateY(${place.top}px)` }}
      tabIndex={0}
      onClick={() => onOpen(row.callId)}
      onKeyDown={({ key }) => key === 'Enter' && onOpen(row.callId)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above */}
      <span role="gridcell" className={`name ${classes.label}`} style={{ paddingLeft: Math.min(depth, 12) * 14 }}>
        <VisibleText text={row.tool === '' ? 'unknown tool' : row.tool} limit={80} />
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above */}
      <span role="gridcell" className={classes.track}>
        <span
          className={classes.bar}
          data-status={status}
          style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }}
          title={`${status === 'failed' ? toWords(row.outcome) : status}, ${toDuration(end - start)}`}
        />
        {status === 'failed' && (
          <span
            className={classes.failure}
            style={{ left: `min(calc(${(left + width) * 100}% + 8px), calc(100% - 110px))` }}
          >
            {toWords(row.outcome)}
          </span>
        )}
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above */}
      <span role="gridcell" className={classes.duration}>
        {toDuration(end - start)}
      </span>
    </div>
  );
}
