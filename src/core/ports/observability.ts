import type { JsonValue } from '../json.ts';
import type { ToolCall } from '../tool-call.ts';
import { RUN } from '../tool-spec.ts';

/** Log levels, most verbose first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Log line for the start or end of a call. Known secrets are redacted and long values are cut. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly event: 'call.start' | 'call.end';
  readonly callId: JsonValue;
  /** The call that this call is nested in. */
  readonly parentId?: JsonValue;
  readonly tool: JsonValue;
  /** Absent for an unknown tool. */
  readonly source?: JsonValue;
  readonly profile: JsonValue;
  readonly caller?: JsonValue;
  readonly door: JsonValue;
  readonly conversation?: JsonValue;
  /** Only at `debug`. */
  readonly arguments?: JsonValue;
  readonly outcome?: 'done' | 'failed' | 'waiting';
  /** Answered without running the tool. */
  readonly isReplayed?: true;
  /** The error code. */
  readonly code?: string;
  readonly durationMs?: number;
  readonly message?: JsonValue;
  /** The cause of the failure, if the message does not contain it. */
  readonly cause?: JsonValue;
}

/** Receives log lines. The crib does not wait for it, and its errors do not affect calls. */
export type LogSink = (line: LogLine) => unknown;

/** The key under which an extension exposes its counters. */
export const COUNTED: unique symbol = Symbol('toolcrib.counted');

/** An extension that counts. */
export interface CountingExtension {
  readonly [COUNTED]: () => readonly MetricFamily[];
}

/** A metric in Prometheus terms. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

/** The samples of one metric. */
export interface MetricFamily extends MetricDefinition {
  readonly samples: readonly MetricSample[];
}

/** One sample; those of a histogram have their own names. */
export interface MetricSample {
  readonly name?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Number of tools with records of their own; later ones share one. */
const MANY_TOOLS = 1000;

/** One record per called tool, in bounded number. */
export interface ToolRecords<Kept> {
  of(call: ToolCall): Kept;
  all(): readonly Kept[];
}

/**
 * Keeps one record per called tool. Callers choose names, so all unknown names share a record, and so do tools after
 * the first thousand. Both have an empty source, which no real tool has.
 */
export function createToolRecords<Kept>(make: (tool: string, source: string, kind: string) => Kept): ToolRecords<Kept> {
  const bySource = new Map<string, Map<string, Kept>>();
  const unknown = make('unknown', '', '');
  const other = make('other', '', '');
  const known: Kept[] = [];
  return {
    of({ spec: { name, source, [RUN]: run } }) {
      if (source === '') return unknown;
      const found = bySource.get(source)?.get(name);
      if (found !== undefined) return found;
      if (known.length >= MANY_TOOLS) return other; // permanently: a call must end in the record it began in
      const made = make(name, source, run.kind);
      known.push(made);
      bySource.set(source, (bySource.get(source) ?? new Map<string, Kept>()).set(name, made));
      return made;
    },
    all: () => [...known, other, unknown],
  };
}

/** Records metrics if they are collected. Instruments are created at the first use. */
export interface Meters {
  /** False if metrics are not collected, so measuring can be skipped. */
  isOn(): boolean;
  /** Creates a counter, an up-down counter or a histogram. */
  instrument(definition: Instrument): (value: number, attributes: Attributes) => void;
  /** Registers gauges that are read at each collection. Returns a function that unregisters them; undefined if no provider is registered yet. */
  observe(gauges: () => readonly Gauge[]): (() => void) | undefined;
}

/** The name, unit and meaning of a metric. */
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

/** A metric that is recorded on events. */
export interface Instrument extends Metric {
  readonly type: 'counter' | 'upDownCounter' | 'histogram';
  /** Upper bounds of the buckets of a histogram. */
  readonly boundaries?: readonly number[];
}

/** A metric that is read at collection. */
export interface Gauge extends Metric {
  read(): number;
}

/** Labels of a measurement. */
export type Attributes = Readonly<Record<string, string | boolean>>;

/** Creates spans if they are collected. */
export interface Telemetry {
  /** False if spans are not collected, so creating them can be skipped. */
  isOn(): boolean;
  startSpan(start: SpanStart): Span;
}

/** Options for starting a span. Without a parent it belongs to the active span. */
export interface SpanStart {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Span | TraceContext | undefined;
}

/** One piece of work in a trace. */
export interface Span {
  /** For outgoing requests; absent if spans are not collected. */
  readonly traceparent: string | undefined;
  /** Runs the work with the span active, so that its spans become children. */
  run<T>(work: () => T): T;
  /** Ends the span with attributes, and with the failure if there was one. */
  end(attributes: Readonly<Record<string, string>>, failure?: string): void;
}

/** W3C trace context. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LONGEST = 512;

/** Parses a `traceparent`; undefined if it is invalid. A later version may have more fields. */
export function readTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string' || text.length > LONGEST) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = FORMAT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Formats a `traceparent`. */
export function toTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

function isZero(hex: string): boolean {
  return /^0+$/.test(hex);
}

/** The tool type by the OpenTelemetry conventions; an unknown tool counts as a function. */
export function toolTypeOf(source: string, runsOwnCode: boolean | undefined): 'extension' | 'function' {
  return source !== '' && runsOwnCode !== true ? 'extension' : 'function';
}

/** The door of calls that MCP clients make. */
export const MCP_DOOR = 'mcp';

/** The call's own span if it belongs to the trace of the parked call; otherwise the parked trace context. */
export function inTraceOf(parked: string | undefined, own: string | undefined): string | undefined {
  const traceId = readTraceparent(parked)?.traceId;
  return traceId !== undefined && readTraceparent(own)?.traceId === traceId ? own : parked;
}
