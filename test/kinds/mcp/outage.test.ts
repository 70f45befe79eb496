import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Chest } from '../../../src/index.ts';
import { cribWith, type Presence, serverOf, watchPresence } from './upstream.ts';

/** A busy machine is not a failing test: every bound of docs/reliability.md is asserted at three times its value. */
const SLACK = 3;
const USED_AGAIN_MS = 5000 * SLACK;
const LONGEST_WAIT_MS = 3000 * SLACK;
/** Long enough for all pauses to reach their longest. */
const OUTAGE_MS = 6000;
const CALLERS = 20;

/** A server that can be taken away for a while. */
interface Upstream {
  readonly tool: string;
  readonly chest: Chest;
  takeAway(): Promise<void>;
  putBack(): Promise<void>;
}

/** Callers that call again as soon as they are told that they may; `end` resolves when all have their last answer. */
function keepCalling({ chest, tool }: Upstream) {
  const waitedMs: number[] = [];
  const done: number[] = [];
  const listeners = new Set<() => void>();
  let isOver = false;
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const begun = performance.now();
      const result = await chest.call(tool, tool.endsWith('echo') ? { text: 'here' } : {});
      waitedMs.push(performance.now() - begun);
      if (result.ok) done.push(performance.now());
      for (const listener of listeners) listener();
      const { retryAfterMs = 100 } = result.status === 'failed' ? result.error : {};
      await later(Math.min(Math.max(retryAfterMs, 50), 500)); // what a caller that waits for it does
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  return {
    waitedMs,
    /** Resolves with the moment of the first success after this one. */
    doneAfter: (moment: number) =>
      new Promise<number>((resolve) => {
        const look = () => {
          const found = done.find((at) => at > moment);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    async end() {
      isOver = true;
      await Promise.all(callers);
    },
  };
}

async function overHttp(): Promise<Upstream> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const putBack = async () => {
    const server = join(import.meta.dirname, 'servers/over-http.ts');
    child = spawn(process.execPath, ['--no-warnings', server, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout ?? child, 'data');
  };
  const takeAway = async () => {
    child?.kill('SIGKILL');
    if (child !== undefined) await once(child, 'exit');
  };
  await putBack();
  onTestFinished(() => void child?.kill('SIGKILL'));
  const crib = await cribWith({ far: { mcp: { url: `http://127.0.0.1:${port}/mcp` } } });
  return { tool: 'far_echo', chest: await crib.open(), takeAway, putBack };
}

async function onStdio(presence: Presence): Promise<Upstream> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-outage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const absent = join(folder, 'absent');
  const crib = await cribWith({ far: { mcp: serverOf('absent.ts', [absent], presence) } });
  return {
    tool: 'far_work',
    chest: await crib.open(),
    async takeAway() {
      writeFileSync(absent, '');
      for (const pid of presence.pids()) process.kill(pid, 'SIGKILL');
    },
    putBack: async () => rmSync(absent),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('an outage of an upstream server', () => {
  it.each([
    ['a server over HTTP', overHttp],
    ['a server on stdio', async () => onStdio(await watchPresence())],
  ])(
    '%s that was killed and is back is used within 5 s, and none of 20 callers waits longer than 3 s',
    async (_, start) => {
      const upstream = await start();
      const calling = keepCalling(upstream);
      await calling.doneAfter(0);
      await upstream.takeAway();
      await later(OUTAGE_MS); // the outage itself
      await upstream.putBack();
      const backAt = performance.now();
      const usedAt = await calling.doneAfter(backAt);
      await calling.end();
      expect(usedAt - backAt).toBeLessThan(USED_AGAIN_MS);
      expect(Math.max(...calling.waitedMs)).toBeLessThan(LONGEST_WAIT_MS);
    },
  );

  it('a server on stdio that ends with every call starts at most about once per second', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ far: { mcp: serverOf('rough.ts', ['well'], presence) } });
    const upstream = { tool: 'far_die', chest: await crib.open(), takeAway: async () => {}, putBack: async () => {} };
    const calling = keepCalling(upstream);
    const begun = performance.now();
    await presence.arrived(8);
    const seconds = (performance.now() - begun) / 1000;
    await calling.end();
    // Three starts come quickly, the next ones after 0.25, 0.5, 1, 2, 2 s, each at least half of that.
    expect(seconds).toBeGreaterThan(2);
    expect(Math.max(...calling.waitedMs)).toBeLessThan(LONGEST_WAIT_MS);
  });
});
