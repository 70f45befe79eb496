import { orderRows } from '../../call/extension-order.ts';
import { PRECHECK } from '../../call/precheck.ts';
import type { ExtensionRecord } from '../../config/extension-record.ts';
import type { AuditConfig } from '../../config/types/guards.ts';
import type { Extension } from '../../core/extension.ts';
import { readOptions } from '../../core/read-options.ts';
import { access as accessRecord } from '../../extensions/access.ts';
import { approval as approvalRecord } from '../../extensions/approval.ts';
import { audit as auditRecord } from '../../extensions/audit.ts';
import { auditIntent as auditIntentRecord } from '../../extensions/audit-intent.ts';
import { breaker as breakerRecord } from '../../extensions/breaker.ts';
import { concurrency as concurrencyRecord } from '../../extensions/concurrency.ts';
import { idempotency as idempotencyRecord } from '../../extensions/idempotency.ts';
import { EXTENSIONS } from '../../extensions/index.ts';
import { logging as loggingRecord } from '../../extensions/logging.ts';
import { metrics as metricsRecord } from '../../extensions/metrics.ts';
import { rateLimit as rateLimitRecord } from '../../extensions/rate-limit.ts';
import { retry as retryRecord } from '../../extensions/retry.ts';
import { timeout as timeoutRecord } from '../../extensions/timeout.ts';
import { trace as traceRecord } from '../../extensions/trace.ts';
import { SETUP } from '../catalog/setups.ts';
import { bindable } from './extension-ports.ts';

/** The order of the built-in extensions, outermost first, and why each stands where it does. */
export const EXTENSION_ORDER = orderRows([...EXTENSIONS, PRECHECK, SETUP]);

/** The extensions every crib has unless others of the same name take their place. */
export function builtInExtensions(): readonly Extension[] {
  const everywhere = EXTENSIONS.filter(({ isOptional }) => isOptional !== true);
  return everywhere.map((record) => bindable(record, record.usual ?? {}));
}

/** Makes a built-in of options, which code or a configuration gives. */
export function makeExtension<Options extends object>(record: ExtensionRecord<Options>, options: unknown): Extension {
  const known = [...Object.keys(record.options?.properties ?? {}), ...(record.codeOptions ?? [])];
  return bindable(record, readOptions<Options>(options, known as (keyof Options & string)[], `${record.name}()`)); // the keys of its options
}

function factoryOf<Options extends object>(record: ExtensionRecord<Options>): (options?: Options) => Extension {
  return (options = {} as Options) => makeExtension(record, options); // no option is required
}

/** Judges the hours of access clauses. */
export const access = factoryOf(accessRecord);
/** Asks a person before a tool runs. */
export const approval = factoryOf(approvalRecord);
/** Puts every call on record; every crib with a store does unless told otherwise. A crib without a store refuses it. */
export const audit = factoryOf<Omit<AuditConfig, 'requireFor'>>(auditRecord);
/** Lets tools run only once that is on record. Without a store they do not run. */
export const auditIntent = factoryOf(auditIntentRecord);
/** Leaves a source alone for a while that keeps failing. */
export const breaker = factoryOf(breakerRecord);
/** Bounds how many calls run at once. */
export const concurrency = factoryOf(concurrencyRecord);
/** Makes two calls with one idempotency key one call. */
export const idempotency = factoryOf(idempotencyRecord);
/** Tells of every call in structured lines; without it nothing is written. */
export const logging = factoryOf(loggingRecord);
/** Counts calls for `crib.metrics()`; every crib does unless told otherwise. */
export const metrics = factoryOf(metricsRecord);
/** Bounds how often calls are made. */
export const rateLimit = factoryOf(rateLimitRecord);
/** Tries again what failed for a passing reason. */
export const retry = factoryOf(retryRecord);
/** Ends a call when its time is up. */
export const timeout = factoryOf(timeoutRecord);
/** Makes an OpenTelemetry span of every call; every crib does where somebody collects them. */
export const trace = factoryOf(traceRecord);
