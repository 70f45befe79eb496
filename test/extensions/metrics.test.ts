import parse from 'parse-prometheus-text-format';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  approval,
  type Crib,
  createCrib,
  METRICS_CONTENT_TYPE,
  metrics,
  type ToolCall,
  type ToolInput,
} from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const until = (call: ToolCall) => new Promise((resolve) => call.signal.addEventListener('abort', resolve));
const tools: readonly ToolInput[] = [
  { name: 'fine', description: '', run: () => 'done' },
  { name: 'stuck', description: '', policy: { timeoutMs: 100 }, run: (_: unknown, call: ToolCall) => until(call) },
  { name: 'outer', description: '', run: (_: unknown, call: ToolCall) => call.tools.call('fine', {}) },
  { name: 'rm', description: '', effects: { destructive: true }, run: () => 'gone' },
  { name: 'often', description: '', policy: { rates: [{ scope: 'tool', amount: 1, perMs: 1000 }] }, run: () => 1 },
  {
    name: 'broken',
    description: '',
    run: () => {
      throw new Error('it broke');
    },
  },
];

/** One family of what the crib has counted, as a Prometheus parser reads it. */
async function family(crib: Crib, name: string) {
  const found = parse(await crib.metrics()).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found.metrics;
}

/** How often each tool ended how. */
async function ends(crib: Crib): Promise<Readonly<Record<string, number>>> {
  const counted = await family(crib, 'toolcrib_calls_total');
  return Object.fromEntries(counted.map(({ labels, value }) => [`${labels?.tool} ${labels?.outcome}`, Number(value)]));
}

async function inFlight(crib: Crib): Promise<number> {
  const gauges = await family(crib, 'toolcrib_calls_in_flight');
  return gauges.reduce((sum, { value }) => sum + Number(value), 0);
}

describe('metrics: each call counted once by outcome', () => {
  it('for any outcome, including nested calls and unknown names', async () => {
    const crib = await createCrib({ tools });
    const chest = await crib.open();
    await chest.call('fine');
    await chest.call('fine', 'no object' as never);
    await chest.call('outer');
    await chest.call('rm');
    await chest.call('often');
    await chest.call('often');
    await chest.call('broken');
    await chest.call('nobody');
    await chest.call('nobody_else');
    await chest.call('fine', {}, { signal: AbortSignal.abort() });
    const stuck = chest.call('stuck');
    await vi.advanceTimersByTimeAsync(100);
    await stuck;
    expect(await ends(crib)).toEqual({
      'fine done': 2,
      'fine invalid_input': 1,
      'fine cancelled': 1,
      'outer done': 1,
      'rm denied': 1,
      'often done': 1,
      'often rate_limited': 1,
      'broken tool_error': 1,
      'unknown unknown_tool': 2,
      'stuck timeout': 1,
    });
  });

  it('a retried call once', async () => {
    let attempts = 0;
    const run = () => ({
      ok: false,
      status: 'failed',
      error: { code: 'unavailable', message: `${attempts++}`, retryable: true },
    });
    const crib = await createCrib({ tools: [{ name: 'shaky', description: '', effects: { idempotent: true }, run }] });
    const result = (await crib.open()).call('shaky');
    await vi.advanceTimersByTimeAsync(60_000);
    await result;
    expect(attempts).toBe(3);
    expect(await ends(crib)).toEqual({ 'shaky unavailable': 1 });
  });

  it('a custom code of an extension is "other"', async () => {
    const gate = {
      name: 'odd',
      priority: 500,
      wrap: () => ({ ok: false, status: 'failed', error: { code: `made_up_${Math.random()}`, message: '' } }) as never,
    };
    const crib = await createCrib({ tools, extensions: [gate] });
    await (await crib.open()).call('fine');
    expect(await ends(crib)).toEqual({ 'fine other': 1 });
  });

  it('with the duration in a histogram of seconds', async () => {
    const crib = await createCrib({ tools });
    const stuck = (await crib.open()).call('stuck');
    await vi.advanceTimersByTimeAsync(100);
    await stuck;
    const lines = (await crib.metrics()).split('\n');
    const label = 'tool="stuck",source="code"';
    const name = 'toolcrib_call_duration_seconds';
    expect(lines).toContain(`${name}_bucket{${label},le="0.025"} 0`);
    for (const bound of ['0.1', '120', '+Inf']) expect(lines).toContain(`${name}_bucket{${label},le="${bound}"} 1`);
    expect(lines).toContain(`${name}_count{${label}} 1`);
    expect(lines).toContain(`${name}_sum{${label}} 0.1`);
    expect(await family(crib, name)).toHaveLength(1);
  });
});

describe('gauges return to zero', () => {
  it('while a call runs it is in flight, and after refusal, timeout and cancel it is not', async () => {
    const crib = await createCrib({ tools, extensions: [approval({ timeoutMs: 50 })] });
    const chest = await crib.open(undefined, { approve: () => new Promise(() => {}) });
    const controller = new AbortController();
    const pending = [
      chest.call('stuck'),
      chest.call('stuck', {}, { signal: controller.signal }),
      chest.call('rm'),
      chest.call('outer'),
    ];
    expect(await inFlight(crib)).toBe(3);
    controller.abort();
    await vi.advanceTimersByTimeAsync(100);
    const results = await Promise.all(pending);
    expect(results.map((result) => (result.status === 'failed' ? result.error.code : result.status))).toEqual([
      'timeout',
      'cancelled',
      'denied',
      'done',
    ]);
    expect(await inFlight(crib)).toBe(0);
    await chest.call('nobody');
    await chest.call('often');
    await chest.call('often');
    await chest.call('fine', 'no object' as never);
    expect(await inFlight(crib)).toBe(0);
  });

  it('also if the extensions change while a call runs', async () => {
    const crib = await createCrib({ tools });
    const stuck = (await crib.open()).call('stuck');
    crib.extensions.add({ name: 'mine', priority: 500, onEnd() {} });
    await vi.advanceTimersByTimeAsync(100);
    await stuck;
    expect(await inFlight(crib)).toBe(0);
    expect(await ends(crib)).toEqual({ 'stuck timeout': 1 });
  });
});

/** What a tool can find on its call without a name that is exported. */
function factsOf(call: ToolCall): Record<string, unknown> {
  const keys = Object.getOwnPropertySymbols(Object.getPrototypeOf(call));
  const key = keys.find((symbol) => symbol.description === 'toolcrib.facts');
  return Reflect.get(call, key ?? '');
}

describe('a tool that claims that its run was a replay', () => {
  const forging: ToolInput = {
    name: 'forging',
    description: '',
    policy: { rates: [{ scope: 'tool', amount: 2, perMs: 1000 }] },
    run: async (_: unknown, call: ToolCall) => void Object.assign(factsOf(call), { replayed: 'repeat' }),
  };

  it('is counted as a run, and does not get its rate slot back', async () => {
    const crib = await createCrib({ tools: [forging] });
    const chest = await crib.open();
    for (let turn = 0; turn < 4; turn++) await chest.call('forging');
    expect(await ends(crib)).toEqual({ 'forging done': 2, 'forging rate_limited': 2 });
  });
});

describe('the text', () => {
  it('parses with a Prometheus parser, before the first call, too', async () => {
    const crib = await createCrib({ tools });
    const before = parse(await crib.metrics()).map(({ name }) => name);
    await (await crib.open()).call('fine');
    const families = parse(await crib.metrics());
    expect(families.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'toolcrib_calls_total COUNTER',
      'toolcrib_call_duration_seconds HISTOGRAM',
      'toolcrib_calls_in_flight GAUGE',
      'toolcrib_approved_calls_total COUNTER',
      'toolcrib_replayed_calls_total COUNTER',
    ]);
    expect(before).toEqual(families.map(({ name }) => name));
    expect(families.every(({ help }) => help.length > 10)).toBe(true);
    expect(METRICS_CONTENT_TYPE).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('two cribs count separately', async () => {
    const [one, two] = [await createCrib({ tools }), await createCrib({ tools })];
    await (await one.open()).call('fine');
    await (await two.open()).call('broken');
    expect(await ends(one)).toEqual({ 'fine done': 1 });
    expect(await ends(two)).toEqual({ 'broken tool_error': 1 });
  });

  it('without counters the crib says so', async () => {
    const off = await createCrib({ tools, extensions: [metrics({ prometheus: false })] });
    await (await off.open()).call('fine');
    await expect(off.metrics()).rejects.toMatchObject({ code: 'not_counted' });
    const removed = await createCrib({ tools });
    removed.extensions.remove('metrics');
    await expect(removed.metrics()).rejects.toMatchObject({ code: 'not_counted' });
  });
});
