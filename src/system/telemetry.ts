import { createRequire } from 'node:module';
import type { Context, Meter, Span as OtelSpan, Tracer } from '@opentelemetry/api';
import {
  type Attributes,
  type Gauge,
  type Instrument,
  type LogLine,
  type Meters,
  type Span,
  type SpanStart,
  type Telemetry,
  toTraceparent,
} from '../core/ports/observability.ts';

type Api = typeof import('@opentelemetry/api');

/** The global registry shared by all copies of the API. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Always, never, or automatically: if a provider is registered, or `OTEL_*` variables announce one. */
export type TelemetryMode = boolean | 'auto';

type Environment = Readonly<Record<string, string | undefined>>;

/** Spans with the OpenTelemetry API, which is loaded with the first span; the application brings the SDK that collects them. */
export function createTelemetry(mode: TelemetryMode, env: Environment = process.env): Telemetry {
  const contexts = new WeakMap<Span, Context>();
  const { load: api, isOn, isRegistered } = createApi(mode, 'trace', env);
  let tracer: Tracer | undefined;
  const parentContext = (parent: SpanStart['parent']): Context => {
    const { trace, context } = api();
    if (parent === undefined) return context.active();
    if ('run' in parent) return contexts.get(parent) ?? context.active();
    const { traceId, spanId, flags } = parent;
    return trace.setSpanContext(context.active(), { traceId, spanId, traceFlags: flags, isRemote: true });
  };
  return {
    isOn,
    startSpan({ name, attributes, parent }) {
      const { trace } = api();
      const around = parentContext(parent);
      const current = tracer ?? trace.getTracer('toolcrib');
      if (isRegistered()) tracer = current; // a tracer made before the registration does nothing, also later
      const own = current.startSpan(name, { attributes }, around);
      const inside = trace.setSpan(around, own);
      const span = toSpan(own, inside, api());
      contexts.set(span, inside);
      return span;
    },
  };
}

function toSpan(own: OtelSpan, inside: Context, api: Api): Span {
  return {
    traceparent: traceparentOf(own, api),
    run: (work) => runInside(api.context, inside, work),
    end(found, failure) {
      own.setAttributes(found);
      if (failure !== undefined) own.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
      own.end();
    },
  };
}

/** The OpenTelemetry API, loaded lazily, and whether one signal can be collected. */
interface TelemetryApi {
  load(): Api;
  isOn(): boolean;
  isRegistered(): boolean;
}

/** Creates the API for one signal. */
function createApi(mode: TelemetryMode, signal: 'trace' | 'metrics', env: Environment = process.env): TelemetryApi {
  let loaded: Api | undefined;
  let isExpected: boolean | undefined;
  const isRegistered = () => {
    const registered: unknown = Reflect.get(globalThis, REGISTERED);
    return typeof registered === 'object' && registered !== null && signal in registered;
  };
  return {
    load() {
      loaded ??= createRequire(import.meta.url)('@opentelemetry/api') as Api; // the exports of this package
      return loaded;
    },
    isOn() {
      if (mode !== 'auto') return mode;
      isExpected ??= isConfigured(env);
      return isExpected || isRegistered();
    },
    isRegistered,
  };
}

function isConfigured(env: Environment): boolean {
  if (env.OTEL_SDK_DISABLED === 'true') return false;
  return Object.keys(env).some((name) => name.startsWith('OTEL_') && env[name] !== '');
}

function traceparentOf(span: OtelSpan, { isSpanContextValid }: Api): string | undefined {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return undefined;
  return toTraceparent({ ...spanContext, flags: spanContext.traceFlags });
}

/** Runs work inside a context. A failing context manager must not prevent the work. */
function runInside<T>(contexts: Api['context'], inside: Context, work: () => T): T {
  let hasBegun = false;
  const begin = (): T => {
    hasBegun = true;
    return work();
  };
  try {
    return contexts.with(inside, begin);
  } catch (cause) {
    if (hasBegun) throw cause; // an error of the work itself
    return work();
  }
}

type Measure = (value: number, attributes: Attributes) => void;

/** Metrics with the OpenTelemetry API, which is loaded with the first measurement; the application brings the SDK that collects them. */
export function createMeters(mode: TelemetryMode): Meters {
  const { load, isOn, isRegistered } = createApi(mode, 'metrics');
  let known: Meter | undefined;
  const meter = (): Meter => {
    const current = known ?? load().metrics.getMeter('toolcrib');
    if (isRegistered()) known = current; // a meter made before the registration does nothing, also later
    return current;
  };
  return {
    isOn,
    instrument(definition) {
      let made: Measure | undefined;
      return (value, attributes) => {
        const measure = made ?? makeInstrument(meter(), definition);
        if (isRegistered()) made = measure;
        measure(value, attributes);
      };
    },
    observe: (gauges) => (isRegistered() ? observe(meter(), gauges()) : undefined),
  };
}

function makeInstrument(meter: Meter, { type, name, unit, description, boundaries }: Instrument): Measure {
  if (type === 'histogram') {
    const advice = boundaries === undefined ? {} : { advice: { explicitBucketBoundaries: [...boundaries] } };
    const histogram = meter.createHistogram(name, { unit, description, ...advice });
    return (value, attributes) => histogram.record(value, attributes);
  }
  const counter =
    type === 'counter'
      ? meter.createCounter(name, { unit, description })
      : meter.createUpDownCounter(name, { unit, description });
  return (value, attributes) => counter.add(value, attributes);
}

function observe(meter: Meter, gauges: readonly Gauge[]): () => void {
  const stops = gauges.map(({ name, unit, description, read }) => {
    const gauge = meter.createObservableGauge(name, { unit, description });
    const callback: Parameters<typeof gauge.addCallback>[0] = (result) => result.observe(read());
    gauge.addCallback(callback);
    return () => gauge.removeCallback(callback);
  });
  return () => {
    for (const stop of stops) stop();
  };
}

/** If the reader of stderr is too slow, lines are dropped instead of blocking calls or filling the memory. */
const MAX_WAITING_BYTES = 1_048_576;

/** Writes one line of JSON to stderr. */
export function logToStderr(line: LogLine): void {
  if (process.stderr.writableLength > MAX_WAITING_BYTES) return;
  process.stderr.write(`${toLogText(line)}\n`);
}

// JSON escapes control characters below a space; these could still start a line, control a terminal or change the text direction.
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A log line as text: always a single line, without terminal control characters. */
export function toLogText(line: LogLine): string {
  return JSON.stringify(line).replace(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
