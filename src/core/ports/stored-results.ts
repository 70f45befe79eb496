import type { JsonValue } from '../json.ts';
import { describe } from '../read-options.ts';
import { ToolcribError } from '../tool-error.ts';
import type { ToolResult } from '../tool-result.ts';

/** A result that is too large to hand over at once. */
export interface KeptResult {
  readonly id: string;
  /** The id of the caller it belongs to; '' for callers without one. */
  readonly owner: string;
  readonly tool: string;
  readonly text: string;
  /** What the tool answered as data, where its text does not say the same. */
  readonly data?: JsonValue;
  readonly expiresAt: number;
}

/** Large results, until they expire. */
export interface StoredResults {
  /** False if the quota does not hold it any more. */
  put(result: KeptResult, quotaBytes: number): Promise<boolean>;
  get(id: string): Promise<KeptResult | undefined>;
}

/** Whose call it is: two calls with the same caller, profile, tool and key are one. */
type RepeatKey = string;

/** What became of the first call with a key. */
export type FirstCall =
  | { readonly state: 'new' }
  | { readonly state: 'running'; readonly argumentsHash: string }
  /** Its process is gone, and with it how it ended. */
  | { readonly state: 'lost'; readonly argumentsHash: string }
  | { readonly state: 'ended'; readonly argumentsHash: string; readonly result: ToolResult }
  | { readonly state: 'refused'; readonly broken: KeepBound };

/** Calls that must not be made twice, by their idempotency keys. */
export interface StoredRepeats {
  /** Takes the key for this call, tells of the call that has it, or refuses it where a bound leaves no room. */
  begin(key: RepeatKey, call: RepeatingCall): Promise<FirstCall>;
  /** Keeps the result for later calls with the same key. */
  end(key: RepeatKey, callId: string, ending: RepeatEnding): Promise<void>;
  /** Lets the key go: the tool did not run. */
  forget(key: RepeatKey, callId: string): Promise<void>;
}

/** A call that comes with a key. */
export interface RepeatingCall {
  readonly id: string;
  readonly argumentsHash: string;
  readonly keepMs: number;
  /** Absent for keys of the crib itself, which count for no caller. */
  readonly keeping?: Keeping;
}

/** How a call with a key ended. */
export interface RepeatEnding extends Keeping {
  readonly result: ToolResult;
  /** Kept where the bounds in bytes leave no room for the result: at most `RESERVED_BYTES` of JSON. */
  readonly instead: ToolResult;
}

/** What every key takes from the beginning on, so that there is room for the end of its call. */
export const RESERVED_BYTES = 1000;

/** One rate that a call is charged to; all processes that share the store count together. */
export interface RateCell {
  readonly name: string;
  readonly amount: number;
  readonly perMs: number;
}

/** Rates that several processes share. */
export interface StoredRates {
  /** Charges one call to every cell and answers 0, or to none and says how many milliseconds to wait. */
  charge(cells: readonly RateCell[]): Promise<number>;
  /** Gives back what a call was charged this long ago. */
  refund(cells: readonly RateCell[], elapsedMs: number): Promise<void>;
}

/** How much of the charge for one call can be given back after this time: what may have flowed off is not given twice. */
export function refundOf({ amount, perMs }: Pick<RateCell, 'amount' | 'perMs'>, elapsedMs: number): number {
  return Math.max(0, perMs / amount - Math.max(0, elapsedMs));
}

/** One budget that a price is taken out of. */
export interface BudgetCell {
  readonly name: string;
  readonly amount: number;
  readonly perMs: number;
}

/** How taking a price out of budgets went; `spent` names the one that does not hold it. */
export type BudgetAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly spent: BudgetCell; readonly resetsInMs: number };

/** What calls have cost in the current period of each budget. */
export interface StoredBudgets {
  /** Takes the price out of every budget, or out of none. */
  charge(cells: readonly BudgetCell[], price: number): Promise<BudgetAnswer>;
  /** Puts back what a call that never began was charged. */
  refund(cells: readonly BudgetCell[], price: number): Promise<void>;
}

/** Periods begin at multiples of their length, the same in every process. */
export function periodEnd(perMs: number, now: number): number {
  return (Math.floor(now / perMs) + 1) * perMs;
}

/** The most that may be spent; what rounding adds up to is not counted. */
export function mostOf({ amount }: BudgetCell): number {
  return amount + Math.max(amount, 1) * 1e-9;
}

/** Bounds on what callers can make the crib keep, in number and in bytes: of one caller, and of all together. */
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

/** The bounds that options name, with defaults for the others. */
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

/** For whom something is kept, and within which bounds. */
export interface Keeping {
  /** The caller's id; '' for callers without one, who share their bounds. */
  readonly owner: string;
  readonly bounds: KeepBounds;
}

/** What is kept at one moment. */
export interface KeptUsage {
  readonly ofCaller: number;
  readonly bytesOfCaller: number;
  readonly total: number;
  readonly totalBytes: number;
}

/** The first bound that one entry more of this size would break; undefined if there is room. */
export function brokenBound(usage: KeptUsage, bytes: number, bounds: KeepBounds): KeepBound | undefined {
  if (usage.ofCaller >= bounds.maxPerCaller) return 'maxPerCaller';
  if (usage.bytesOfCaller + bytes > bounds.maxBytesPerCaller) return 'maxBytesPerCaller';
  if (usage.total >= bounds.maxTotal) return 'maxTotal';
  return usage.totalBytes + bytes > bounds.maxTotalBytes ? 'maxTotalBytes' : undefined;
}

/** A broken bound in words; `things` names in the plural what is kept. */
export function describeBound(broken: KeepBound, bounds: KeepBounds, things: string): string {
  const most = bounds[broken];
  switch (broken) {
    case 'maxPerCaller':
      return `the crib keeps at most ${most} ${things} of one caller`;
    case 'maxBytesPerCaller':
      return `the ${things} of one caller take at most ${most} bytes`;
    case 'maxTotal':
      return `the crib keeps at most ${most} ${things}`;
    case 'maxTotalBytes':
      return `all ${things} together take at most ${most} bytes`;
  }
}

/** When a caller without room may try again. */
export const RETRY_WITHOUT_ROOM_MS = 60_000;
