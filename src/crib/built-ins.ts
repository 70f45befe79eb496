import { orderRows } from '../call/extension-order.ts';
import { PRECHECK } from '../call/precheck.ts';
import type { ExtensionRecord } from '../config/records.ts';
import type { AuditConfig } from '../config/types/guards.ts';
import type { Extension } from '../core/extension.ts';
import { canonicalJson } from '../core/json.ts';
import type { Backlog } from '../core/ports/audit-trail.ts';
import {
  COUNTED,
  type CountingExtension,
  type MetricDefinition,
  type MetricFamily,
} from '../core/ports/observability.ts';
import { readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ExtensionInput } from '../define/define-extension.ts';
import { access as accessRecord } from '../extensions/access.ts';
import { approval as approvalRecord } from '../extensions/approval.ts';
import { AUDIT_KEYS, type AuditKeyOptions, audit as auditRecord } from '../extensions/audit.ts';
import { auditIntent as auditIntentRecord } from '../extensions/audit-intent.ts';
import { breaker as breakerRecord } from '../extensions/breaker.ts';
import { concurrency as concurrencyRecord } from '../extensions/concurrency.ts';
import { idempotency as idempotencyRecord } from '../extensions/idempotency.ts';
import { EXTENSIONS } from '../extensions/index.ts';
import { logging as loggingRecord } from '../extensions/logging.ts';
import { measure as measureRecord } from '../extensions/measure.ts';
import { metrics as metricsRecord } from '../extensions/metrics.ts';
import { rateLimit as rateLimitRecord } from '../extensions/rate-limit.ts';
import { retry as retryRecord } from '../extensions/retry.ts';
import { timeout as timeoutRecord } from '../extensions/timeout.ts';
import { trace as traceRecord } from '../extensions/trace.ts';
import { HAND_OVER } from './background/hand-over.ts';
import { WAITING_SCRIPTS } from './background/waiting-scripts.ts';
import { bindable } from './bind-extensions.ts';
import { SETUP } from './catalog/setups.ts';

/** The order of the built-in extensions, outermost first, with the reason for each priority. */
export const EXTENSION_ORDER = orderRows([...EXTENSIONS, PRECHECK, SETUP, HAND_OVER, WAITING_SCRIPTS]);

/** The extensions of every crib. An extension of the same name replaces one. */
export function builtInExtensions(): readonly Extension[] {
  const everywhere = EXTENSIONS.filter(({ isOptional }) => isOptional !== true);
  return everywhere.map((record) => bindable(record, record.usual ?? {}));
}

/** Creates a built-in extension with options from code or configuration. */
export function makeExtension<Options extends object>(record: ExtensionRecord<Options>, options: unknown): Extension {
  const known = [...Object.keys(record.options?.properties ?? {}), ...(record.codeOptions ?? [])];
  return bindable(record, readOptions<Options>(options, known as (keyof Options & string)[], `${record.name}()`)); // keys of its own schema
}

function factoryOf<Options extends object>(record: ExtensionRecord<Options>): (options?: Options) => Extension {
  return (options = {} as Options) => makeExtension(record, options); // no option is required
}

/** Enforces the hours of access clauses. */
export const access = factoryOf(accessRecord);
/** Requires approval before a tool runs. */
export const approval = factoryOf(approvalRecord);
/** Writes every call to the audit log. On by default in a crib with a store; an error in a crib without one. */
export const audit = factoryOf<Omit<AuditConfig, 'requireFor'>>(auditRecord);
/** Runs tools only after the intent is written to the audit log. Without a store they do not run. */
export const auditIntent = factoryOf(auditIntentRecord);
/** Circuit breaker: pauses calls to a source that keeps failing. */
export const breaker = factoryOf(breakerRecord);
/** Limits concurrent calls. */
export const concurrency = factoryOf(concurrencyRecord);
/** Deduplicates calls with the same idempotency key. */
export const idempotency = factoryOf(idempotencyRecord);
/** Logs every call as a structured line. Off by default. */
export const logging = factoryOf(loggingRecord);
/** Measures calls with the OpenTelemetry API. On by default if a metrics SDK is set up. */
export const measure = factoryOf(measureRecord);
/** Counts calls for `crib.metrics()`. On by default. */
export const metrics = factoryOf(metricsRecord);
/** Limits the rate of calls. */
export const rateLimit = factoryOf(rateLimitRecord);
/** Retries calls that failed for a temporary reason. */
export const retry = factoryOf(retryRecord);
/** Aborts a call after its timeout. */
export const timeout = factoryOf(timeoutRecord);
/** Creates an OpenTelemetry span for every call. On by default if a tracing SDK is set up. */
export const trace = factoryOf(traceRecord);

/** The content type of the text from `crib.metrics()`. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The counters of the extensions and the backlog of the audit log, as Prometheus text. The formatter is loaded lazily. */
export async function metricsText(
  extensions: readonly (Extension & Partial<CountingExtension>)[],
  backlog: Backlog | undefined,
): Promise<string> {
  const counting = extensions.flatMap((extension) => extension[COUNTED] ?? []);
  if (counting.length === 0) {
    throw new ToolcribError(
      'not_counted',
      'Calls are not counted, because the extension "metrics" is off; remove "metrics: false" from the configuration, or pass metrics() to createCrib.',
    );
  }
  const { toPrometheusText } = await import('../system/prometheus.ts');
  return toPrometheusText([
    ...counting.flatMap((count) => count()),
    ...(backlog === undefined ? [] : familiesOf(backlog)),
  ]);
}

const gauge = (name: string, help: string): MetricDefinition => ({ name, help, type: 'gauge', labels: [] });

/** Metrics of the audit log, which follow those of calls. */
export const AUDIT_METRICS: readonly (MetricDefinition & { readonly read: (backlog: Backlog) => number })[] = [
  { ...gauge('toolcrib_audit_waiting_rows', 'Audit rows that are not written yet.'), read: ({ rows }) => rows },
  {
    ...gauge('toolcrib_audit_waiting_seconds', 'Age of the oldest audit row that is not written yet.'),
    read: ({ oldestMs }) => oldestMs / 1000,
  },
  {
    ...gauge('toolcrib_audit_lost_rows', 'Audit rows that were dropped and are not yet recorded as lost.'),
    read: ({ lost }) => lost,
  },
];

function familiesOf(backlog: Backlog): readonly MetricFamily[] {
  return AUDIT_METRICS.map(({ read, ...metric }) => ({ ...metric, samples: [{ labels: {}, value: read(backlog) }] }));
}

/** The audit key options of the current extensions. */
export function auditKeysOf(
  extensions: readonly (ExtensionInput & { readonly [AUDIT_KEYS]?: AuditKeyOptions })[],
): AuditKeyOptions {
  return extensions.find((extension) => extension[AUDIT_KEYS] !== undefined)?.[AUDIT_KEYS] ?? {};
}

/** The audit key settings of a running crib. One key signs the whole chain, so a changed key takes effect at the next start. */
export function createKeySettings(list: () => readonly Extension[]): {
  now(): AuditKeyOptions;
  problems(): readonly string[];
} {
  const { key } = auditKeysOf(list());
  return {
    now: () => ({ trustedKeys: auditKeysOf(list()).trustedKeys ?? [], ...(key !== undefined && { key }) }),
    problems: () =>
      canonicalJson(auditKeysOf(list()).key ?? null) === canonicalJson(key ?? null)
        ? []
        : ['extensions.audit.key was changed; restart the crib to apply it.'],
  };
}
