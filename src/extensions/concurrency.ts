import { slotsNode } from '../config/policy-schema.ts';
import type { ExtensionParts, ExtensionRecord } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { ConcurrencyConfig } from '../config/types/guards.ts';
import type { MaybePromise } from '../core/json.ts';
import type { Slots } from '../core/policy.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import { FACTS, subjectOf, type ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { readPolicy, requireNumber } from '../define/read-policy.ts';

export const concurrency: ExtensionRecord<ConcurrencyConfig> = {
  name: 'concurrency',
  priority: 220,
  reason: 'waiting for a slot does not count towards the timeout',
  options: object('Limits the number of concurrent calls.', {
    slots: slotsNode,
    maxWaiting: whole('Number of calls that may wait for a slot; further calls fail as unavailable. Default 1000.', 0),
    maxWaitingPerCaller: whole('Number of calls of one caller that may wait for a slot; default maxWaiting.', 0),
  }),
  make({ slots = [], maxWaiting = 1000, maxWaitingPerCaller = maxWaiting }) {
    readPolicy({ concurrency: slots }, 'concurrency()');
    requireNumber(maxWaiting, 0, 'concurrency(): maxWaiting');
    requireNumber(maxWaitingPerCaller, 0, 'concurrency(): maxWaitingPerCaller');
    return boundCalls(slots, { maxWaiting, maxWaitingPerCaller });
  },
};

interface Gauge {
  readonly amount: number;
  inUse: number;
}

interface Counter {
  readonly slots: Slots;
  readonly gauges: Map<string, Gauge>;
}

interface Waiter {
  readonly gauges: readonly Gauge[];
  readonly caller: string | undefined;
  readonly start: () => void;
}

/** Number of idle subjects kept per limit. */
const MANY_GAUGES = 10_000;

/** Limits concurrent calls. A call takes all its slots at once or waits for all of them, first come, first served. */
function boundCalls(
  everyCall: readonly Slots[],
  { maxWaiting, maxWaitingPerCaller }: Required<Omit<ConcurrencyConfig, 'slots'>>,
): ExtensionParts {
  const countersOf = createCounters(everyCall);
  const waiting = new Set<Waiter>();

  const release = (taken: readonly Gauge[]) => {
    for (const gauge of taken) gauge.inUse--;
    for (const waiter of waiting) {
      if (!taken.some(hasRoom)) return; // all waiters need a slot that was just released, or had to wait before
      if (!waiter.gauges.every(hasRoom)) continue;
      waiting.delete(waiter);
      take(waiter.gauges);
      waiter.start();
    }
  };

  const run = (
    call: ToolCall,
    taken: readonly Gauge[],
    next: (call: ToolCall) => MaybePromise<ToolResult>,
  ): MaybePromise<ToolResult> => {
    call[FACTS].slots = taken;
    return afterwards(next(call), (settled) => {
      release(taken);
      return settled;
    });
  };

  return {
    applies: (spec) => everyCall.length > 0 || (spec.policy.concurrency ?? []).length > 0,
    wrap(call, next) {
      const wanted = countersOf(call.spec.policy.concurrency).map((counter) => gaugeOf(counter, call, waiting));
      // A nested call goes first, because waiting calls may depend on its parent.
      if (wanted.every(hasRoom) && (call.parent !== undefined || !blocksWaiter(wanted, waiting))) {
        take(wanted);
        return run(call, wanted, next);
      }
      if (wouldWaitForItself(call, wanted)) {
        return busy(call, 'the enclosing call holds the slot that it needs');
      }
      if (waiting.size >= maxWaiting) return busy(call, `${waiting.size} calls are already waiting`);
      if (maxWaitingPerCaller < maxWaiting && countOf(call.caller.id, waiting) >= maxWaitingPerCaller) {
        return busy(call, `calls of this caller are already waiting (at most ${maxWaitingPerCaller})`);
      }
      return wait(call, wanted, waiting).then((refusal) => refusal ?? run(call, wanted, next));
    },
  };
}

/** The counters for every call and for a list; lists with equal slots share counters. */
function createCounters(everyCall: readonly Slots[]): (list: readonly Slots[] | undefined) => readonly Counter[] {
  const gaugesBySlots = new Map<string, Map<string, Gauge>>();
  const countersByList = new WeakMap<readonly Slots[], readonly Counter[]>();
  const toCounter = (slots: Slots): Counter => {
    const key = `${slots.of} ${slots.scope} ${slots.amount}`;
    const gauges = gaugesBySlots.get(key) ?? new Map<string, Gauge>();
    gaugesBySlots.set(key, gauges);
    return { slots, gauges };
  };
  const everyCounter = everyCall.map(toCounter);
  return (list) => {
    if (list === undefined) return everyCounter;
    const known = countersByList.get(list);
    if (known !== undefined) return known;
    const counters = [...everyCounter, ...list.map(toCounter)];
    countersByList.set(list, counters);
    return counters;
  };
}

/** Resolves with undefined when the slots are taken, or with a failure if the call was aborted. */
function wait(call: ToolCall, gauges: readonly Gauge[], waiting: Set<Waiter>): Promise<FailedResult | undefined> {
  return new Promise((resolve) => {
    const waiter: Waiter = {
      gauges,
      caller: call.caller.id,
      start() {
        stopListening();
        resolve(undefined);
      },
    };
    waiting.add(waiter);
    const stopListening = call.onAbort((reason) => {
      if (waiting.delete(waiter)) resolve(failed(reason));
    });
  });
}

function countOf(caller: string | undefined, waiting: ReadonlySet<Waiter>): number {
  let count = 0;
  for (const waiter of waiting) if (waiter.caller === caller) count++;
  return count;
}

function gaugeOf({ slots, gauges }: Counter, call: ToolCall, waiting: ReadonlySet<Waiter>): Gauge {
  const subject = subjectOf(slots.scope, call);
  const known = gauges.get(subject);
  if (known !== undefined) return known;
  // Only without waiting calls: they may hold references to idle gauges.
  if (gauges.size >= MANY_GAUGES && waiting.size === 0) forgetIdle(gauges);
  const made: Gauge = { amount: slots.amount, inUse: 0 };
  gauges.set(subject, made);
  return made;
}

function forgetIdle(gauges: Map<string, Gauge>): void {
  for (const [subject, gauge] of gauges) if (gauge.inUse === 0) gauges.delete(subject);
}

function hasRoom(gauge: Gauge): boolean {
  return gauge.inUse < gauge.amount;
}

function take(gauges: readonly Gauge[]): void {
  for (const gauge of gauges) gauge.inUse++;
}

// Waiting calls for one of these slots come first.
function blocksWaiter(wanted: readonly Gauge[], waiting: ReadonlySet<Waiter>): boolean {
  for (const waiter of waiting) if (waiter.gauges.some((gauge) => wanted.includes(gauge))) return true;
  return false;
}

// A parent ends only after this call, so waiting for its slot would last until a timeout.
function wouldWaitForItself(call: ToolCall, wanted: readonly Gauge[]): boolean {
  const full = wanted.filter((gauge) => !hasRoom(gauge));
  for (let ancestor = call.parent; ancestor !== undefined; ancestor = ancestor.parent) {
    const held = ancestor[FACTS].slots ?? [];
    if (held.some((gauge) => full.includes(gauge as Gauge))) return true; // only compared
  }
  return false;
}

function busy(call: ToolCall, why: string): FailedResult {
  return failed(toolError('unavailable', `"${call.spec.name}" is busy: ${why}. Try again later.`, { retryable: true }));
}
