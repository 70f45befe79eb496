import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, trace as otel, ROOT_CONTEXT } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type Chest, type CribOptions, createCrib, type ToolCall, type ToolInput } from '../../src/index.ts';

let exporter: InMemorySpanExporter;

/** Keeps contexts as those who collect spans in Node do. */
export function keepContexts(): void {
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...values) => storage.run(active, () => work.apply(self, values)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
}

/** From now on spans are collected in memory. */
export function collect(): void {
  exporter = new InMemorySpanExporter();
  otel.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
}

/** Ends the collection. */
export function stopCollecting(): void {
  otel.disable();
  context.disable();
}

/** A tool that answers, one that tells its trace context, one that fails, and one that makes spans and calls inside. */
export const tools: readonly ToolInput[] = [
  { name: 'fine', description: '', run: () => 'done' },
  { name: 'tell', description: '', run: (_: unknown, call: ToolCall) => call.traceparent ?? 'none' },
  {
    name: 'outer',
    description: '',
    run: async (_: unknown, call: ToolCall) => {
      await new Promise((resolve) => setImmediate(resolve));
      await otel.getTracer('theirs').startActiveSpan('work', async (span) => {
        await Promise.resolve();
        span.end();
      });
      return [await call.tools.call('fine', {}), await call.tools.call('broken', {})].map(({ ok }) => ok);
    },
  },
  {
    name: 'broken',
    description: '',
    run: () => {
      throw new Error('it broke');
    },
  },
];

export async function open(options: CribOptions = {}): Promise<Chest> {
  return (await createCrib({ tools, ...options })).open(undefined, { id: 'ann' });
}

/** The spans that have ended. */
export function spans(): readonly ReadableSpan[] {
  return exporter.getFinishedSpans();
}

export function spanOf(name: string): ReadableSpan {
  const found = spans().find((span) => span.name === name);
  if (found === undefined) throw new Error(`no span ${name} among ${spans().map((span) => span.name)}`);
  return found;
}

export function idOf(span: ReadableSpan): string {
  return span.spanContext().spanId;
}

/** A trace context as an outside system sends it. */
export const INCOMING = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
