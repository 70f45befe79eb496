import { context, trace as otel, SpanStatusCode } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Executor } from '../../src/index.ts';
import { collect, INCOMING, idOf, keepContexts, open, spanOf, spans, stopCollecting } from './collected-spans.ts';

beforeEach(() => {
  keepContexts();
  collect();
});
afterEach(() => {
  stopCollecting();
  vi.unstubAllEnvs();
});

describe('one span per call', () => {
  it('with the names of the GenAI conventions', async () => {
    await (await open()).call('fine', {}, { id: 'call-1', conversation: 'c-7', door: 'rest' });
    expect(spans().map(({ name, attributes }) => ({ name, attributes }))).toEqual([
      {
        name: 'execute_tool fine',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'fine',
          'gen_ai.tool.call.id': 'call-1',
          'gen_ai.tool.type': 'function',
          'gen_ai.conversation.id': 'c-7',
          'toolcrib.profile': 'all',
          'toolcrib.source': 'code',
          'toolcrib.door': 'rest',
          'toolcrib.outcome': 'done',
        },
      },
    ]);
    expect(spans()[0]?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('and of MCP, for a tool of an MCP server', async () => {
    const mcp: Executor = { kind: 'mcp', runSchema: {}, execute: () => ({ ok: true, status: 'done', content: [] }) };
    const chest = await open({ executors: [mcp], tools: [{ name: 'far', description: '', run: { kind: 'mcp' } }] });
    await chest.call('far');
    expect(spans()[0]?.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.type': 'extension' });
  });

  it('a failure is an error of its code', async () => {
    await (await open()).call('broken');
    expect(spans()[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'it broke' },
      attributes: { 'error.type': 'tool_error', 'toolcrib.outcome': 'failed' },
    });
  });

  it('an unknown name has a span without that name', async () => {
    await (await open()).call('nobody');
    expect(spans()).toMatchObject([{ name: 'execute_tool', attributes: { 'error.type': 'unknown_tool' } }]);
  });

  it('a cancelled call has an ended span', async () => {
    const controller = new AbortController();
    const hang = { name: 'hang', description: '', run: () => new Promise(() => {}) };
    const result = (await open({ tools: [hang] })).call('hang', {}, { signal: controller.signal });
    controller.abort();
    await result;
    expect(spans()).toMatchObject([{ attributes: { 'error.type': 'cancelled' } }]);
  });

  it('a span contains no secret', async () => {
    vi.stubEnv('TOOLCRIB_TEST_SECRET', 'hunter2-hunter2');
    const secrets = { s: { env: 'TOOLCRIB_TEST_SECRET' } };
    const say = (input: { text: string }) => {
      throw new Error(input.text);
    };
    const chest = await open({
      tools: [{ name: 'say', description: '', run: say as never }],
      secrets,
      store: { url: 'memory:' },
      watch: false,
    });
    const text = 'hunter2-hunter2';
    await chest.call('say', { text }, { id: text, conversation: text, door: text });
    await chest.call(text);
    expect(spans()).toHaveLength(2);
    expect(JSON.stringify(spans().map(({ name, attributes, status }) => [name, attributes, status]))).not.toContain(
      'hunter2',
    );
  });
});

describe('a trace', () => {
  it('of a nested call shows its spans under one parent', async () => {
    await (await open()).call('outer');
    const around = spanOf('execute_tool outer');
    expect(spans().map((span) => span.name)).toEqual([
      'work',
      'execute_tool fine',
      'execute_tool broken',
      'execute_tool outer',
    ]);
    for (const name of ['execute_tool fine', 'execute_tool broken', 'work']) {
      expect(spanOf(name).parentSpanContext?.spanId).toBe(idOf(around));
      expect(spanOf(name).spanContext().traceId).toBe(around.spanContext().traceId);
    }
    expect(around.parentSpanContext).toBeUndefined();
  });

  it('of a nested call does so even without a context manager', async () => {
    context.disable();
    await (await open()).call('outer');
    const around = idOf(spanOf('execute_tool outer'));
    for (const name of ['execute_tool fine', 'execute_tool broken']) {
      expect(spanOf(name).parentSpanContext?.spanId).toBe(around);
    }
  });

  it('of concurrent calls keeps them separate', async () => {
    const chest = await open();
    await Promise.all([chest.call('outer'), chest.call('outer')]);
    const around = spans().filter((span) => span.name === 'execute_tool outer');
    expect(new Set(around.map((span) => span.spanContext().traceId)).size).toBe(2);
    for (const parent of around) {
      expect(spans().filter((span) => span.parentSpanContext?.spanId === idOf(parent))).toHaveLength(3);
    }
  });

  it('continues the incoming trace context', async () => {
    const chest = await open();
    await otel.getTracer('theirs').startActiveSpan('request', async (span) => {
      await chest.call('fine', {}, { traceparent: INCOMING });
      span.end();
    });
    expect(spanOf('execute_tool fine').parentSpanContext).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      isRemote: true,
    });
  });

  it('else continues the active one', async () => {
    const chest = await open();
    await otel.getTracer('theirs').startActiveSpan('request', async (span) => {
      await chest.call('fine');
      span.end();
    });
    expect(spanOf('execute_tool fine').parentSpanContext?.spanId).toBe(idOf(spanOf('request')));
  });
});
