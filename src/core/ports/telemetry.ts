import type { TraceContext } from './traceparent.ts';

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
