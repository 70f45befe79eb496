import type { Extension } from '../core/extension.ts';
import type { Clock, Schemas } from '../core/ports.ts';
import { access as accessExtension } from '../extensions/access.ts';
import { type ApprovalOptions, approval as approvalExtension } from '../extensions/approval.ts';
import { concurrency } from '../extensions/concurrency.ts';
import { type RateLimitOptions, rateLimit as rateLimitExtension } from '../extensions/rate-limit.ts';
import { resultSize } from '../extensions/result-size.ts';
import { type RetryOptions, retry as retryExtension } from '../extensions/retry.ts';
import { type TimeoutOptions, timeout as timeoutExtension } from '../extensions/timeout.ts';
import { validate } from '../extensions/validate.ts';
import { validateOutput } from '../extensions/validate-output.ts';
import { systemClock } from '../runtime/clock.ts';

/** Tests hand in their own time. */
interface WithClock {
  readonly clock?: Clock;
}

/** Judges the hours of access clauses. */
export function access(options: WithClock = {}): Extension {
  return accessExtension({ clock: systemClock, ...options });
}

/** Asks a person before a tool runs. */
export function approval(options: ApprovalOptions & WithClock = {}): Extension {
  return approvalExtension({ clock: systemClock, ...options });
}

/** Bounds how often calls are made. */
export function rateLimit(options: RateLimitOptions & WithClock = {}): Extension {
  return rateLimitExtension({ clock: systemClock, ...options });
}

/** Tries again what failed for a passing reason. */
export function retry(options: RetryOptions & WithClock & { readonly random?: () => number } = {}): Extension {
  return retryExtension({ clock: systemClock, ...options });
}

/** Ends a call when its time is up. */
export function timeout(options: TimeoutOptions & WithClock = {}): Extension {
  return timeoutExtension({ clock: systemClock, ...options });
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
