import { context, trace as otel, ROOT_CONTEXT } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CribOptions, createCrib, type ToolCall, trace } from '../../src/index.ts';
import { collect, INCOMING, keepContexts, open, spanOf, spans, stopCollecting, tools } from './collected-spans.ts';

beforeEach(() => {
  keepContexts();
  collect();
});
afterEach(() => {
  stopCollecting();
  vi.unstubAllEnvs();
});

describe('the trace context of outgoing requests', () => {
  it('is that of its own span', async () => {
    const told = await (await open()).call('tell', {}, { traceparent: INCOMING });
    const { traceId, spanId } = spanOf('execute_tool tell').spanContext();
    expect(told).toMatchObject({ content: [{ text: `00-${traceId}-${spanId}-01` }] });
    expect(traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  });

  it('is the incoming one without a collector, also in nested calls', async () => {
    otel.disable();
    const nested = {
      name: 'nested',
      description: '',
      run: (_: unknown, call: ToolCall) => call.tools.call('tell', {}),
    };
    const chest = await open({ tools: [...tools, nested] });
    for (const name of ['tell', 'nested']) {
      expect(await chest.call(name, {}, { traceparent: INCOMING })).toMatchObject({ content: [{ text: INCOMING }] });
    }
  });

  it.each([
    ['no trace context', 'garbage'],
    ['more than one line', `${INCOMING}\r\nX-Evil: 1`],
    ['an unknown trace', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['an unknown span', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['capital letters', INCOMING.toUpperCase()],
    ['a version that is none', INCOMING.replace(/^00/, 'ff')],
    ['more than this version has', `${INCOMING}-more`],
    ['something very long', `01${INCOMING.slice(2)}-${'x'.repeat(100_000)}`],
  ])('ignores %s', async (_, traceparent) => {
    await (await open()).call('tell', {}, { traceparent });
    expect(spanOf('execute_tool tell').parentSpanContext).toBeUndefined();
    otel.disable();
    expect(await (await open()).call('tell', {}, { traceparent })).toMatchObject({ content: [{ text: 'none' }] });
  });

  it('of a later version is read as far as it is known', async () => {
    await (await open()).call('fine', {}, { traceparent: `cc${INCOMING.slice(2)}-what-comes-later` });
    expect(spans()[0]?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  });
});

describe('without a collector', () => {
  const takesPart = async (options: CribOptions = {}) => {
    const crib = await createCrib({ tools, ...options });
    return crib.extensions
      .list()
      .find(({ name }) => name === 'trace')
      ?.applies?.(crib.get('fine') as never);
  };

  it('tracing is skipped', async () => {
    otel.disable();
    expect(await takesPart()).toBe(false);
    collect();
    expect(await takesPart()).toBe(true);
  });

  it('OTEL_* announces a collector, unless it turns tracing off', async () => {
    otel.disable();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318');
    expect(await takesPart()).toBe(true);
    const chest = await open();
    expect((await chest.call('fine')).ok).toBe(true);
    collect();
    await chest.call('fine');
    expect(spans()).toHaveLength(1);
    vi.stubEnv('OTEL_SDK_DISABLED', 'true');
    otel.disable();
    expect(await takesPart()).toBe(false);
  });

  it('otel: true or false takes precedence', async () => {
    expect(await takesPart({ extensions: [trace({ otel: false })] })).toBe(false);
    otel.disable();
    expect(await takesPart({ extensions: [trace({ otel: true })] })).toBe(true);
  });
});

describe('a failing collector fails no call', () => {
  it('a provider that throws', async () => {
    otel.disable();
    otel.setGlobalTracerProvider({
      getTracer() {
        throw new Error('no tracer');
      },
    });
    const crib = await createCrib({ tools });
    expect((await (await crib.open()).call('fine')).ok).toBe(true);
    expect(crib.warnings().join()).toContain('no tracer');
  });

  it('a context manager that throws, before or after the work', async () => {
    for (const when of ['before', 'after'] as const) {
      let runs = 0;
      context.disable();
      context.setGlobalContextManager({
        active: () => ROOT_CONTEXT,
        with: (_, work, self, ...values) => {
          if (when === 'after') work.apply(self, values);
          throw new Error('lost');
        },
        bind: (_, target) => target,
        enable() {
          return this;
        },
        disable() {
          return this;
        },
      });
      const count = { name: 'count', description: '', run: () => ++runs };
      const result = await (await open({ tools: [count] })).call('count');
      expect(runs).toBe(1);
      expect(result.ok).toBe(when === 'before');
    }
  });
});
