import { orderRows } from '../call/extension-order.ts';
import { PRECHECK } from '../call/precheck.ts';
import type { ExtensionRecord } from '../config/records.ts';
import type { AuditConfig } from '../config/types/guards.ts';
import type { Extension } from '../core/extension.ts';
import { canonicalJson } from '../core/json.ts';
import { COUNTED, type CountingExtension, type MetricFamily } from '../core/ports/observability.ts';
import type { Backlog } from '../core/ports/stored-audit.ts';
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
import { bindable } from './bind-extensions.ts';
import { SETUP } from './catalog/setups.ts';

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
/** Measures calls by the OpenTelemetry API; every crib does where metrics are collected. */
export const measure = factoryOf(measureRecord);
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

/** The content type of what `crib.metrics()` resolves to. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What the extensions have counted and what the audit has still to write, as text for Prometheus. Its package is loaded by the first who asks. */
export async function metricsText(
  extensions: readonly (Extension & Partial<CountingExtension>)[],
  backlog: Backlog | undefined,
): Promise<string> {
  const counting = extensions.flatMap((extension) => extension[COUNTED] ?? []);
  if (counting.length === 0) {
    throw new ToolcribError(
      'not_counted',
      'Calls are not counted here: the extension "metrics" is off; take "metrics: false" out of the configuration, or give createCrib metrics().',
    );
  }
  const { toPrometheusText } = await import('../system/prometheus.ts');
  return toPrometheusText([
    ...counting.flatMap((count) => count()),
    ...(backlog === undefined ? [] : familiesOf(backlog)),
  ]);
}

function familiesOf({ rows, oldestMs, lost }: Backlog): readonly MetricFamily[] {
  const gauge = (name: string, help: string, value: number): MetricFamily => ({
    name: `toolcrib_audit_${name}`,
    help,
    type: 'gauge',
    samples: [{ labels: {}, value }],
  });
  return [
    gauge('waiting_rows', 'Rows of the audit that are not written yet.', rows),
    gauge('waiting_seconds', 'How long the oldest of them has been waiting.', oldestMs / 1000),
    gauge('lost_rows', 'Rows that could not be kept and are not on record yet as lost.', lost),
  ];
}

/** What the extensions of this moment say about the keys of the audit. */
export function auditKeysOf(
  extensions: readonly (ExtensionInput & { readonly [AUDIT_KEYS]?: AuditKeyOptions })[],
): AuditKeyOptions {
  return extensions.find((extension) => extension[AUDIT_KEYS] !== undefined)?.[AUDIT_KEYS] ?? {};
}

/** The settings of a running crib. Its chain is signed by one key, so another one that is named later waits for the next start. */
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
        : ['extensions.audit.key was changed; that takes effect when the crib is started again.'],
  };
}
