import type { AuditEntry, Checkpoint, StoredAuditRow, StoredChain } from '../core/ports/stored-audit.ts';
import { numberOf, type Row, textOf } from './engines/sql-engine.ts';

// Verifying must be able to read altered rows: an altered column becomes a value that no valid row has, never an error.

/** Converts a stored row. */
export function toRow(row: Row): StoredAuditRow {
  return {
    number: number(row, 'number'),
    entry: text(row, 'entry'),
    hash: text(row, 'hash'),
    at: number(row, 'at'),
    callId: text(row, 'call_id'),
    tool: text(row, 'tool'),
    caller: text(row, 'caller'),
    outcome: text(row, 'outcome'),
  };
}

/** Converts a stored row, with its chain. */
export function toPlacedRow(row: Row): StoredAuditRow & { readonly chain: string } {
  return { ...toRow(row), chain: text(row, 'chain') };
}

/** Converts a stored checkpoint. */
export function toCheckpoint(row: Row): Checkpoint {
  return {
    chain: text(row, 'chain'),
    count: number(row, 'row_count'),
    hash: text(row, 'hash'),
    at: number(row, 'made_at'),
    signature: text(row, 'signature'),
  };
}

/** The columns of a removal of old rows; where one is set, the others must be, too. */
const CUT = ['cut_count', 'cut_hash', 'cut_at', 'cut_key', 'cut_signature'] as const;

/** Converts a stored chain. */
export function toChain(row: Row): StoredChain {
  const chain = text(row, 'chain');
  const isCut = CUT.some((column) => row[column] !== null && row[column] !== undefined);
  return {
    chain,
    key: text(row, 'public_key'),
    startedAt: number(row, 'started_at'),
    signature: text(row, 'signature'),
    ...(isCut && {
      cut: {
        chain,
        count: number(row, 'cut_count'),
        hash: text(row, 'cut_hash'),
        at: number(row, 'cut_at'),
        key: text(row, 'cut_key'),
        signature: text(row, 'cut_signature'),
      },
    }),
  };
}

function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : '';
}

function number(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : Number.NaN;
}

/** The fields that are read from a row's entry. */
type Entry = Partial<Pick<AuditEntry, 'kind' | 'intents' | 'durationMs'>>;

export function readEntry(row: Row): Entry {
  const entry = parseOrNothing(textOf(row, 'entry'));
  return typeof entry === 'object' && entry !== null ? entry : {};
}

/** An altered entry is reported by verification; here it counts as empty. */
function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function intentsOf({ kind, intents }: Entry): number {
  return kind === 'intent' ? 1 : -(intents ?? 0);
}

export function endOfRow(row: Row): number {
  return numberOf(row, 'at') + (readEntry(row).durationMs ?? 0);
}
