import type { Counting, TokenFormat } from '../../formats/token-cost.ts';
import type { Flags } from './flags.ts';
import { paint, print, toLine } from './output.ts';

/** A column of a table; a text is its heading. */
export type Column = string | ColumnOptions;

interface ColumnOptions {
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

/** A column of figures. */
export function figures(heading: string): Column {
  return { heading, align: 'right' };
}

/** A column that is cut before others. */
export function flexible(heading: string): Column {
  return { heading, flexible: true };
}

/** Prints rows under headings, as wide as the terminal and no wider; not cut where the output is no terminal. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  const [headings, ...lines] = layOut(columns, rows, width);
  print([paint('bold', headings ?? ''), ...lines].join('\n'));
}

/** The lines of a table, headings first. */
export function layOut(
  given: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): readonly string[] {
  const columns = given.map((column): ColumnOptions => (typeof column === 'string' ? { heading: column } : column));
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

function fitCell(text: string, width: number, column: ColumnOptions): string {
  return pad(cutTo(text, width), width, column);
}

function fitInto(natural: readonly number[], columns: readonly ColumnOptions[], room: number): readonly number[] {
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

function pad(text: string, width: number, { align }: ColumnOptions): string {
  const filler = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? `${filler}${text}` : `${text}${filler}`;
}

const ASCII = /^[\u0020-\u007e]*$/;
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** How many columns a line takes on a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return graphemesOf(text).reduce((sum, grapheme) => sum + columnsOf(grapheme), 0);
}

/** The text if it fits, else as much of it as does, and `…`. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let left = width - 1;
  for (const grapheme of graphemesOf(text)) {
    left -= columnsOf(grapheme);
    if (left < 0) break;
    kept += grapheme;
  }
  return `${kept.trimEnd()}…`;
}

// Latin, Greek, Cyrillic, punctuation, arrows, kana, Chinese, Korean: none of these joins what stands before it.
const ALONE =
  /^[\u0020-\u007e\u00a0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u21ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;

function graphemesOf(text: string): readonly string[] {
  if (ALONE.test(text)) return Array.from(text); // the first segmenter takes longer than everything else that is printed
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function columnsOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}

/** The format whose cost stands where there is room for one figure. */
export const USUAL_FORMAT: TokenFormat = 'openai';

/** Listings estimate, since counting would take longer than everything else together; `--tokens` counts. */
export function countingOf({ tokens }: Flags): Counting {
  return tokens === true ? 'exact' : 'estimate';
}

/** A figure as a table shows it: an estimate is marked. */
export function tokenText(count: number, counting: Counting): string {
  return counting === 'exact' ? String(count) : `~${count}`;
}
