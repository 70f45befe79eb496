import type { AuditEntry } from '../core/ports/stored-audit.ts';

/** A row without its number and hash. The text of its entry is `head`, the number, and `tail`. */
export interface DraftRow extends Pick<AuditEntry, 'at' | 'callId' | 'tool'> {
  readonly caller: string;
  readonly outcome: string;
  readonly head: string;
  readonly tail: string;
}

/**
 * Rows that wait, as one text. Up to a hundred thousand may wait, and the garbage collector moves and scans every object
 * and short text of them again and again, which costs more than making and writing the rows.
 */
export interface PackedRows {
  readonly at: Float64Array;
  /** Where each of the texts of each row ends in `text`. */
  readonly ends: Uint32Array;
  readonly text: string;
}

/** The place of the number. No text in the entry looks like it, because JSON escapes quotation marks. */
const NUMBER = ',"number":0,';
const BEFORE_NUMBER = NUMBER.length - 2;

/** The row of an entry whose keys are sorted and whose number is 0. */
export function toDraftRow(entry: AuditEntry): DraftRow {
  const text = JSON.stringify(entry);
  const place = text.indexOf(NUMBER) + BEFORE_NUMBER;
  const { at, callId, tool, caller = '', outcome } = entry;
  return { at, callId, tool, caller, outcome, head: text.slice(0, place), tail: text.slice(place + 1) };
}

const TEXTS = ['head', 'tail', 'callId', 'tool', 'caller', 'outcome'] as const;

export function packRows(rows: readonly DraftRow[]): PackedRows {
  const parts: string[] = [];
  const ends = new Uint32Array(rows.length * TEXTS.length);
  let end = 0;
  for (const row of rows) {
    for (const name of TEXTS) {
      end += row[name].length;
      ends[parts.length] = end;
      parts.push(row[name]);
    }
  }
  return { at: Float64Array.from(rows, ({ at }) => at), ends, text: parts.join('') };
}

export function unpackRows({ at, ends, text }: PackedRows): readonly DraftRow[] {
  let place = 0;
  let begin = 0;
  const next = (): string => {
    const end = ends[place++] ?? begin;
    const part = text.slice(begin, end);
    begin = end;
    return part;
  };
  return Array.from(at, (time) => ({
    at: time,
    head: next(),
    tail: next(),
    callId: next(),
    tool: next(),
    caller: next(),
    outcome: next(),
  }));
}
