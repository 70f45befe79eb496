import type { Extension } from '../core/extension.ts';
import type { Rate } from '../core/policy.ts';
import type { Clock } from '../core/ports.ts';
import { subjectOf, type ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';

export interface RateLimitOptions {
  /** Rates that hold for every call, besides those of tools and profiles. */
  readonly rates?: readonly Rate[];
}

/** For each subject the moment at which all it has used will have flowed off. */
type Cells = Map<string, number>;

interface Meter {
  readonly rate: Rate;
  readonly cells: Cells;
}

/** How many subjects a rate remembers before those that are idle are forgotten. */
const MANY_CELLS = 10_000;

/** Counts every attempt. All rates of a call are checked together and charged together (GCRA). */
export function rateLimit(options: RateLimitOptions & { readonly clock: Clock }): Extension {
  const { clock, rates = [] } = options;
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
    name: 'rateLimit',
    priority: 950,
    unsafeOrder: true,
    applies: (spec) => everyCall.length > 0 || (spec.policy.rates ?? []).length > 0,
    wrap(call, next) {
      const waitMs = charge(metersOf(call.spec.policy.rates), call, clock.now());
      if (waitMs === 0) return next(call);
      const retryAfterMs = Math.ceil(waitMs);
      return failed(
        toolError('rate_limited', `Too many calls; try again in ${retryAfterMs} ms.`, {
          retryable: true,
          retryAfterMs,
        }),
      );
    },
  };
}

/** Charges every meter, or none and says how long to wait. */
function charge(meters: readonly Meter[], call: ToolCall, now: number): number {
  let waitMs = 0;
  for (const { rate, cells } of meters) {
    const full = Math.max(cells.get(subjectOf(rate.scope, call)) ?? now, now) + rate.perMs / rate.amount;
    const excess = full - now - rate.perMs;
    if (excess > rate.perMs * 1e-9) waitMs = Math.max(waitMs, excess); // what rounding adds up to is no call too many
  }
  if (waitMs > 0) return waitMs;
  for (const { rate, cells } of meters) {
    const subject = subjectOf(rate.scope, call);
    cells.set(subject, Math.max(cells.get(subject) ?? now, now) + rate.perMs / rate.amount);
    if (cells.size > MANY_CELLS) forgetIdle(cells, now);
  }
  return 0;
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
