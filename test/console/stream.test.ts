import { connect, createServer, type Socket } from 'node:net';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConsoleServer } from './browser.ts';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer({ hasCalls: false });

const state = (page: Page) => page.getByRole('status').filter({ hasText: /Live|Reconnecting|Connecting|Stale/ });
const isLive = async (page: Page) => (await state(page).allInnerTexts()).includes('Live');

/** Parks a call, which waits for approval from then on. */
async function park(id: string): Promise<void> {
  const chest = await server().crib.open('assistant', { id: 'alice', roles: ['support'] });
  await chest.call('order_delete', { id }, { park: true });
}

const waiting = async () => (await server().crib.approvals.list({ state: 'waiting' })).length;

/** The event streams of a browser that are open now. */
function countStreams(context: BrowserContext): () => number {
  const open = new Set<Request>();
  const isStream = (request: Request) => new URL(request.url()).pathname === '/api/events';
  context.on('request', (request) => isStream(request) && open.add(request));
  context.on('requestfinished', (request) => open.delete(request));
  context.on('requestfailed', (request) => open.delete(request));
  return () => open.size;
}

describe('one event stream for all tabs of a browser', () => {
  it('eight tabs are live with one stream, and another tab takes it over', async () => {
    const first = await openConsole(server(), { path: '/sources' });
    const count = countStreams(first.context());
    await first.reload();
    const others: Page[] = [];
    for (let tab = 1; tab < 8; tab++)
      others.push(await openConsole(server(), { context: first.context(), path: '/sources' }));
    const tabs = [first, ...others];
    for (const tab of tabs) await expect.poll(() => isLive(tab)).toBe(true);
    expect(count()).toBe(1);
    await park('order-1');
    for (const tab of tabs) await expect.poll(() => tab.title()).toBe(`(${await waiting()}) Sources · Toolcrib`);
    await first.close();
    await expect.poll(count).toBe(1);
    await park('order-2');
    for (const tab of others) await expect.poll(() => tab.title()).toBe(`(${await waiting()}) Sources · Toolcrib`);
  });
});

describe('a server that restarts while the console is open', () => {
  it('is noticed, and after the sign-in everything is loaded again', async () => {
    const page = await openConsole(server(), { path: '/sources' });
    await expect.poll(() => isLive(page)).toBe(true);
    await server().stop();
    await expect.poll(() => state(page).innerText()).toBe('Reconnecting');
    await park('order-3');
    await server().start();
    const asks = page.getByRole('dialog', { name: 'Your session has ended' });
    await asks.getByLabel('Operator token or API key').fill(server().token);
    await asks.getByRole('button', { name: 'Sign in' }).click();
    await asks.waitFor({ state: 'detached' });
    await expect.poll(() => isLive(page)).toBe(true);
    await expect.poll(() => page.title()).toBe(`(${await waiting()}) Sources · Toolcrib`);
    expect(await page.getByRole('link', { name: 'billing' }).isVisible()).toBe(true);
  });
});

describe('a stream that is silently dead', () => {
  it('is given up after a time without heartbeat, said to be stale, and everything is loaded again', async () => {
    const wire = await freezableWire(server());
    const page = await openConsole(wire, { path: '/sources' });
    await expect.poll(() => isLive(page)).toBe(true);
    await page.clock.install();
    await page.reload();
    await expect.poll(() => isLive(page)).toBe(true);
    const before = await page.title();
    wire.freeze();
    await park('order-4');
    await page.clock.runFor(45_000);
    await expect.poll(() => state(page).innerText()).toMatch(/Reconnecting|Stale since/);
    expect(await page.title()).toBe(before);
    wire.thaw();
    await expect
      .poll(async () => {
        await page.clock.runFor(11_000);
        return isLive(page);
      })
      .toBe(true);
    await expect.poll(() => page.title()).toBe(`(${await waiting()}) Sources · Toolcrib`);
  });
});

/** A wire to the server that can fall silent without closing. */
async function freezableWire(target: ConsoleServer) {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const relay = createServer((near) => {
    const far = connect(target.port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => !isFrozen && !from.destroyed && to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    relay.close();
  });
  const address = relay.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    ...target,
    port,
    url: `http://127.0.0.1:${port}`,
    freeze() {
      isFrozen = true;
    },
    /** Connections from before stay silent for good. */
    thaw() {
      for (const socket of sockets) socket.removeAllListeners('data');
      isFrozen = false;
    },
  };
}
