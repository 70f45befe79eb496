import { api } from '../../api/client.ts';
import { type CallFilters, toQuery } from './call-filters.ts';
import type { CallRow } from './call-types.ts';
import { COLUMNS, toCsvLine, toJsonLine } from './csv-line.ts';

export type ExportFormat = 'jsonl' | 'csv';

const PAGE = 1000;
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
