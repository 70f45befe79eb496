import { paint, print, toLine } from './output.ts';
import { cutTo, widthOf } from './text-width.ts';

/** A column of a table. */
export interface Column {
  readonly heading: string;
  readonly align?: 'right';
  /** Cut before others where the terminal is narrow. */
  readonly flexible?: true;
  /** Never cut: what does not fit goes on in the next line of the terminal. For the last column, and texts that are fit to be shown. */
  readonly isWhole?: true;
}

const GAP = '  ';
const LEAST_FLEXIBLE = 16;
const LEAST = 4;

/** Prints rows under headings, as wide as the terminal and no wider; not cut where the output is no terminal. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  const [headings, ...lines] = layOut(columns, rows, width);
  print([paint('bold', headings ?? ''), ...lines].join('\n'));
}

/** The lines of a table, headings first. */
export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): readonly string[] {
  const toCell = (cell: string, index: number) => (columns[index]?.isWhole === true ? cell : toLine(cell));
  const cells = [columns.map(({ heading }) => heading), ...rows.map((row) => row.map(toCell))];
  const natural = columns.map(({ isWhole, heading }, index) =>
    isWhole === true ? heading.length : cells.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), 0),
  );
  const widths = width === undefined ? natural : fitInto(natural, columns, width - GAP.length * (columns.length - 1));
  return cells.map((row) =>
    columns
      .map((column, index) =>
        column.isWhole === true ? row[index] : fitCell(row[index] ?? '', widths[index] ?? 0, column),
      )
      .join(GAP)
      .trimEnd(),
  );
}

function fitCell(text: string, width: number, column: Column): string {
  return pad(cutTo(text, width), width, column);
}

function fitInto(natural: readonly number[], columns: readonly Column[], room: number): readonly number[] {
  const isFlexible = (index: number) => columns[index]?.flexible === true;
  return shrink(shrink(natural, room, LEAST_FLEXIBLE, isFlexible), room, LEAST, () => true);
}

// The widest gives way first, so that narrow columns stay whole.
function shrink(
  natural: readonly number[],
  room: number,
  least: number,
  mayShrink: (index: number) => boolean,
): readonly number[] {
  const widths = [...natural];
  for (let over = sum(widths) - room; over > 0; over--) {
    const candidates = [...widths.keys()].filter((index) => mayShrink(index) && (widths[index] ?? 0) > least);
    const [widest] = candidates.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function pad(text: string, width: number, { align }: Column): string {
  const filler = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? `${filler}${text}` : `${text}${filler}`;
}
