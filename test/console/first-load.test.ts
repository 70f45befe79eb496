import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer({ hasCalls: false, isLocal: true });

describe('the console', () => {
  it('opens under its policy, without errors, and loads nothing from outside', async () => {
    const page = await openConsole(server(), { path: '/sources' });
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.reload();
    await page.getByRole('heading', { name: 'Sources' }).waitFor();
    expect([...hosts]).toEqual([new URL(server().url).host]);
  });

  it('loads less than 160 kB, compressed, before form and editor are needed', async () => {
    const page = await openConsole(server());
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    await page.evaluate(
      () => (globalThis as unknown as { document: { fonts: { ready: Promise<unknown> } } }).document.fonts.ready,
    ); // in the browser
    const names = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => name)
        .filter((name) => name.includes('/assets/')),
    );
    const sizes = await Promise.all(
      names.map(async (name) => {
        const bytes = Buffer.from(await (await fetch(name)).arrayBuffer());
        return [new URL(name).pathname, name.endsWith('.woff2') ? bytes.length : gzipSync(bytes).length] as const;
      }),
    );
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    expect(total, JSON.stringify(sizes)).toBeLessThan(160_000);
  });
});

describe('on a server without access', () => {
  it('the local caller sees tools without a sign-in, and is asked for it on other pages', async () => {
    const page = await openConsole(server(), { signedIn: false });
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: /^Tools/ }).innerText()).toContain('200');
    await page.getByRole('columnheader', { name: 'Tokens' }).waitFor();
    const use = page.getByRole('columnheader', { name: /Calls|Last used/ });
    expect(await use.count(), 'how much tools are used is for operators').toBe(0);
    await page.getByRole('link', { name: /^Calls/ }).click();
    await page.getByText('Sign in to see this page.').waitFor();
    await page.getByLabel('Operator token').fill(server().token);
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.getByRole('link', { name: /^Sources/ }).click();
    await page.getByRole('link', { name: 'ledger' }).waitFor();
  });
});
