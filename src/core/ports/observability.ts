import type { JsonValue } from '../json.ts';
import type { ToolCall } from '../tool-call.ts';
import { RUN } from '../tool-spec.ts';

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
  /** Answered without running the tool. */
  readonly isReplayed?: true;
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

/** How many tools are told apart; those called later count together. */
const MANY_TOOLS = 1000;

/** One record for each tool that is called, in a bounded number. */
export interface ToolRecords<Kept> {
  of(call: ToolCall): Kept;
  all(): readonly Kept[];
}

/**
 * Keeps one record for each tool that is called. Names come from outside, hence all unknown ones share a record, and so
 * do tools beyond the first thousand. No tool is without a source, so these two are taken for no tool.
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
      if (known.length >= MANY_TOOLS) return other; // for ever: a call ends in the record it began in
      const made = make(name, source, run.kind);
      known.push(made);
      bySource.set(source, (bySource.get(source) ?? new Map<string, Kept>()).set(name, made));
      return made;
    },
    all: () => [...known, other, unknown],
  };
}

/** Measures, where metrics are collected. An instrument is made by its first use. */
export interface Meters {
  /** False where metrics cannot be collected: then nothing need be measured. */
  isOn(): boolean;
  /** Makes a counter, an up-down counter or a histogram. */
  instrument(definition: Instrument): (value: number, attributes: Attributes) => void;
  /** Has values read whenever metrics are collected. Returns how to stop; undefined where no provider is registered yet. */
  observe(gauges: () => readonly Gauge[]): (() => void) | undefined;
}

/** The name, unit and meaning of a metric. */
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

/** A metric that is measured as something happens. */
export interface Instrument extends Metric {
  readonly type: 'counter' | 'upDownCounter' | 'histogram';
  /** Upper bounds of the buckets of a histogram. */
  readonly boundaries?: readonly number[];
}

/** A metric whose value is read. */
export interface Gauge extends Metric {
  read(): number;
}

/** What a measurement is told apart by. */
export type Attributes = Readonly<Record<string, string | boolean>>;

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

/** The type of a tool by the conventions; a tool that is not known reaches nothing. */
export function toolTypeOf(source: string, runsOwnCode: boolean | undefined): 'extension' | 'function' {
  return source !== '' && runsOwnCode !== true ? 'extension' : 'function';
}

/** The door of calls that MCP clients make. */
export const MCP_DOOR = 'mcp';
