import { api } from '../../api/client.ts';
import { type CallFilters, toQuery } from './call-filters.ts';
import type { CallRow } from './call-types.ts';

export type ExportFormat = 'jsonl' | 'csv';

const PAGE = 1000;
const COLUMNS = [
  'at', 'callId', 'tool', 'source', 'profile', 'door', 'caller', 'conversation', 'turn', 'parentId', 'outcome',
  'durationMs', 'tokens', 'count', 'argumentsHash', 'resultHash',
] as const; // biome-ignore format: a list of words

/** Reads every call that the filters choose, page by page, and returns them as a file. */
export async function exportCalls(
  filters: CallFilters,
  format: ExportFormat,
  { signal, onProgress }: { readonly signal: AbortSignal; onProgress(count: number): void },
): Promise<Blob> {
  const parts: string[] = format === 'csv' ? [`${COLUMNS.join(',')}\r\n`] : [];
  const query = toQuery(filters, Date.now());
  let cursor: string | undefined;
  let count = 0;
  do {
    const page: { calls: readonly CallRow[]; nextCursor?: string } = await api('/api/calls', {
      query: { ...query, limit: PAGE, cursor },
      signal,
    });
    parts.push(page.calls.map(format === 'csv' ? toCsvLine : toJsonLine).join(''));
    count += page.calls.length;
    onProgress(count);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return new Blob(parts, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
}

export function toJsonLine(row: CallRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** A line of CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function toCsvLine(row: CallRow): string {
  const cells = COLUMNS.map((name) => {
    const value = row[name];
    if (value === undefined || typeof value === 'number') return String(value ?? '');
    const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  });
  return `${cells.join(',')}\r\n`;
}
