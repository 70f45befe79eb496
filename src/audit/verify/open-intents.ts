import type { AuditEntry } from '../../core/ports/stored-audit.ts';

/** A call that was about to run. */
interface OpenIntent {
  readonly chain: string;
  readonly entry: AuditEntry;
}

/** Calls of which it is on record that they were about to run, but not how they ended. */
export interface OpenIntents {
  see(chain: string, entry: AuditEntry): void;
  list(): readonly OpenIntent[];
}

/** Keeps only what is open, however many rows there are. */
export function createOpenIntents(): OpenIntents {
  const open = new Map<string, { count: number; readonly first: OpenIntent }>();
  const count = (chain: string, entry: AuditEntry, change: number): void => {
    const known = open.get(entry.callId) ?? { count: 0, first: { chain, entry } };
    known.count += change;
    if (known.count === 0) open.delete(entry.callId);
    else open.set(entry.callId, known);
  };
  return {
    see(chain, entry) {
      if (entry.kind === 'intent') count(chain, entry, 1);
      else if (typeof entry.intents === 'number' && entry.intents > 0) count(chain, entry, -entry.intents);
    },
    // Below zero: the announcement was removed with old rows.
    list: () => [...open.values()].filter((intent) => intent.count > 0).map(({ first }) => first),
  };
}
