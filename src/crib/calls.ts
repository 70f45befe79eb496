import { describe, readOptions } from '../core/known-keys.ts';
import type { AuditRow, RowPlace, RowQuery } from '../core/stored-audit.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type AuditSource, writtenStore } from './audit.ts';

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

/** Calls that were made, as the audit has them. */
export interface CribCalls {
  /** Newest first. */
  list(query?: CallQuery): Promise<readonly AuditRow[]>;
  /** The newest call of this id. */
  get(id: string): Promise<AuditRow | undefined>;
}

const USUAL_LIMIT = 50;
const MAX_LIMIT = 1000;
const KEYS = ['limit', 'tool', 'caller', 'outcome', 'before'] as const;

/** The calls of a crib; none where nothing was ever stored. */
export function createCalls(source: AuditSource): CribCalls {
  return {
    async list(given = {}) {
      const query = readQuery(given);
      const rows = await (await writtenStore(source))?.audit.recent(query);
      const { toAuditRow } = await import('../runtime/audit/read-entry.ts');
      return (rows ?? []).flatMap((row) => toAuditRow(row) ?? []);
    },
    async get(id) {
      if (typeof id !== 'string') throw invalid(`calls.get takes the id of a call, got ${describe(id)}.`);
      const row = await (await writtenStore(source))?.audit.find(id);
      const { toAuditRow } = await import('../runtime/audit/read-entry.ts');
      return row === undefined ? undefined : toAuditRow(row);
    },
  };
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
