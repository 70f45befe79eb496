import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import classes from './virtual-rows.module.css';

interface VirtualRowsProps {
  readonly count: number;
  readonly rowHeight: number;
  /** The row that is kept in view, if one is chosen. */
  readonly chosen: number | undefined;
  /** The row of headings, which stays at the top. */
  readonly head: ReactNode;
  readonly label: string;
  /** Shows a row. `aria-rowindex` of the first is 2: the headings are the first row. */
  row(index: number): ReactNode;
}

const SPARE_ROWS = 8;

/** A table of which only the rows in view exist. All rows have the same height, so the place of each is known. */
export function VirtualRows({ count, rowHeight, chosen, head, label, row }: VirtualRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return;
    const measure = () => setView({ top: current.scrollTop, height: current.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, []);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null || chosen === undefined) return;
    const top = chosen * rowHeight;
    if (top < current.scrollTop) current.scrollTop = top;
    const bottom = top + 2 * rowHeight; // the row and the headings
    if (bottom > current.scrollTop + current.clientHeight) current.scrollTop = bottom - current.clientHeight;
  }, [chosen, rowHeight]);
  const from = Math.max(0, Math.floor(view.top / rowHeight) - SPARE_ROWS);
  const to = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + SPARE_ROWS);
  return (
    <div ref={scroller} className={classes.scroller}>
      <table className={classes.table} aria-label={label} aria-rowcount={count + 1}>
        <thead className={classes.head}>{head}</thead>
        <tbody className={classes.body} style={{ height: count * rowHeight, paddingTop: from * rowHeight }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, place) => row(from + place))}
        </tbody>
      </table>
    </div>
  );
}
