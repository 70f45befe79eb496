import type { Extension } from '../../core/extension.ts';
import { NO_CONTEXT } from '../../core/ports/crib-context.ts';
import { LOG_LEVELS, type LogLevel } from '../../core/ports/log-line.ts';
import type { Clock } from '../../core/ports/ports.ts';
import { describe, readNameList, readOptions } from '../../core/read-options.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { type LoggingOptions, logging as loggingExtension } from '../../extensions/logging.ts';
import { metrics as metricsExtension } from '../../extensions/metrics.ts';
import { redactErrors } from '../../extensions/redact-errors.ts';
import { trace as traceExtension } from '../../extensions/trace.ts';
import { logToStderr } from '../../system/log-to-stderr.ts';
import { createRedactValue } from '../../system/secrets/redact-value.ts';
import { createTelemetry, type TelemetryMode } from '../../system/telemetry.ts';
import { bindable } from './extension-ports.ts';

/** Tells of every call in structured lines; without it nothing is written. */
export function logging(options: LoggingOptions & { readonly clock?: Clock } = {}): Extension {
  const given = readOptions<LoggingOptions & { readonly clock?: Clock }>(
    options,
    ['level', 'redact', 'sink', 'clock'],
    'logging()',
  );
  const level = readLevel(given.level);
  const keys = readNameList(given.redact ?? [], 'logging(): redact');
  const { sink = logToStderr } = given;
  if (typeof sink !== 'function') throw invalid(`logging(): sink takes a function, got ${describe(sink)}.`);
  return bindable(({ clock, redact, warn }) =>
    loggingExtension({ level }, { clock: given.clock ?? clock, sink, warn, show: createRedactValue({ redact, keys }) }),
  );
}

/** What `metrics()` takes. */
export interface MetricsOptions {
  /** Whether calls are counted; true if absent. */
  readonly prometheus?: boolean;
}

/** Counts calls for `crib.metrics()`; every crib does unless told otherwise. */
export function metrics(options: MetricsOptions & { readonly clock?: Clock } = {}): Extension {
  const given = readOptions<MetricsOptions & { readonly clock?: Clock }>(options, ['prometheus', 'clock'], 'metrics()');
  const { prometheus = true } = given;
  if (typeof prometheus !== 'boolean') {
    throw invalid(`metrics(): prometheus is true or false, got ${describe(prometheus)}.`);
  }
  if (!prometheus) return bindable(() => ({ name: 'metrics', priority: 1000 })); // in the place of the one that counts
  return bindable(({ clock }) => metricsExtension({ clock, ...given }));
}

/** What `trace()` takes. */
export interface TraceOptions {
  /** `auto`, if absent: where a provider is registered before the first call, or `OTEL_*` is set. */
  readonly otel?: TelemetryMode;
}

/** Makes an OpenTelemetry span of every call; every crib does where somebody collects them. */
export function trace(options: TraceOptions = {}): Extension {
  const { otel = 'auto' } = readOptions<TraceOptions>(options, ['otel'], 'trace()');
  if (otel !== 'auto' && typeof otel !== 'boolean') {
    throw invalid(`trace(): otel is true, false or "auto", got ${describe(otel)}.`);
  }
  return bindable(({ redact }) => traceExtension({ telemetry: createTelemetry(otel), redact }));
}

/** The entry `metrics` of a configuration speaks of both; what it does not mention stays as it is. */
export function configuredMetrics({ prometheus, otel }: MetricsOptions & TraceOptions): readonly Extension[] {
  return [
    ...(prometheus === undefined ? [] : [metrics({ prometheus })]),
    ...(otel === undefined ? [] : [trace({ otel })]),
  ];
}

/** What every crib records with: a log that is silent until somebody asks for it, counts, spans, and errors without secrets. */
export function recordExtensions(): readonly Extension[] {
  const hides = (redact: (text: string) => string) => redact !== NO_CONTEXT.redact;
  return [
    trace(),
    logging({ level: 'silent' }),
    metrics(),
    bindable(({ redact }) => redactErrors({ redact: hides(redact) ? redact : undefined })),
  ];
}

function readLevel(level: unknown = 'info'): LogLevel {
  const known = LOG_LEVELS.find((one) => one === level);
  if (known !== undefined) return known;
  const guess = typeof level === 'string' ? didYouMean(level, LOG_LEVELS) : '';
  throw invalid(`logging(): level is one of ${LOG_LEVELS.join(', ')}, got ${describe(level)}.${guess}`);
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
