import { describe, expect, it } from 'vitest';
import { createConnections } from '../../../src/kinds/mcp/connections.ts';
import { McpFailure } from '../../../src/kinds/mcp/mcp-failure.ts';
import { MAIN } from '../../../src/kinds/mcp/mcp-servers.ts';
import type { McpConnection } from '../../../src/kinds/mcp/open-connection.ts';
import { manualClock } from '../../crib/manual-clock.ts';

/** A server that can be lost, and connections to it in a time that stands still. */
function world({ reopens = false } = {}) {
  const clock = manualClock();
  const opened: (McpConnection & { lose(): void; isClosed(): boolean })[] = [];
  const events: string[] = [];
  let isDown = false;
  const setDown = (next: boolean) => {
    isDown = next;
  };
  const connections = createConnections({
    clock,
    idleClock: clock,
    random: () => 1,
    reopens,
    era: undefined,
    async open() {
      await Promise.resolve();
      if (isDown) throw new McpFailure('unreachable', 'nobody is there');
      const closed = Promise.withResolvers<void>();
      let isClosed = false;
      const end = async () => {
        isClosed = true;
        closed.resolve();
      };
      const connection = {
        era: 'modern' as const,
        openedAt: clock.now(),
        request: async () => ({}),
        closed: closed.promise,
        lastWords: () => 'it fell over',
        retire: end,
        close: end,
        lose: () => closed.resolve(),
        isClosed: () => isClosed,
      };
      opened.push(connection);
      return connection;
    },
    onOpen: (_, subject) => void events.push(`open ${subject}`.trim()),
    onFailed: (reason) => void events.push(`failed ${reason}`),
    onLost: (reason) => void events.push(`lost ${reason}`),
  });
  const use = (subject = MAIN) => connections.use({ subject, work: async (connection) => connection });
  return { clock, connections, opened, events, use, setDown };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('connections to a server', () => {
  it('are opened by their first use, once for all waiting calls', async () => {
    const { use, opened } = world();
    expect(opened).toHaveLength(0);
    const [first, second] = await Promise.all([use(), use()]);
    expect(first).toBe(second);
    await use('other');
    expect(opened).toHaveLength(2);
  });

  it('that cannot be opened are retried after a growing pause, with jitter, up to two seconds', async () => {
    const { use, clock, setDown, events } = world();
    setDown(true);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      await expect(use()).rejects.toMatchObject({ kind: 'unreachable', message: 'nobody is there' });
      const tooSoon = await use().catch((failure: McpFailure) => failure.retryAfterMs ?? 0);
      pauses.push(tooSoon as number);
      clock.advance(tooSoon as number);
    }
    expect(pauses).toEqual([250, 500, 1000, 2000, 2000, 2000]);
    expect(events.filter((event) => event.startsWith('failed'))).toHaveLength(6);
    setDown(false);
    await expect(use()).resolves.toBeDefined();
  });

  it('that are lost are opened by the next use; those that break repeatedly wait', async () => {
    const { use, opened, clock } = world();
    await use();
    for (let times = 0; times < 2; times++) {
      opened.at(-1)?.lose();
      await settle();
      if (times === 0) await use(); // bad luck
    }
    await expect(use()).rejects.toMatchObject({ retryAfterMs: 250, message: 'it fell over' });
    clock.advance(250);
    await use();
    clock.advance(2000);
    opened.at(-1)?.lose();
    await settle();
    await use(); // it has lived long enough
    expect(opened).toHaveLength(4);
  });

  it('that are shared reconnect automatically while calls need them', async () => {
    const { use, opened, clock, events, setDown } = world({ reopens: true });
    await use();
    await use('somebody');
    setDown(true);
    for (const connection of opened) connection.lose();
    await settle();
    clock.advance(250);
    await settle();
    setDown(false);
    clock.advance(500);
    await settle();
    expect(events).toEqual([
      'open',
      'open somebody',
      'lost it fell over',
      'lost it fell over',
      'failed nobody is there',
      'open',
    ]);
  });

  it('that no call needs are retried after a growing pause, up to a minute', async () => {
    const { use, opened, clock, events, setDown } = world({ reopens: true });
    await use();
    setDown(true);
    opened[0]?.lose();
    await settle();
    const tries = () => events.filter((event) => event.startsWith('failed')).length;
    const pauses: number[] = [];
    for (let seconds = 0.25, last = 0; pauses.length < 10; seconds += 0.25) {
      clock.advance(250);
      await settle();
      if (tries() === pauses.length) continue;
      pauses.push(seconds - last);
      last = seconds;
    }
    expect(pauses).toEqual([0.25, 0.5, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('whose opening throws are given up, and others continue', async () => {
    const { connections, opened, use } = world();
    const work = async () => {
      throw new McpFailure('unreachable', 'gone');
    };
    await expect(connections.use({ subject: MAIN, work })).rejects.toMatchObject({ message: 'gone' });
    expect(opened[0]?.isClosed()).toBe(true);
    const busy = async () => {
      throw new McpFailure('busy', 'later');
    };
    await use();
    await expect(connections.use({ subject: MAIN, work: busy })).rejects.toMatchObject({ kind: 'busy' });
    expect(opened[1]?.isClosed()).toBe(false);
  });

  it('a cancelled call does not wait for one', async () => {
    const { connections, opened } = world();
    const listeners: (() => void)[] = [];
    const onAbort = (listener: () => void) => {
      listeners.push(listener);
      return () => {};
    };
    const waiting = connections.use({ subject: MAIN, work: async () => 1, onAbort });
    listeners[0]?.();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
    await settle();
    expect(opened).toHaveLength(1); // the next use gets it
  });

  it('finish running calls when they are drained, and are then closed', async () => {
    const { connections, opened, use } = world();
    const held = Promise.withResolvers<string>();
    const work = connections.use({ subject: MAIN, work: () => held.promise });
    await settle();
    const drained = connections.drain();
    await expect(use()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(opened[0]?.isClosed()).toBe(false);
    held.resolve('done');
    expect(await work).toBe('done');
    await drained;
    expect(opened[0]?.isClosed()).toBe(true);
  });

  it('are closed at once if necessary, also while draining', async () => {
    const { connections, opened } = world();
    void connections.use({ subject: MAIN, work: () => new Promise(() => {}) });
    await settle();
    void connections.drain();
    await connections.close();
    expect(opened[0]?.isClosed()).toBe(true);
  });

  it('of one subject are closed after half an hour without use, the shared one only if it was never used', async () => {
    const { use, opened, clock, connections } = world();
    await connections.use({ subject: MAIN, work: async () => {}, isPassing: true });
    for (let minute = 0; minute < 32; minute++) clock.advance(60_000);
    await settle();
    expect(opened.splice(0).map((connection) => connection.isClosed())).toEqual([true]);
    await use();
    await use('somebody');
    for (let minute = 0; minute < 32; minute++) clock.advance(60_000);
    await settle();
    expect(opened.map((connection) => connection.isClosed())).toEqual([false, true]);
  });

  it('are at most a hundred: the least recently used one is closed for a new one', async () => {
    const { use, opened, clock, connections } = world();
    for (let subject = 0; subject < 101; subject++) {
      await use(`s${subject}`);
      clock.advance(1);
    }
    await settle();
    expect(opened.filter((connection) => connection.isClosed())).toEqual([opened[0]]);
    for (let subject = 1; subject < 101; subject++)
      void connections.use({ subject: `s${subject}`, work: () => new Promise(() => {}) });
    await expect(use('one more')).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
