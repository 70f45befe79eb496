import type { Store } from '../core/ports/store.ts';
import type { AuditRow, RowPlace, RowQuery, StoredAuditRow } from '../core/ports/stored-audit.ts';
import { describe, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type AuditSource, judgeChains, writtenStore } from './crib-audit.ts';

/** Which calls are asked for; all that is named must hold. */
export interface CallQuery {
  /** At most so many; 50 if absent, 1000 at most. */
  readonly limit?: number;
  readonly tool?: string;
  /** The id of who asked. */
  readonly caller?: string;
  /** `done`, `waiting` or the code of an error. */
  readonly outcome?: string;
  /** Older than this one: the last of a list, to go on from it. */
  readonly before?: RowPlace;
}

/** A call as the audit has it. */
export interface CallRow extends AuditRow {
  /** Absent if a key of this machine signs its chain; `trusted`: a key that the owner lists; `unknown`: no key that is known here. */
  readonly key?: 'trusted' | 'unknown';
}

/** Calls that were made, as the audit has them. */
export interface CribCalls {
  /** Newest first. */
  list(query?: CallQuery): Promise<readonly CallRow[]>;
  /** The newest call of this id. */
  get(id: string): Promise<CallRow | undefined>;
}

const USUAL_LIMIT = 50;
const MAX_LIMIT = 1000;
const KEYS = ['limit', 'tool', 'caller', 'outcome', 'before'] as const;

/** The calls of a crib; none where nothing was ever stored. */
export function createCalls(source: AuditSource): CribCalls {
  return {
    async list(given = {}) {
      const query = readQuery(given);
      const store = await writtenStore(source);
      return store === undefined ? [] : toCalls(source, store, await store.audit.recent(query));
    },
    async get(id) {
      if (typeof id !== 'string') throw invalid(`calls.get takes the id of a call, got ${describe(id)}.`);
      const store = await writtenStore(source);
      const row = await store?.audit.find(id);
      if (store === undefined || row === undefined) return undefined;
      return (await toCalls(source, store, [row]))[0];
    },
  };
}

type PlacedRow = StoredAuditRow & { readonly chain: string };

async function toCalls(source: AuditSource, store: Store, rows: readonly PlacedRow[]): Promise<readonly CallRow[]> {
  if (rows.length === 0) return [];
  const { toAuditRow } = await import('./proof.ts');
  const signerOf = await judgeChains(source, store);
  const signers = new Map([...new Set(rows.map(({ chain }) => chain))].map((chain) => [chain, signerOf(chain)]));
  return rows.flatMap((row) => {
    const shown = toAuditRow(row);
    const key = signers.get(row.chain) ?? 'unknown';
    return shown === undefined ? [] : [{ ...shown, ...(key !== 'own' && { key }) }];
  });
}

function readQuery(given: unknown): RowQuery {
  const { limit = USUAL_LIMIT, before, ...words } = readOptions<CallQuery>(given, KEYS, 'calls.list');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw invalid(`calls.list: limit is a number from 1 to ${MAX_LIMIT}, got ${describe(limit)}.`);
  for (const [key, word] of Object.entries(words))
    if (typeof word !== 'string') throw invalid(`calls.list: ${key} is a text, got ${describe(word)}.`);
  if (before !== undefined && !isPlace(before))
    throw invalid(`calls.list: before is a row of the list before, got ${describe(before)}.`);
  return { ...words, limit, before };
}

function isPlace(value: unknown): value is RowPlace {
  if (typeof value !== 'object' || value === null) return false;
  const { at, chain, number } = value as Partial<RowPlace>; // read as possibly anything
  return Number.isSafeInteger(at) && Number.isSafeInteger(number) && typeof chain === 'string';
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
