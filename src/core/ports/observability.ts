import type { JsonValue } from '../json.ts';

/** From the most to the least talkative. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What is told about the start or the end of one call. Nothing in it holds a known secret or is very long. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly event: 'call.start' | 'call.end';
  readonly callId: JsonValue;
  /** The call inside which this one was made. */
  readonly parentId?: JsonValue;
  readonly tool: JsonValue;
  /** Absent for a name that nobody has. */
  readonly source?: JsonValue;
  readonly profile: JsonValue;
  readonly caller?: JsonValue;
  readonly door: JsonValue;
  readonly conversation?: JsonValue;
  /** Only at `debug`. */
  readonly arguments?: JsonValue;
  readonly outcome?: 'done' | 'failed' | 'waiting';
  /** Why it failed. */
  readonly code?: string;
  readonly durationMs?: number;
  readonly message?: JsonValue;
  /** What was behind the failure, where the message does not tell. */
  readonly cause?: JsonValue;
}

/** Takes log lines. It is not waited for, and its failures fail no call. */
export type LogSink = (line: LogLine) => unknown;

/** The key under which an extension tells what it counted. */
export const COUNTED: unique symbol = Symbol('toolcrib.counted');

/** An extension that counts. */
export interface CountingExtension {
  readonly [COUNTED]: () => readonly MetricFamily[];
}

/** What was counted under one name, as Prometheus knows it. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
}

/** One number; those of a histogram have names of their own. */
export interface MetricSample {
  readonly name?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Makes spans, where somebody collects them. */
export interface Telemetry {
  /** False where nobody can be listening: then nothing need be made. */
  isOn(): boolean;
  startSpan(start: SpanStart): Span;
}

/** How a span begins. Without a parent it belongs under whatever is active. */
export interface SpanStart {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Span | TraceContext | undefined;
}

/** One piece of work in a trace. */
export interface Span {
  /** For what the work sends out; absent where nobody collects. */
  readonly traceparent: string | undefined;
  /** Does the work with the span active, so that spans made by it belong under this one. */
  run<T>(work: () => T): T;
  /** With what was found out, and with why it failed if it did. */
  end(attributes: Readonly<Record<string, string>>, failure?: string): void;
}

/** Where a call stands in a trace, as W3C writes it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LONGEST = 512;

/** Reads a `traceparent`; undefined for whatever is none. A later version may carry more than this one knows. */
export function readTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string' || text.length > LONGEST) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = FORMAT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Writes a `traceparent`. */
export function toTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

function isZero(hex: string): boolean {
  return /^0+$/.test(hex);
}
