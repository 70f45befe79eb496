import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { type AuditTrailOptions, createAuditTrail, type OpenAuditTrail } from '../../src/audit/create-audit-trail.ts';
import { toAuditRow } from '../../src/audit/proof.ts';
import { newFacts } from '../../src/core/begun-runs.ts';
import type { Clock } from '../../src/core/ports/crib-context.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { AuditRow } from '../../src/core/ports/stored-audit.ts';
import { FACTS, type ToolCall } from '../../src/core/tool-call.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed, type ToolResult } from '../../src/core/tool-result.ts';
import { openStore } from '../../src/store/open-store.ts';

/** A trail whose time stands still until it is told to go on. */
export interface TimedTrail extends OpenAuditTrail {
  readonly store: Store;
  readonly warnings: readonly string[];
  /** Lets time pass and timers run. */
  pass(ms: number): void;
  rows(): Promise<readonly AuditRow[]>;
}

export const START = Date.UTC(2026, 0, 31);

/** A trail over a store of its own, in memory unless another is given. */
export async function timedTrail(
  given: Partial<AuditTrailOptions> & { readonly url?: string; readonly startAt?: number } = {},
): Promise<TimedTrail> {
  let now = given.startAt ?? START;
  const timers = new Set<{ readonly at: number; readonly task: () => void }>();
  const clock: Clock = {
    now: () => now,
    setTimer(delayMs, task) {
      const timer = { at: now + delayMs, task };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const warnings: string[] = [];
  const store = given.store ?? (await openStore({ url: given.url ?? 'memory:', env: {}, now: () => now }));
  onTestFinished(() => store.close());
  const trail = createAuditTrail({
    privateFolder: () => undefined,
    keySettings: () => ({}),
    redact: (text) => text,
    warn: (message) => void (warnings.includes(message) || warnings.push(message)),
    ...given,
    store,
    clock,
    idleClock: clock,
    now: () => now,
  });
  return {
    ...trail,
    store,
    warnings,
    pass(ms) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.task();
      }
    },
    async rows() {
      await trail.flush();
      const chains = await store.audit.chains();
      const lists = chains.map(async ({ chain }) =>
        (await store.audit.rows(chain, 0, 1_000_000)).flatMap((row) => toAuditRow({ ...row, chain }) ?? []),
      );
      return (await Promise.all(lists)).flat();
    },
  };
}

/** A call as the trail sees it. */
export function callOf(
  given: { tool?: string; source?: string; caller?: string; startedAt?: number; conversation?: string } = {},
): ToolCall {
  const { tool = 'add', source = 'code', caller, startedAt = START, conversation } = given;
  return {
    id: randomUUID(),
    spec: { name: tool, source },
    caller: caller === undefined ? {} : { id: caller },
    conversation,
    door: 'rest',
    profile: 'assistant',
    input: {},
    [FACTS]: newFacts(startedAt),
  } as unknown as ToolCall; // what a row is made of
}

export const DONE: ToolResult = done('ok');
export const refusedWith = (code: Parameters<typeof toolError>[0]): ToolResult => failed(toolError(code, 'no'));
