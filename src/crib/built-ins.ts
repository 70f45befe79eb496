import type { Extension } from '../core/extension.ts';
import { readOptions } from '../core/known-keys.ts';
import type { Clock, Schemas } from '../core/ports.ts';
import { access as accessExtension } from '../extensions/access.ts';
import { type ApprovalOptions, approval as approvalExtension } from '../extensions/approval.ts';
import { type ConcurrencyOptions, concurrency as concurrencyExtension } from '../extensions/concurrency.ts';
import { type RateLimitOptions, rateLimit as rateLimitExtension } from '../extensions/rate-limit.ts';
import { resultSize } from '../extensions/result-size.ts';
import { type RetryOptions, retry as retryExtension } from '../extensions/retry.ts';
import { type TimeoutOptions, timeout as timeoutExtension } from '../extensions/timeout.ts';
import { validate } from '../extensions/validate.ts';
import { validateOutput } from '../extensions/validate-output.ts';
import { systemClock } from '../runtime/clock.ts';
import { readPolicy, requireNumber } from '../runtime/read-policy.ts';

/** Tests hand in their own time. */
interface WithClock {
  readonly clock?: Clock;
}

/** Judges the hours of access clauses. */
export function access(options: WithClock = {}): Extension {
  return accessExtension({ clock: systemClock, ...readOptions<WithClock>(options, ['clock'], 'access()') });
}

/** Asks a person before a tool runs. */
export function approval(options: ApprovalOptions & WithClock = {}): Extension {
  const given = readOptions<ApprovalOptions & WithClock>(options, ['mode', 'timeoutMs', 'clock'], 'approval()');
  requirePolicy({ approval: given.mode, timeoutMs: given.timeoutMs }, 'approval()');
  return approvalExtension({ clock: systemClock, ...given });
}

/** Bounds how many calls run at once. */
export function concurrency(options: ConcurrencyOptions = {}): Extension {
  const given = readOptions<ConcurrencyOptions>(options, ['slots', 'maxWaiting'], 'concurrency()');
  requirePolicy({ concurrency: given.slots }, 'concurrency()');
  requireNumber(given.maxWaiting, 0, 'concurrency(): maxWaiting');
  return concurrencyExtension(given);
}

/** Bounds how often calls are made. */
export function rateLimit(options: RateLimitOptions & WithClock = {}): Extension {
  const given = readOptions<RateLimitOptions & WithClock>(options, ['rates', 'clock'], 'rateLimit()');
  requirePolicy({ rates: given.rates }, 'rateLimit()');
  return rateLimitExtension({ clock: systemClock, ...given });
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
  return retryExtension({ clock: systemClock, ...given });
}

/** Ends a call when its time is up. */
export function timeout(options: TimeoutOptions & WithClock = {}): Extension {
  const given = readOptions<TimeoutOptions & WithClock>(options, ['timeoutMs', 'clock'], 'timeout()');
  requirePolicy({ timeoutMs: given.timeoutMs }, 'timeout()');
  return timeoutExtension({ clock: systemClock, ...given });
}

/** The options of a built-in are held to the same rules as the policies it keeps. */
function requirePolicy(policy: Readonly<Record<string, unknown>>, owner: string): void {
  readPolicy(policy, owner);
}

/** The extensions every crib has unless others of the same name take their place. */
export function builtInExtensions(ports: { readonly schemas: Schemas }): readonly Extension[] {
  return [
    rateLimit(),
    access(),
    validate(ports),
    approval(),
    resultSize(),
    concurrency(),
    timeout(),
    retry(),
    validateOutput(ports),
  ];
}
