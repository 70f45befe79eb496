import { ratesNode } from '../config/policy-schema.ts';
import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object } from '../config/schema-node.ts';
import type { RateLimitConfig } from '../config/types/guards.ts';
import { hasBegun, replayOf } from '../core/begun-runs.ts';
import { FORESEE, type Next, RATE_LIMIT_PRIORITY } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { Rate } from '../core/policy.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import { type RateCell, refundOf, type StoredRates } from '../core/ports/stored-results.ts';
import { subjectOf, type ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { readPolicy } from '../define/read-policy.ts';

/** For each subject the time at which its usage will have drained. */
type Cells = Map<string, number>;

interface Meter {
  readonly rate: Rate;
  readonly cells: Cells;
}

/** Number of subjects per rate before idle ones are removed. */
const MANY_CELLS = 10_000;

/** Counts every attempt. All rates of a call are checked and charged together (GCRA). */
export const rateLimit: ExtensionRecord<RateLimitConfig & WithClock> = {
  name: 'rateLimit',
  priority: RATE_LIMIT_PRIORITY,
  reason: 'counts every attempt, also of unknown tools; refused and repeated calls take no slot',
  options: object('Limits the rate of calls.', { rates: ratesNode }),
  codeOptions: ['clock'],
  make(options, ports) {
    const { rates = [], clock = ports.clock } = options;
    const { sharedRates: shared } = ports;
    readPolicy({ rates }, 'rateLimit()');
    const cellsByRate = new Map<string, Cells>();
    const metersByList = new WeakMap<readonly Rate[], readonly Meter[]>();
    const toMeter = (rate: Rate): Meter => ({
      rate,
      cells: recall(cellsByRate, `${rate.of} ${rate.scope} ${rate.amount} ${rate.perMs}`),
    });
    const everyCall = rates.map(toMeter);
    const metersOf = (list: readonly Rate[] | undefined): readonly Meter[] => {
      if (list === undefined) return everyCall;
      const known = metersByList.get(list);
      if (known !== undefined) return known;
      const meters = [...everyCall, ...list.map(toMeter)];
      metersByList.set(list, meters);
      return meters;
    };
    return {
      applies: (spec) => everyCall.length > 0 || (spec.policy.rates ?? []).length > 0,
      wrap(call, next) {
        const meters = metersOf(call.spec.policy.rates);
        if (shared !== undefined) return limitShared({ shared, clock }, { meters, call }, next);
        const begunAt = clock.now();
        const waitMs = charge(meters, call, begunAt);
        if (waitMs > 0) return tooMany(waitMs);
        const result = next(call);
        if (!isPromise(result)) return result; // a repeated call waits for the first, so it is never synchronous
        return afterwards(result, (settled) => {
          if (isFree(call, settled)) giveBack(meters, call, clock.now() - begunAt);
          return settled;
        });
      },
      async [FORESEE](call) {
        const meters = metersOf(call.spec.policy.rates);
        const waitMs = await (shared?.waitMs(cellsOf({ meters, call })) ?? excessOf(meters, call, clock.now()));
        if (waitMs === 0) return { verdict: 'pass', says: 'The rate limits allow the call now.' };
        const { error } = tooMany(waitMs);
        return { verdict: 'refuse', says: error.message, error };
      },
    };
  },
};

function tooMany(waitMs: number): FailedResult {
  const retryAfterMs = Math.ceil(waitMs);
  const message = `Too many calls. Try again in ${retryAfterMs} ms.`;
  return failed(toolError('rate_limited', message, { retryable: true, retryAfterMs }));
}

/** True for a repeated call, which got the result of the first, and for a background call, which is charged when it runs. */
function isFree(call: ToolCall, result: ToolResult): boolean {
  if (result.status === 'waiting' && result.waiting.for === 'task') return !hasBegun(call);
  return replayOf(call) === 'repeat';
}

interface Counted {
  readonly meters: readonly Meter[];
  readonly call: ToolCall;
}

function cellsOf({ meters, call }: Counted): readonly RateCell[] {
  return meters.map(({ rate: { of, scope, amount, perMs } }) => ({
    name: JSON.stringify([of ?? '', scope, amount, perMs, subjectOf(scope, call)]),
    amount,
    perMs,
  }));
}

/** Rate limits shared by several processes. */
async function limitShared(
  { shared, clock }: { readonly shared: StoredRates; readonly clock: Clock },
  counted: Counted,
  next: Next,
): Promise<ToolResult> {
  const { call } = counted;
  const cells = cellsOf(counted);
  const begunAt = clock.now();
  const refusal = await chargeShared(shared, cells);
  if (refusal !== undefined) return refusal;
  const result = await next(call);
  // If the refund fails, too much is charged, never too little.
  if (isFree(call, result)) await shared.refund(cells, clock.now() - begunAt).catch(() => undefined);
  return result;
}

/** A call that cannot be counted is refused. */
async function chargeShared(shared: StoredRates, cells: readonly RateCell[]): Promise<FailedResult | undefined> {
  try {
    const waitMs = await shared.charge(cells);
    return waitMs === 0 ? undefined : tooMany(waitMs);
  } catch (cause) {
    return failed(toolError('unavailable', 'The call could not be counted, so the tool was not run.', { cause }));
  }
}

/** The time to wait before the meters allow a call; 0 if they allow it now. */
function excessOf(meters: readonly Meter[], call: ToolCall, now: number): number {
  let waitMs = 0;
  for (const { rate, cells } of meters) {
    const full = Math.max(cells.get(subjectOf(rate.scope, call)) ?? now, now) + rate.perMs / rate.amount;
    const excess = full - now - rate.perMs;
    if (excess > rate.perMs * 1e-9) waitMs = Math.max(waitMs, excess); // tolerance for rounding errors
  }
  return waitMs;
}

/** Charges all meters and returns 0, or charges none and returns the time to wait. */
function charge(meters: readonly Meter[], call: ToolCall, now: number): number {
  const waitMs = excessOf(meters, call, now);
  if (waitMs > 0) return waitMs;
  for (const { rate, cells } of meters) {
    const subject = subjectOf(rate.scope, call);
    cells.set(subject, Math.max(cells.get(subject) ?? now, now) + rate.perMs / rate.amount);
    if (cells.size > MANY_CELLS) forgetIdle(cells, now);
  }
  return 0;
}

/** Refunds a call, except for capacity that has already refilled. */
function giveBack(meters: readonly Meter[], call: ToolCall, elapsedMs: number): void {
  for (const { rate, cells } of meters) {
    const subject = subjectOf(rate.scope, call);
    const fullUntil = cells.get(subject);
    if (fullUntil !== undefined) cells.set(subject, fullUntil - refundOf(rate, elapsedMs));
  }
}

function forgetIdle(cells: Cells, now: number): void {
  for (const [subject, fullUntil] of cells) if (fullUntil <= now) cells.delete(subject);
}

function recall(map: Map<string, Cells>, key: string): Cells {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made: Cells = new Map();
  map.set(key, made);
  return made;
}
