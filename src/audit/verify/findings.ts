import type { AuditFinding } from '../../core/ports/audit-report.ts';
import type { AuditEntry } from '../../core/ports/stored-audit.ts';

/** What was found so far. */
export interface Findings {
  add(finding: AuditFinding): void;
  note(sentence: string): void;
  list(): readonly AuditFinding[];
  more(): number;
  notes(): readonly string[];
}

/** A table that was replaced as a whole would have as many findings as rows. */
const MAX_LISTED = 1000;

export function createFindings(): Findings {
  const listed: AuditFinding[] = [];
  const notes = new Set<string>();
  let more = 0;
  return {
    add(finding) {
      if (listed.length < MAX_LISTED) listed.push(finding);
      else more++;
    },
    note: (sentence) => void (notes.size < MAX_LISTED && notes.add(sentence)),
    list: () => listed,
    more: () => more,
    notes: () => [...notes],
  };
}

/** `row 3`, or `rows 3 to 5`. */
export function rowsFrom(number: number, to = number): string {
  return to > number ? `rows ${number} to ${to}` : `row ${number}`;
}

/** `, of 2026-01-31T12:00:00.000Z about "add"`, as far as the row says so. */
export function aboutEntry(entry: AuditEntry | undefined): string {
  if (entry === undefined) return '';
  const tool = entry.tool === '' ? '' : ` about ${JSON.stringify(entry.tool)}`;
  return `, of ${timeText(entry.at)}${tool}`;
}

/** A time in words; what is no time has none. */
export function timeText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}

/** With a capital at its beginning. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
