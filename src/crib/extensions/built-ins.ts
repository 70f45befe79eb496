import { randomBytes } from 'node:crypto';
import { createApprover, readWebhook, type WithWebhook } from '../../approvals/create-approver.ts';
import type { ApprovalOptions } from '../../core/approval.ts';
import type { Extension } from '../../core/extension.ts';
import { KEEP_BOUNDS, type KeepBounds } from '../../core/ports/keep-bounds.ts';
import type { Clock } from '../../core/ports/ports.ts';
import { describe, readOptions } from '../../core/read-options.ts';
import { redactData, redactResult } from '../../core/text/redact-result.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { readPolicy, requireNumber } from '../../define/read-policy.ts';
import { access as accessExtension } from '../../extensions/access.ts';
import { approval as approvalExtension } from '../../extensions/approval.ts';
import { type BreakerOptions, breaker as breakerExtension } from '../../extensions/breaker.ts';
import { budget } from '../../extensions/budget.ts';
import { cache } from '../../extensions/cache.ts';
import { type ConcurrencyOptions, concurrency as concurrencyExtension } from '../../extensions/concurrency.ts';
import { type IdempotencyOptions, idempotency as idempotencyExtension } from '../../extensions/idempotency.ts';
import { type OffloadOptions, offload as offloadExtension } from '../../extensions/offload.ts';
import { type RateLimitOptions, rateLimit as rateLimitExtension } from '../../extensions/rate-limit.ts';
import { resultSize } from '../../extensions/result-size.ts';
import { type RetryOptions, retry as retryExtension } from '../../extensions/retry.ts';
import { rules } from '../../extensions/rules.ts';
import { type TimeoutOptions, timeout as timeoutExtension } from '../../extensions/timeout.ts';
import { validate } from '../../extensions/validate.ts';
import { validateOutput } from '../../extensions/validate-output.ts';
import { argumentsHash, definitionHash } from '../../specs/hashes.ts';
import { laterClock } from '../../system/clock.ts';
import { auditIntent, usualAudit } from './audit-extensions.ts';
import { bindable } from './extension-ports.ts';
import { recordExtensions } from './record-extensions.ts';

/** Tests hand in their own time. */
interface WithClock {
  readonly clock?: Clock;
}

/** Judges the hours of access clauses. */
export function access(options: WithClock = {}): Extension {
  const given = readOptions<WithClock>(options, ['clock'], 'access()');
  return bindable(() => accessExtension({ clock: laterClock, ...given }));
}

/** Asks a person before a tool runs. */
export function approval(options: ApprovalOptions & WithWebhook & WithClock = {}): Extension {
  const given = readOptions<ApprovalOptions & WithWebhook & WithClock>(
    options,
    ['mode', 'timeoutMs', 'webhook', ...KEEP_BOUNDS, 'clock'],
    'approval()',
  );
  requireBounds(given, 'approval()');
  requirePolicy({ approval: given.mode, timeoutMs: given.timeoutMs }, 'approval()');
  const hook = readWebhook(given.webhook, 'approval(): webhook');
  return bindable((ports) => approvalExtension({ ...given, ...createApprover(given, hook, ports) }));
}

/** Leaves a source alone for a while that keeps failing. */
export function breaker(options: BreakerOptions & WithClock = {}): Extension {
  const given = readOptions<BreakerOptions & WithClock>(options, ['failures', 'openMs', 'clock'], 'breaker()');
  requireNumber(given.failures, 1, 'breaker(): failures');
  requireNumber(given.openMs, 1, 'breaker(): openMs');
  return bindable(({ clock }) => breakerExtension({ clock, ...given }));
}

/** Bounds how many calls run at once. */
export function concurrency(options: ConcurrencyOptions = {}): Extension {
  const given = readOptions<ConcurrencyOptions>(options, ['slots', 'maxWaiting'], 'concurrency()');
  requirePolicy({ concurrency: given.slots }, 'concurrency()');
  requireNumber(given.maxWaiting, 0, 'concurrency(): maxWaiting');
  return bindable(() => concurrencyExtension(given));
}

/** Bounds how often calls are made. */
export function rateLimit(options: RateLimitOptions & WithClock = {}): Extension {
  const given = readOptions<RateLimitOptions & WithClock>(options, ['rates', 'clock'], 'rateLimit()');
  requirePolicy({ rates: given.rates }, 'rateLimit()');
  return bindable(({ clock, sharedRates }) => rateLimitExtension({ clock, shared: sharedRates, ...given }));
}

/** Keeps large results and hands over their beginning. A crib without a store hands over all of it. */
export function offload(options: OffloadOptions = {}): Extension {
  const given = readOptions<OffloadOptions>(options, ['offloadBytes', 'keepMs', 'quotaBytes'], 'offload()');
  for (const key of ['offloadBytes', 'keepMs', 'quotaBytes'] as const)
    requireNumber(given[key], 1, `offload(): ${key}`);
  return bindable(({ store, redact, warn }) => {
    if (store === undefined) return { name: 'offload', priority: 285 };
    const withoutSecrets = <T>(data: T) => redactData(data, redact);
    return offloadExtension({ ...given, results: store.results, now: Date.now, newId, withoutSecrets, warn });
  });
}

/** Makes two calls with one idempotency key one call. */
export function idempotency(options: IdempotencyOptions & WithClock = {}): Extension {
  const given = readOptions<IdempotencyOptions & WithClock>(options, [...KEEP_BOUNDS, 'clock'], 'idempotency()');
  requireBounds(given, 'idempotency()');
  return bindable(({ clock, store, redact, findLost }) =>
    idempotencyExtension({
      findLost,
      clock,
      ...given,
      store: store?.repeats,
      argumentsHash,
      withoutSecrets: (result) => redactResult(result, redact),
    }),
  );
}

function requireBounds(given: Partial<KeepBounds>, owner: string): void {
  for (const key of KEEP_BOUNDS) {
    const value: unknown = given[key];
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) > 0)) continue;
    throw new ToolcribError(
      'invalid_option',
      `${owner}: ${key} must be a whole number above 0, got ${describe(value)}.`,
    );
  }
}

/** Long enough that nobody guesses it, short enough for a model to repeat. */
function newId(): string {
  return `r_${randomBytes(12).toString('base64url')}`;
}

interface WithRandom {
  readonly random?: () => number;
}

/** Tries again what failed for a passing reason. */
export function retry(options: RetryOptions & WithClock & WithRandom = {}): Extension {
  const given = readOptions<RetryOptions & WithClock & WithRandom>(
    options,
    ['retries', 'firstDelayMs', 'clock', 'random'],
    'retry()',
  );
  requirePolicy({ retries: given.retries }, 'retry()');
  requireNumber(given.firstDelayMs, 0, 'retry(): firstDelayMs');
  return bindable(({ clock }) => retryExtension({ clock, ...given }));
}

/** Ends a call when its time is up. */
export function timeout(options: TimeoutOptions & WithClock = {}): Extension {
  const given = readOptions<TimeoutOptions & WithClock>(options, ['timeoutMs', 'clock'], 'timeout()');
  requirePolicy({ timeoutMs: given.timeoutMs }, 'timeout()');
  return bindable(({ clock }) => timeoutExtension({ clock, ...given }));
}

/** The options of a built-in are held to the same rules as the policies it keeps. */
function requirePolicy(policy: Readonly<Record<string, unknown>>, owner: string): void {
  readPolicy(policy, owner);
}

/** The extensions every crib has unless others of the same name take their place. */
export function builtInExtensions(): readonly Extension[] {
  return [
    usualAudit(),
    ...recordExtensions(),
    rateLimit(),
    access(),
    bindable(validate),
    bindable(rules),
    approval(),
    idempotency(),
    auditIntent(),
    bindable(resultSize),
    bindable(({ clock }) => cache({ clock, definitionHash })),
    breaker(),
    concurrency(),
    bindable(({ clock, store }) => budget({ clock, store: store?.budgets })),
    timeout(),
    retry(),
    bindable(validateOutput),
  ];
}
