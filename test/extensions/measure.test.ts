import { metrics as otel } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CribOptions, createCrib, type Executor, measure, type ToolInput } from '../../src/index.ts';
import { systemClock } from '../../src/system/clock.ts';
import { cribOf, folderWith } from '../crib/workshop.ts';
import { collectMetrics, measured, pointsOf, stopMetrics } from './collected-metrics.ts';
import { open, tools } from './collected-spans.ts';

beforeEach(() => collectMetrics());
afterEach(async () => {
  await stopMetrics();
  vi.unstubAllEnvs();
});

/** An MCP server of which only the answers matter here. */
const mcp: Executor = {
  kind: 'mcp',
  runSchema: {},
  execute: async ({ spec }) => {
    if (spec.name === 'far_broken') throw new Error('it broke');
    return { ok: true, status: 'done', content: [] };
  },
};
const far = (name: string): ToolInput => ({ name, description: '', run: { kind: 'mcp' } });

describe('metrics of OpenTelemetry', () => {
  it('count every call once, by tool, source and outcome', async () => {
    const chest = await open();
    await chest.call('fine');
    await chest.call('fine');
    await chest.call('broken');
    const tool = (name: string) => ({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
      'toolcrib.source': 'code',
    });
    expect(await pointsOf('toolcrib.calls')).toEqual([
      { attributes: { ...tool('fine'), 'toolcrib.outcome': 'done' }, value: 2 },
      { attributes: { ...tool('broken'), 'toolcrib.outcome': 'failed', 'error.type': 'tool_error' }, value: 1 },
    ]);
  });

  it('have the units and the buckets of the conventions', async () => {
    const chest = await open({ executors: [mcp], tools: [far('far')] });
    await chest.call('far', {}, { door: 'mcp' });
    const units = Object.fromEntries((await measured()).map(({ name, unit }) => [name, unit]));
    expect(units).toEqual({
      'toolcrib.calls': '{call}',
      'toolcrib.calls.in_flight': '{call}',
      'gen_ai.execute_tool.duration': 's',
      'mcp.client.operation.duration': 's',
      'mcp.server.operation.duration': 's',
    });
    const boundaries = async (name: string) =>
      (await pointsOf(name)).map(({ value }) => typeof value === 'object' && value.buckets.boundaries);
    expect(await boundaries('gen_ai.execute_tool.duration')).toEqual([
      [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
    ]);
    const mcpBoundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
    expect(await boundaries('mcp.client.operation.duration')).toEqual([mcpBoundaries]);
    expect(await boundaries('mcp.server.operation.duration')).toEqual([mcpBoundaries]);
  });

  it('have the duration of a call in seconds', async () => {
    let ahead = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const run = () => {
      ahead = 3_600_000;
    };
    const slow = { name: 'slow', description: '', run };
    await (await open({ extensions: [measure({ clock })], tools: [slow] })).call('slow');
    const [point] = await pointsOf('gen_ai.execute_tool.duration');
    expect(point).toMatchObject({ attributes: { 'gen_ai.tool.name': 'slow' }, value: { count: 1 } });
    expect(typeof point?.value === 'object' && Math.round((point.value.sum ?? 0) / 600)).toBe(6);
  });

  it('have the duration of a server, per attempt, and its outcome', async () => {
    const chest = await open({ executors: [mcp], tools: [far('far'), far('far_broken'), ...tools] });
    await chest.call('far');
    await chest.call('far_broken');
    await chest.call('fine');
    const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' };
    expect(await pointsOf('mcp.client.operation.duration')).toMatchObject([
      { attributes: { ...attributes, 'gen_ai.tool.name': 'far' }, value: { count: 1 } },
      { attributes: { ...attributes, 'gen_ai.tool.name': 'far_broken', 'error.type': 'tool_error' } },
    ]);
  });

  it('include calls of MCP clients, without nested ones', async () => {
    const chest = await open();
    await chest.call('outer', {}, { door: 'mcp' });
    await chest.call('fine', {}, { door: 'rest' });
    expect(await pointsOf('mcp.server.operation.duration')).toMatchObject([
      { attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'outer' }, value: { count: 1 } },
    ]);
  });

  it('have the number of running calls, and zero after a refusal, a timeout and a cancellation', async () => {
    const controller = new AbortController();
    const waits = { description: '', run: () => new Promise(() => {}) };
    const chest = await open({
      tools: [
        { name: 'hang', ...waits },
        { name: 'late', ...waits, policy: { timeoutMs: 1 } },
        { name: 'strict', description: '', input: { type: 'object', required: ['a'] }, run: () => 1 },
      ],
    });
    const inFlight = () => pointsOf('toolcrib.calls.in_flight');
    const result = chest.call('hang', {}, { signal: controller.signal });
    expect(await inFlight()).toEqual([{ attributes: { 'toolcrib.source': 'code' }, value: 1 }]);
    controller.abort();
    await Promise.all([result, chest.call('late'), chest.call('strict')]);
    expect(await inFlight()).toEqual([{ attributes: { 'toolcrib.source': 'code' }, value: 0 }]);
    const codes = (await pointsOf('toolcrib.calls')).map(({ attributes }) => attributes['error.type']);
    expect(codes.sort()).toEqual(['cancelled', 'invalid_input', 'timeout']);
  });

  it('a replayed call is marked, and is not an execution', async () => {
    const chest = await (await createCrib({ tools, store: { url: 'memory:' } })).open(undefined, { id: 'ann' });
    await chest.call('fine', {}, { idempotencyKey: 'k' });
    await chest.call('fine', {}, { idempotencyKey: 'k' });
    const calls = await pointsOf('toolcrib.calls');
    expect(calls.map(({ attributes }) => attributes['toolcrib.replayed'])).toEqual([undefined, true]);
    expect(await pointsOf('gen_ai.execute_tool.duration')).toMatchObject([{ value: { count: 1 } }]);
  });

  it('gauges have the backlog of the audit, until the crib is closed', async () => {
    await stopMetrics();
    collectMetrics('lastLook');
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': 'store: { url: "sqlite:./crib.db" }\n' }), { tools });
    await (await crib.open()).call('fine');
    expect(await pointsOf('toolcrib.audit.waiting_rows')).toEqual([{ attributes: {}, value: expect.any(Number) }]);
    expect(await pointsOf('toolcrib.audit.waiting_time')).toEqual([{ attributes: {}, value: expect.any(Number) }]);
    expect(await pointsOf('toolcrib.audit.lost_rows')).toEqual([{ attributes: {}, value: 0 }]);
    await crib.close();
    expect(await pointsOf('toolcrib.audit.waiting_rows')).toEqual([]);
  });
});

describe('attributes are bounded', () => {
  it('unknown names count as one', async () => {
    const chest = await open();
    for (let index = 0; index < 5; index++) await chest.call(`none_${index}`);
    expect(await pointsOf('toolcrib.calls')).toMatchObject([
      { attributes: { 'gen_ai.tool.name': 'unknown', 'error.type': 'unknown_tool' }, value: 5 },
    ]);
  });

  it('tools beyond the first thousand count as one', async () => {
    const many = Array.from({ length: 1002 }, (_, index) => ({ name: `t${index}`, description: '', run: () => 1 }));
    const chest = await open({ tools: many });
    for (const { name } of many) await chest.call(name);
    const points = await pointsOf('gen_ai.execute_tool.duration');
    expect(points).toHaveLength(1001);
    expect(points.at(-1)).toMatchObject({ attributes: { 'gen_ai.tool.name': 'other' }, value: { count: 2 } });
  });

  it('codes of extensions are _OTHER, and no value of a caller is an attribute', async () => {
    const refuse = {
      name: 'refuse',
      priority: 500,
      wrap: () => ({ ok: false, status: 'failed', error: { code: 'made_up', message: 'no' } }) as never,
    };
    const chest = await open({ extensions: [refuse] });
    const text = 'hunter2-hunter2';
    await chest.call('fine', { text }, { id: text, conversation: text, door: text });
    const all = JSON.stringify(await measured());
    expect(all).toContain('"error.type":"_OTHER"');
    expect(all).not.toContain(text);
  });
});

describe('without a collector', () => {
  const takesPart = async (options: CribOptions = {}) => {
    const crib = await createCrib({ tools, ...options });
    return crib.extensions
      .list()
      .find(({ name }) => name === 'measure')
      ?.applies?.(crib.get('fine') as never);
  };

  it('measuring is skipped', async () => {
    otel.disable();
    expect(await takesPart()).toBe(false);
    collectMetrics();
    expect(await takesPart()).toBe(true);
  });

  it('OTEL_* announces one, and metrics are recorded once a provider is registered', async () => {
    otel.disable();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318');
    const chest = await open();
    expect((await chest.call('fine')).ok).toBe(true);
    collectMetrics();
    await chest.call('fine');
    expect(await pointsOf('toolcrib.calls')).toMatchObject([{ value: 1 }]);
  });

  it('otel: true or false takes precedence, in code and in the configuration', async () => {
    expect(await takesPart({ extensions: [measure({ otel: false })] })).toBe(false);
    expect(await takesPart({ config: { extensions: { metrics: { otel: false } } } })).toBe(false);
    otel.disable();
    expect(await takesPart({ extensions: [measure({ otel: true })] })).toBe(true);
    expect(() => measure({ otel: 'always' as never })).toThrow('otel');
  });

  it('a provider that throws fails no call', async () => {
    otel.disable();
    otel.setGlobalMeterProvider({
      getMeter() {
        throw new Error('no meter');
      },
    });
    const crib = await createCrib({ tools: [...tools, far('far')], executors: [mcp] });
    const chest = await crib.open();
    expect((await chest.call('fine')).ok).toBe(true);
    expect((await chest.call('far')).ok).toBe(true);
    expect(crib.warnings().join()).toContain('no meter');
  });
});
