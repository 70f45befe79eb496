import type { AuditEntry, AuditRow, StoredAuditRow } from '../core/ports/stored-audit.ts';

/** What a stored row says; undefined if somebody made something else of it. */
export function readEntry({ entry }: Pick<StoredAuditRow, 'entry'>): AuditEntry | undefined {
  try {
    const value: unknown = JSON.parse(entry);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is AuditEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { at, callId, kind, number, outcome, tool } = value as Record<string, unknown>; // read as unknown
  return (
    [at, number].every((member) => typeof member === 'number') &&
    [callId, kind, outcome, tool].every((member) => typeof member === 'string')
  );
}

/** A row as it is shown; undefined if it cannot be read. */
export function toAuditRow(row: StoredAuditRow & { readonly chain: string }): AuditRow | undefined {
  const entry = readEntry(row);
  return entry === undefined ? undefined : { chain: row.chain, hash: row.hash, ...entry };
}
