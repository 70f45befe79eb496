import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LiveSource } from '../../../src/core/source.ts';
import { createMcpServers, MAIN } from '../../../src/kinds/mcp/mcp-servers.ts';
import { mcp } from '../../../src/kinds/mcp/mcp-source.ts';
import { type ManualClock, manualClock } from '../../crib/manual-clock.ts';
import { namesOf } from '../../crib/workshop.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { cribWith, type Presence, saidOf, serverOf, stateOf, untilChanged, watchPresence } from './upstream.ts';

/** A busy machine is not a failing test. */
const PATIENCE = { timeout: 60_000, interval: 50 };

const doing = (manner: string, file = '', presence?: Presence) => serverOf('installing.ts', [manner, file], presence);

/** Servers that are started in a time that stands still. */
function world() {
  const clock = manualClock();
  const servers = createMcpServers(clock);
  const closing = new AbortController();
  onTestFinished(async () => {
    closing.abort();
    await servers.close();
  });
  return {
    clock,
    servers,
    async start(server: ReturnType<typeof serverOf>, isAwaited = false): Promise<LiveSource> {
      const { env = {}, ...command } = server;
      const source = mcp({
        name: 's',
        address: { kind: 'child', command: () => ({ ...command, env: { PATH: process.env.PATH ?? '', ...env } }) },
        servers,
        learnsLater: !isAwaited,
        reopens: false,
      });
      const live = await source.start({ clock, services: {}, signal: closing.signal, warn: () => {} });
      onTestFinished(() => live.close());
      return live;
    },
  };
}

/** Lets the time pass until this holds: a second at each look. */
async function passUntil(clock: ManualClock, isSo: () => boolean): Promise<void> {
  const look = () => {
    clock.advance(1000);
    return isSo();
  };
  await expect.poll(look, PATIENCE).toBe(true);
}

describe('a first start', () => {
  it('continues while the server prints output, long after its timeout', async () => {
    const { clock, start } = world();
    const presence = await watchPresence();
    const file = join(temporaryFolder(), 'go');
    const live = await start(doing('prints', file, presence));
    for (let step = 0; step < 15; step++) {
      const before = live.output?.();
      await expect.poll(() => live.output?.() !== before, PATIENCE).toBe(true);
      clock.advance(9000);
    }
    expect(live.status()).toMatchObject({
      state: 'starting',
      reason: expect.stringMatching(/^its last output: fetching \d+ \| fetching \d+ \| fetching \d+$/),
    });
    expect(presence.pids()).toHaveLength(1);
    writeFileSync(file, '');
    await live.listed;
    expect(live.status()).toEqual({ state: 'ready' });
    expect(new Set(presence.pids()).size).toBe(1); // the same one, which has become a server
  });

  it.runIf(process.platform === 'linux')('continues while the server computes without output', async () => {
    const { clock, start } = world();
    const file = join(temporaryFolder(), 'go');
    const presence = await watchPresence();
    const live = await start(doing('computes', file, presence));
    await presence.arrived(1);
    const begun = clock.now();
    await passUntil(clock, () => clock.now() - begun > 120_000);
    expect(live.status()).toEqual({ state: 'starting' });
    writeFileSync(file, '');
    await live.listed;
    expect(live.status()).toEqual({ state: 'ready' });
  });

  it('ends after a minute for an idle server, after a notice', async () => {
    const { clock, start } = world();
    const presence = await watchPresence();
    const live = await start(doing('waits', '', presence));
    await presence.arrived(1);
    await passUntil(clock, () => live.status().reason !== undefined);
    expect(live.status()).toEqual({
      state: 'starting',
      reason: 'it is starting, but was idle for 10 s',
    });
    await live.installed?.(); // nothing is lost if it ends now
    await passUntil(clock, () => live.status().state !== 'starting');
    expect(live.status()).toEqual({ state: 'failed', reason: 'it did not answer within 60000 ms' });
    await presence.left();
  });

  it('delays the others by ten seconds, and continues', async () => {
    const { clock, start } = world();
    const presence = await watchPresence();
    const file = join(temporaryFolder(), 'go');
    const starting = start(doing('prints', file, presence), true);
    await presence.arrived(1);
    clock.advance(10_000);
    const live = await starting;
    expect(live.status().state).toBe('starting');
    writeFileSync(file, '');
    await live.listed;
    expect(live.status()).toEqual({ state: 'ready' });
  });

  it('starts without a free place if a caller waits for it', async () => {
    const { start, servers } = world();
    const presence = await watchPresence();
    const places = Math.max(2, availableParallelism());
    for (let count = 0; count < places; count++) await start(doing('waits', '', presence));
    const next = await start(serverOf('rough.ts'));
    await presence.arrived(places);
    expect(next.status().reason).toContain('queued: other servers are starting');
    await servers.get('s')?.connections.use({ subject: MAIN, work: async () => {} });
    await next.listed;
    expect(next.status()).toEqual({ state: 'ready' });
  });

  it('waits for a place: as many start at once as there are cores, and an idle one gives its place away', async () => {
    const { clock, start } = world();
    const presence = await watchPresence();
    const places = Math.max(2, availableParallelism());
    const first = await Promise.all(Array.from({ length: places }, () => start(doing('waits', '', presence))));
    const next = await start(serverOf('rough.ts', [], presence));
    await presence.arrived(places);
    expect(next.status()).toEqual({
      state: 'starting',
      reason: 'queued: other servers are starting',
    });
    expect(presence.pids()).toHaveLength(places);
    await passUntil(clock, () => first.some((live) => live.status().reason !== undefined));
    await next.listed;
    expect(next.status()).toEqual({ state: 'ready' });
    expect(first.map((live) => live.status().state)).toEqual(Array(places).fill('starting')); // they go on
    expect(presence.pids()).toHaveLength(places + 1);
  });
});

describe('a start that cannot succeed says so', () => {
  it.each([
    ['asks', 'Need to install the following packages: cowsay@1.6.0 Ok to proceed? (y)'],
    ['asks on stdout', 'Enter your API key:'],
  ])('a program that %s', async (manner, question) => {
    const { clock, start } = world();
    const live = await start(doing(manner));
    const begun = clock.now();
    await passUntil(clock, () => live.status().state === 'failed');
    expect(live.status().reason).toContain(`it waits for an answer to a question: "${question}"`);
    expect(clock.now() - begun).toBeLessThan(60_000);
  });

  it('a program that crashes: with its error, and the npx folder to remove', async () => {
    const { start } = world();
    const live = await start(doing('crashes', '/srv'));
    await live.listed;
    expect(live.status()).toMatchObject({ state: 'failed' });
    expect(live.status().reason).toMatch(
      /; it said: Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module '\/srv\/_npx.*; the package in the npx cache is incomplete: remove the folder \/srv\/_npx\/0f3a9b12cd, then start the server again$/,
    );
  });

  it('an address without a listener, and an unknown host', async () => {
    const crib = await cribWith({
      refused: { mcp: { url: 'http://127.0.0.1:9/mcp' } },
      unknown: { mcp: { url: 'http://no-such-host.invalid/mcp' } },
    });
    expect(stateOf(crib, 'refused')).toMatchObject({
      state: 'failed',
      reason:
        '127.0.0.1:9 cannot be reached: ECONNREFUSED (connection refused: start the server, or correct the address)',
    });
    expect(stateOf(crib, 'unknown')?.reason).toMatch(
      /^no-such-host\.invalid cannot be resolved: (ENOTFOUND \(host not found|EAI_AGAIN \(DNS lookup failed)/,
    );
  });
});

it('while one server is installed the others are called, and its output is shown without secrets', async () => {
  const file = join(temporaryFolder(), 'go');
  const server = doing('tells a secret', file);
  process.env.A_KEY = 'very-secret-key';
  const crib = await cribWith(
    { slow: { mcp: { ...server, env: { KEY: `\${secret:key}` } } }, r: { mcp: serverOf('rough.ts') } },
    { background: true, rest: { secrets: { key: { env: 'A_KEY' } } } },
  );
  await untilChanged(crib, () => namesOf(crib).includes('r_work'));
  expect(await (await crib.open()).call('r_work')).toMatchObject({ ok: true });
  await expect.poll(() => stateOf(crib, 'slow')?.reason, PATIENCE).toMatch(/^its last output: fetching one \| with /);
  expect(stateOf(crib, 'slow')).toMatchObject({ state: 'starting', toolCount: 0 });
  expect(stateOf(crib, 'slow')?.reason).not.toContain('very-secret-key');
  expect(saidOf(await (await crib.open()).call('slow_work'))).toBe('unavailable');
  writeFileSync(file, '');
  await untilChanged(crib, () => namesOf(crib).includes('slow_work'));
  expect(await (await crib.open()).call('slow_work')).toMatchObject({ ok: true });
});
