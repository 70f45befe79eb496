import type { Counting, TokenFormat } from '../../formats/token-cost.ts';
import type { Flags } from './flags.ts';
import { paint, print, toLine } from './output.ts';

/** A column of a table, or only its heading. */
export type Column = string | ColumnOptions;

interface ColumnOptions {
  readonly heading: string;
  readonly align?: 'right';
  /** This column is cut first on a narrow terminal. */
  readonly flexible?: true;
  /** Never cut: the terminal wraps the text. Only for the last column, and for texts that are safe to print. */
  readonly isWhole?: true;
}

const GAP = '  ';
const LEAST_FLEXIBLE = 16;
const LEAST = 4;

/** A right-aligned column for numbers. */
export function figures(heading: string): Column {
  return { heading, align: 'right' };
}

/** A column that is cut first. */
export function flexible(heading: string): Column {
  return { heading, flexible: true };
}

/** Prints rows under headings, cut to the width of the terminal; not cut if stdout is not a terminal. */
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

// The widest column shrinks first, so that narrow columns stay whole.
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

/** The width of a text on a terminal, in columns. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return graphemesOf(text).reduce((sum, grapheme) => sum + columnsOf(grapheme), 0);
}

/** The text, cut with `…` if it does not fit. */
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

// Latin, Greek, Cyrillic, punctuation, arrows, kana, Chinese, Korean: none of these combines with the character before it.
const ALONE =
  /^[\u0020-\u007e\u00a0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u21ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;

function graphemesOf(text: string): readonly string[] {
  if (ALONE.test(text)) return Array.from(text); // creating a segmenter takes longer than all other printing
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function columnsOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}

/** The format used where only one token figure is shown. */
export const USUAL_FORMAT: TokenFormat = 'openai';

/** Listings estimate tokens, because counting would dominate the run time; `--tokens` counts exactly. */
export function countingOf({ tokens }: Flags): Counting {
  return tokens === true ? 'exact' : 'estimate';
}

/** A token figure as text; an estimate is marked with `~`. */
export function tokenText(count: number, counting: Counting): string {
  return counting === 'exact' ? String(count) : `~${count}`;
}
