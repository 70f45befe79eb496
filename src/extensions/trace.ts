import { type ExtensionRecord, otelNode, readOtel } from '../config/records.ts';
import { object } from '../config/schema-node.ts';
import type { MetricsConfig } from '../config/types/guards.ts';
import { replayOf } from '../core/begun-runs.ts';
import type { KindTraits } from '../core/ports/extension-ports.ts';
import { readTraceparent, type Span, toolTypeOf } from '../core/ports/observability.ts';
import { type CallFacts, FACTS, type ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { RUN } from '../core/tool-spec.ts';
import { createTelemetry } from '../system/telemetry.ts';

/** Options of `trace()`. */
export type TraceOptions = Pick<MetricsConfig, 'otel'>;

/** One span per call. Its parent is the span of the enclosing call, else the incoming trace context, else the active span. */
export const trace: ExtensionRecord<TraceOptions> = {
  name: 'trace',
  priority: 1010,
  reason: 'outermost: its span covers the whole call and gets redacted errors',
  entry: 'metrics',
  options: object('Traces calls.', {
    otel: otelNode,
  }),
  make(options, { redact, traitsOf }) {
    const telemetry = createTelemetry(readOtel('trace', options));
    const spans = new WeakMap<CallFacts, Span>();
    const parentOf = (call: ToolCall) => {
      const around = call.parent === undefined ? undefined : spans.get(call.parent[FACTS]);
      return around ?? readTraceparent(call.traceparent);
    };
    return {
      applies: () => telemetry.isOn(),
      // The span starts and ends as an observer, which sees every end, and is active as a gate.
      onStart(call) {
        const span = telemetry.startSpan({
          name: spanNameOf(call),
          attributes: attributesOf(call, traitsOf(call.spec[RUN].kind), redact),
          parent: parentOf(call),
        });
        const facts = call[FACTS];
        spans.set(facts, span);
        if (span.traceparent !== undefined) facts.traceparent = span.traceparent;
      },
      wrap(call, next) {
        const span = spans.get(call[FACTS]);
        return span === undefined ? next(call) : span.run(() => next(call));
      },
      onEnd(call, result) {
        const failure = result.status === 'failed' ? redact(result.error.message) : undefined;
        const replay = replayOf(call) === undefined ? {} : { 'toolcrib.replayed': 'true' };
        spans.get(call[FACTS])?.end({ ...outcomeAttributes(result), ...replay }, failure);
      },
    };
  },
};

const MAX_TEXT = 200;

// Spans are grouped by name, so names chosen by callers stay out of it.
function spanNameOf({ spec }: ToolCall): string {
  return spec.source === '' ? 'execute_tool' : `execute_tool ${spec.name}`;
}

function attributesOf(
  call: ToolCall,
  { runsOwnCode, spanAttributes }: KindTraits,
  redact: (text: string) => string,
): Readonly<Record<string, string>> {
  const { spec, conversation } = call;
  const toText = (value: unknown) => redact(String(value)).slice(0, MAX_TEXT); // callers choose ids
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toText(spec.name),
    'gen_ai.tool.call.id': toText(call.id),
    'gen_ai.tool.type': toolTypeOf(spec.source, runsOwnCode),
    ...spanAttributes,
    ...(conversation !== undefined && { 'gen_ai.conversation.id': toText(conversation) }),
    'toolcrib.profile': call.profile,
    'toolcrib.source': spec.source,
    'toolcrib.door': toText(call.door),
  };
}

function outcomeAttributes(result: ToolResult): Readonly<Record<string, string>> {
  const outcome = { 'toolcrib.outcome': result.status };
  return result.status === 'failed' ? { ...outcome, 'error.type': result.error.code } : outcome;
}
