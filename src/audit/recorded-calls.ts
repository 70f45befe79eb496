import type { ToolUse } from '../core/ports/audit-report.ts';
import type { Store } from '../core/ports/store.ts';
import type { AuditRow, RowPlace, RowQuery, StoredAuditRow } from '../core/ports/stored-audit.ts';
import { describe, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { type AuditSource, judgeChains, writtenStore } from './crib-audit.ts';

/** Filter for calls; all given conditions must hold. */
export interface CallQuery {
  /** Default 50, maximum 1000. */
  readonly limit?: number;
  readonly tool?: string;
  /** The caller's id. */
  readonly caller?: string;
  /** `done`, `waiting` or the code of an error. */
  readonly outcome?: string;
  readonly source?: string;
  readonly profile?: string;
  readonly conversation?: string;
  readonly turn?: string;
  /** The id of the enclosing call. */
  readonly parent?: string;
  /** True for calls that were refused or failed. */
  readonly failed?: boolean;
  /** True for calls inside other calls. */
  readonly nested?: boolean;
  /** Only calls that began at this time or later, in milliseconds since 1970. */
  readonly since?: number;
  /** Only calls that began before this time. */
  readonly until?: number;
  /** Only calls older than this one; for paging, pass the last one of a list. */
  readonly before?: RowPlace;
}

/** A call in the audit log. */
export interface CallRow extends AuditRow {
  /** Absent if a key of this machine signed its chain; `trusted`: a key that the operator trusts; `unknown`: no known key. */
  readonly key?: 'trusted' | 'unknown';
}

/** Reads calls from the audit log. */
export interface CribCalls {
  /** Lists calls, newest first. */
  list(query?: CallQuery): Promise<readonly CallRow[]>;
  /** Finds the newest call by its id, or a parked call by the id of its approval. Includes the result of an ended parked call for a day. */
  get(id: string): Promise<FoundCall | undefined>;
  /** Counts calls by tool and caller since a time, in milliseconds since 1970. */
  use(since: number): Promise<readonly ToolUse[]>;
}

/** A call with its result. */
export interface FoundCall extends CallRow {
  readonly result?: ToolResult;
}

/** Dependencies for looking up calls. */
interface CallsSource extends AuditSource {
  /** Finds a parked call by its id or by the id of its approval. */
  parkedCall(id: string): Promise<{ readonly callId: string; readonly result?: ToolResult } | undefined>;
}

const USUAL_LIMIT = 50;
const MAX_LIMIT = 1000;
const WORDS = ['tool', 'caller', 'outcome', 'source', 'profile', 'conversation', 'turn', 'parent'] as const;
const KEYS = [...WORDS, 'limit', 'failed', 'nested', 'since', 'until', 'before'] as const;

/** Creates the call lookup of a crib; empty if nothing was ever stored. */
export function createCalls(source: CallsSource): CribCalls & { row(id: string): Promise<CallRow | undefined> } {
  const row = async (id: string): Promise<CallRow | undefined> => {
    const store = await writtenStore(source);
    const found = await store?.audit.find(id);
    return store === undefined || found === undefined ? undefined : (await toCalls(source, store, [found]))[0];
  };
  return {
    row,
    async list(given = {}) {
      const query = readQuery(given);
      const store = await writtenStore(source);
      return store === undefined ? [] : toCalls(source, store, await store.audit.recent(query));
    },
    use: async (since) => (await writtenStore(source))?.audit.use(since) ?? [],
    async get(id) {
      if (typeof id !== 'string') throw invalid(`calls.get takes the id of a call, got ${describe(id)}.`);
      if ((await writtenStore(source)) === undefined) return undefined;
      const { callId = id, ...parked } = (await source.parkedCall(id)) ?? {};
      const found = await row(callId);
      return found === undefined ? undefined : { ...found, ...parked };
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
  const query = readOptions<CallQuery>(given, KEYS, 'calls.list');
  const { limit = USUAL_LIMIT, before, failed, nested, since, until, ...words } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw invalid(`calls.list: limit must be a number from 1 to ${MAX_LIMIT}, got ${describe(limit)}.`);
  for (const [key, word] of Object.entries(words))
    if (typeof word !== 'string') throw invalid(`calls.list: ${key} must be a text, got ${describe(word)}.`);
  for (const [key, value] of Object.entries({ failed, nested }))
    if (value !== undefined && typeof value !== 'boolean')
      throw invalid(`calls.list: ${key} must be true or false, got ${describe(value)}.`);
  for (const [key, value] of Object.entries({ since, until }))
    if (value !== undefined && !Number.isSafeInteger(value))
      throw invalid(`calls.list: ${key} must be a time in milliseconds since 1970, got ${describe(value)}.`);
  if (before !== undefined && !isPlace(before))
    throw invalid(`calls.list: before must be a row of an earlier list, got ${describe(before)}.`);
  const flags = {
    ...(failed === true && { isFailed: true as const }),
    ...(nested === true && { isNested: true as const }),
  };
  return { ...words, ...flags, limit, before, since, until };
}

function isPlace(value: unknown): value is RowPlace {
  if (typeof value !== 'object' || value === null) return false;
  const { at, chain, number } = value as Partial<RowPlace>; // read as possibly anything
  return Number.isSafeInteger(at) && Number.isSafeInteger(number) && typeof chain === 'string';
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
