import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Chest, createCrib, type Source } from '../../../src/index.ts';
import { createConnections } from '../../../src/kinds/mcp/connections.ts';
import { mcpExecutor } from '../../../src/kinds/mcp/mcp-executor.ts';
import { McpFailure } from '../../../src/kinds/mcp/mcp-failure.ts';
import { createMcpServers } from '../../../src/kinds/mcp/mcp-servers.ts';
import type { McpConnection } from '../../../src/kinds/mcp/open-connection.ts';
import { systemClock } from '../../../src/system/clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What a server that is down makes of an attempt to open a connection, and how long it takes for that. */
interface Outage {
  readonly openMs: number;
  readonly how: 'fails' | 'opens' | 'opens, then loses every call' | 'opens and is busy';
  /** What a server that is busy asks for. */
  readonly retryAfterMs?: number;
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A crib with one server whose outage is played by the test, in a time that only the test moves. */
async function world(effects: object) {
  const state = { outage: undefined as Outage | undefined, attempts: [] as number[] };
  const request = async () => {
    const { how, retryAfterMs } = state.outage ?? {};
    if (how === 'opens and is busy')
      throw new McpFailure('busy', 'later', retryAfterMs === undefined ? {} : { retryAfterMs });
    if (how === 'fails' || how === 'opens, then loses every call') throw new McpFailure('unreachable', 'gone');
    return { content: [{ type: 'text', text: 'here' }] };
  };
  const open = async (): Promise<McpConnection> => {
    state.attempts.push(performance.now());
    const { outage } = state;
    await later(outage?.openMs ?? 20);
    if (outage?.how === 'fails') throw new McpFailure('unreachable', 'nobody is there');
    const end = async () => {};
    const closed = new Promise<void>(() => {});
    return {
      era: 'modern',
      openedAt: systemClock.now(),
      request,
      closed,
      lastWords: () => 'gone',
      retire: end,
      close: end,
    };
  };
  const connections = createConnections({
    clock: systemClock,
    idleClock: systemClock,
    random: Math.random,
    reopens: true,
    era: undefined,
    open,
    onOpen: () => {},
    onFailed: () => {},
    onLost: () => {},
  });
  const servers = createMcpServers(systemClock);
  servers.add('far', { connections, share: 'all' });
  const run = { kind: 'mcp', source: 'far', tool: 'work' };
  const source: Source = {
    name: 'far',
    kinds: ['mcp'],
    start: async () => ({
      specs: () => [{ name: 'work', description: '', effects, run }] as never, // a plain tool, which the crib turns into a spec
      onChange: () => () => {},
      status: () => ({ state: 'ready' }),
      close: async () => {},
    }),
  };
  const crib = await createCrib({ sources: [source], executors: [mcpExecutor(servers, systemClock)] });
  return { state, chest: await crib.open() };
}

/** Callers that call again as soon as they are told that they may, until they are told to end. */
function keepCalling(chest: Chest, count: number) {
  const waitedMs: number[] = [];
  const done: number[] = [];
  let isOver = false;
  const call = async (): Promise<void> => {
    while (!isOver) {
      const begun = performance.now();
      const result = await chest.call('work');
      waitedMs.push(performance.now() - begun);
      if (result.ok) done.push(performance.now());
      const { retryAfterMs = 100 } = result.status === 'failed' ? result.error : {};
      await later(Math.min(Math.max(retryAfterMs, 100), 1000));
    }
  };
  const callers = Array.from({ length: count }, call);
  const end = async () => {
    isOver = true;
    await pass(5000);
    await Promise.all(callers);
  };
  return { waitedMs, done, end };
}

/** Moves the time on, in steps that leave room for what is under way. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) await vi.advanceTimersByTimeAsync(50);
}

const OUTAGES: readonly (readonly [string, Outage])[] = [
  ['refuses connections', { how: 'fails', openMs: 1 }],
  ['fails slowly', { how: 'fails', openMs: 1400 }],
  ['takes no connection until the time for that is up', { how: 'fails', openMs: 2500 }],
  ['starts and ends with the first call', { how: 'opens, then loses every call', openMs: 100 }],
  ['is busy and does not say for how long', { how: 'opens and is busy', openMs: 1 }],
  ['asks to be left alone for 25 s', { how: 'opens and is busy', openMs: 1, retryAfterMs: 25_000 }],
  ['asks to be left alone for no time', { how: 'opens and is busy', openMs: 1, retryAfterMs: 0 }],
];

describe('after an outage of 40 s with 20 callers', () => {
  describe.each([
    ['a read-only tool', { readOnly: true }],
    ['a tool of unknown effects', {}],
  ])('%s', (_tool, effects) => {
    it.each(OUTAGES)(
      'a server that %s is used within 5 s, and no caller ever waits longer than 3 s',
      async (_, outage) => {
        const { state, chest } = await world(effects);
        const seen = keepCalling(chest, 20);
        await pass(3000);
        state.outage = outage;
        await pass(40_000);
        state.outage = undefined;
        const backAt = performance.now();
        const attemptsMade = state.attempts.length;
        await pass(6000);
        await seen.end();
        const firstDone = seen.done.find((at) => at > backAt) ?? Number.POSITIVE_INFINITY;
        expect(firstDone - backAt).toBeLessThan(5000);
        expect(Math.max(...seen.waitedMs)).toBeLessThan(3000);
        expect(attemptsMade).toBeLessThan(60); // no server is started more often than about once in a second
      },
    );

    it('no caller waits longer than 3 s for a server that restarts within 10 s', async () => {
      const { state, chest } = await world(effects);
      const seen = keepCalling(chest, 20);
      await pass(3000);
      state.outage = { how: 'fails', openMs: 10_000 };
      await pass(40_000);
      await seen.end();
      expect(Math.max(...seen.waitedMs)).toBeLessThan(3000);
    });
  });

  it('the first caller of a server that takes 8 s to start gets its answer', async () => {
    const { state, chest } = await world({});
    state.outage = { how: 'opens', openMs: 8000 };
    const first = chest.call('work');
    await pass(9000);
    expect(await first).toMatchObject({ ok: true });
  });
});
