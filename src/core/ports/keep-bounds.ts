import { describe } from '../read-options.ts';
import { ToolcribError } from '../tool-error.ts';

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
