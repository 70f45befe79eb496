import type { JsonValue } from '../json.ts';
import { describe } from '../read-options.ts';
import { ToolcribError } from '../tool-error.ts';
import type { ToolResult } from '../tool-result.ts';

/** A result that is too large to return at once. */
export interface KeptResult {
  readonly id: string;
  /** The id of the caller it belongs to; '' for callers without one. */
  readonly owner: string;
  readonly tool: string;
  readonly text: string;
  /** The structured output, if the text does not contain it. */
  readonly data?: JsonValue;
  readonly expiresAt: number;
}

/** Bytes of stored results: of all callers, and of each. */
interface ResultQuotas {
  readonly quotaBytes: number;
  readonly quotaBytesPerCaller?: number;
}

/** Storage for large results until they expire. */
export interface StoredResults {
  /** False if the result exceeds a quota. */
  put(result: KeptResult, quotas: ResultQuotas): Promise<boolean>;
  get(id: string): Promise<KeptResult | undefined>;
}

/** Identifies a call: caller, profile, tool and idempotency key. */
type RepeatKey = string;

/** State of the first call with a key. */
export type FirstCall =
  | { readonly state: 'new' }
  | { readonly state: 'running'; readonly argumentsHash: string }
  /** Its process is gone, and its outcome is unknown. */
  | { readonly state: 'lost'; readonly argumentsHash: string }
  | { readonly state: 'ended'; readonly argumentsHash: string; readonly result: ToolResult }
  | { readonly state: 'refused'; readonly broken: KeepBound };

/** Idempotency keys of calls that must not run twice. */
export interface StoredRepeats {
  /** Takes the key for this call, returns the state of the call that has it, or refuses if a bound is reached. */
  begin(key: RepeatKey, call: RepeatingCall): Promise<FirstCall>;
  /** Stores the result for later calls with the same key. */
  end(key: RepeatKey, callId: string, ending: RepeatEnding): Promise<void>;
  /** Releases the key: the tool did not run. */
  forget(key: RepeatKey, callId: string): Promise<void>;
}

/** A call with an idempotency key. */
export interface RepeatingCall {
  readonly id: string;
  readonly argumentsHash: string;
  readonly keepMs: number;
  /** Absent for the crib's own keys, which count for no caller. */
  readonly keeping?: Keeping;
}

/** The result of a call with a key. */
export interface RepeatEnding extends Keeping {
  readonly result: ToolResult;
  /** Stored if the result exceeds the byte bounds: at most `RESERVED_BYTES` of JSON. */
  readonly instead: ToolResult;
}

/** Bytes reserved per key, so that there is always room for the end of its call. */
export const RESERVED_BYTES = 1000;

/** One rate that a call is charged to. All processes with the same store share the counter. */
export interface RateCell {
  readonly name: string;
  readonly amount: number;
  readonly perMs: number;
}

/** Rates shared by several processes. */
export interface StoredRates {
  /** Charges one call to all cells and returns 0, or charges none and returns the milliseconds to wait. */
  charge(cells: readonly RateCell[]): Promise<number>;
  /** The milliseconds to wait until all cells allow a call; 0 if they allow it now. Charges nothing. */
  waitMs(cells: readonly RateCell[]): Promise<number>;
  /** Refunds a call that was charged `elapsedMs` ago. */
  refund(cells: readonly RateCell[], elapsedMs: number): Promise<void>;
}

/** The refundable part of a charge after this time. Capacity that has already refilled is not refunded again. */
export function refundOf({ amount, perMs }: Pick<RateCell, 'amount' | 'perMs'>, elapsedMs: number): number {
  return Math.max(0, perMs / amount - Math.max(0, elapsedMs));
}

/** One budget that a price is charged to. */
export interface BudgetCell {
  readonly name: string;
  readonly amount: number;
  readonly perMs: number;
}

/** Result of charging budgets; `spent` is the budget that is exhausted. */
export type BudgetAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly spent: BudgetCell; readonly resetsInMs: number };

/** Costs of calls in the current period of each budget. */
export interface StoredBudgets {
  /** Charges the price to all budgets, or to none. */
  charge(cells: readonly BudgetCell[], price: number): Promise<BudgetAnswer>;
  /** The amount that each budget has spent in the current period. */
  spent(cells: readonly BudgetCell[]): Promise<readonly number[]>;
  /** Refunds a call that never began. */
  refund(cells: readonly BudgetCell[], price: number): Promise<void>;
}

/** The end of the current period. Periods start at multiples of their length, the same in every process. */
export function periodEnd(perMs: number, now: number): number {
  return (Math.floor(now / perMs) + 1) * perMs;
}

/** The spending limit, with tolerance for rounding errors. */
export function mostOf({ amount }: BudgetCell): number {
  return amount + Math.max(amount, 1) * 1e-9;
}

/** Bounds on stored entries, in number and bytes, per caller and in total. */
export interface KeepBounds {
  readonly maxPerCaller: number;
  readonly maxBytesPerCaller: number;
  readonly maxTotal: number;
  readonly maxTotalBytes: number;
}

export type KeepBound = keyof KeepBounds;

const KEEP_BOUNDS = ['maxPerCaller', 'maxBytesPerCaller', 'maxTotal', 'maxTotalBytes'] as const;

export const DEFAULT_KEEP_BOUNDS: KeepBounds = {
  maxPerCaller: 100,
  maxBytesPerCaller: 16_000_000,
  maxTotal: 10_000,
  maxTotalBytes: 256_000_000,
};

/** The given bounds, with defaults for the others. */
export function keepBoundsOf(options: Partial<KeepBounds>): KeepBounds {
  const chosen = KEEP_BOUNDS.map((key) => [key, options[key] ?? DEFAULT_KEEP_BOUNDS[key]] as const);
  return Object.fromEntries(chosen) as Record<KeepBound, number>; // one entry for each key
}

/** Throws for a bound that is not a whole number above 0. */
export function requireBounds(given: Partial<KeepBounds>, owner: string): void {
  for (const key of KEEP_BOUNDS) {
    const value: unknown = given[key];
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) > 0)) continue;
    const message = `${owner}: ${key} must be a whole number above 0, got ${describe(value)}.`;
    throw new ToolcribError('invalid_option', message);
  }
}

/** The owner of a stored entry, and its bounds. */
export interface Keeping {
  /** The caller's id; '' for callers without an id, who share their bounds. */
  readonly owner: string;
  readonly bounds: KeepBounds;
}

/** Current usage. */
export interface KeptUsage {
  readonly ofCaller: number;
  readonly bytesOfCaller: number;
  readonly total: number;
  readonly totalBytes: number;
}

/** The first bound that another entry of this size would exceed; undefined if there is room. */
export function brokenBound(usage: KeptUsage, bytes: number, bounds: KeepBounds): KeepBound | undefined {
  if (usage.ofCaller >= bounds.maxPerCaller) return 'maxPerCaller';
  if (usage.bytesOfCaller + bytes > bounds.maxBytesPerCaller) return 'maxBytesPerCaller';
  if (usage.total >= bounds.maxTotal) return 'maxTotal';
  return usage.totalBytes + bytes > bounds.maxTotalBytes ? 'maxTotalBytes' : undefined;
}

/** Describes a broken bound; `things` is the plural name of the entries. */
export function describeBound(broken: KeepBound, bounds: KeepBounds, things: string): string {
  const most = bounds[broken];
  switch (broken) {
    case 'maxPerCaller':
      return `the crib stores at most ${most} ${things} per caller`;
    case 'maxBytesPerCaller':
      return `the ${things} of one caller may take at most ${most} bytes`;
    case 'maxTotal':
      return `the crib stores at most ${most} ${things}`;
    case 'maxTotalBytes':
      return `all ${things} together may take at most ${most} bytes`;
  }
}

/** Time after which a caller may retry. */
export const RETRY_WITHOUT_ROOM_MS = 60_000;
