import type { ExtensionRecord } from '../config/records.ts';
import { access } from './access.ts';
import { approval } from './approval.ts';
import { audit } from './audit.ts';
import { auditIntent } from './audit-intent.ts';
import { breaker } from './breaker.ts';
import { budget } from './budget.ts';
import { cache } from './cache.ts';
import { concurrency } from './concurrency.ts';
import { idempotency } from './idempotency.ts';
import { logging } from './logging.ts';
import { measure } from './measure.ts';
import { metrics } from './metrics.ts';
import { offload } from './offload.ts';
import { rateLimit } from './rate-limit.ts';
import { redactErrors } from './redact-errors.ts';
import { resultSize } from './result-size.ts';
import { retry } from './retry.ts';
import { rules } from './rules.ts';
import { stops } from './stops.ts';
import { timeout } from './timeout.ts';
import { trace } from './trace.ts';
import { usage } from './usage.ts';
import { validate } from './validate.ts';
import { validateOutput } from './validate-output.ts';

/** All built-in extensions. They are ordered by priority; equal priorities keep this order. */
export const EXTENSIONS: readonly ExtensionRecord[] = [
  trace,
  audit,
  logging,
  metrics,
  usage,
  redactErrors,
  stops,
  rateLimit,
  access,
  validate,
  rules,
  idempotency,
  approval,
  auditIntent,
  offload,
  resultSize,
  cache,
  breaker,
  concurrency,
  budget,
  timeout,
  retry,
  validateOutput,
  measure,
];

/** The entries of `extensions:` in the configuration, with the extensions that each one configures; the extension of that name comes first. */
export const EXTENSION_ENTRIES: ReadonlyMap<string, readonly ExtensionRecord[]> = Map.groupBy(
  EXTENSIONS.filter(({ options, isOptional }) => options !== undefined && isOptional !== true).toSorted(
    (a, b) => Number(a.entry !== undefined) - Number(b.entry !== undefined),
  ),
  ({ entry, name }) => entry ?? name,
);
