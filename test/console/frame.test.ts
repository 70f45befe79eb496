import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer();

async function openPalette(): Promise<Page> {
  const page = await openConsole(server(), { path: '/sources' });
  await page.getByRole('heading', { name: 'Sources' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  return page;
}

describe('the frame by keyboard', () => {
  it('finds a tool by its meaning, goes to pages, and gives the focus back', async () => {
    const page = await openPalette();
    await page.keyboard.type('erase customer');
    await page.getByRole('option').filter({ hasText: 'customer_delete' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ledger');
    await page.getByRole('option').filter({ hasText: 'ledger' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Source ledger' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
  });

  it('opens the tools of a profile, and all tools again by the path above', async () => {
    const page = await openPalette();
    await page.keyboard.type('agent');
    await page.getByRole('option', { name: /^agent/ }).click();
    await page.getByRole('heading', { name: 'Tools / profile agent' }).waitFor();
    const listed = (await server().crib.open('agent')).listActive().length;
    expect(listed).toBeLessThan(200);
    await page.getByText(`${listed} tools · about`).waitFor();
    await page.getByRole('heading', { level: 1 }).getByRole('link', { name: 'Tools' }).click();
    await page.getByText('200 tools · about').waitFor();
  });

  it('copies the address that MCP clients connect to', async () => {
    const page = await openPalette();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.type('mcp clients');
    await page.getByRole('option').nth(1).waitFor(); // tools whose meaning is near come after what has the words
    expect(await page.getByRole('option').first().textContent()).toContain('Copy the address for MCP clients');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied).toBe(`${server().url}/mcp`);
  });

  it('chooses a theme, which stays', async () => {
    const page = await openConsole(server(), { path: '/sources' });
    const theme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await page.getByRole('radio', { name: 'Dark' }).check();
    expect(await theme()).toBe('dark');
    await page.reload();
    await page.getByRole('radio', { name: 'Dark' }).waitFor();
    expect(await theme()).toBe('dark');
    await page.getByRole('radio', { name: 'System' }).check();
    expect(await theme()).toBe('light');
  });

  it('is usable at the width of a phone: every page is one touch away, and nothing is wider than the screen', async () => {
    const page = await openConsole(server(), { width: 390, height: 844, path: '/sources' });
    await page.getByRole('link', { name: /^Approvals/ }).click();
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    for (const path of ['/tools', '/tools/order_list', '/approvals', '/calls', '/sources', '/sources/ledger']) {
      await page.goto(`${server().url}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const width = await page.evaluate(
        () => (globalThis as unknown as { document: { body: { scrollWidth: number } } }).document.body.scrollWidth,
      );
      expect(width, path).toBeLessThanOrEqual(390);
    }
    await page.goto(`${server().url}/tools?q=delete%20an%20order`);
    await page.getByRole('main').getByRole('link', { name: 'order_delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'order_delete' }).waitFor();
  });
});

describe('a page that fails', () => {
  it('leaves the frame, and another page can be opened', async () => {
    const page = await (await openConsole(server())).context().newPage(); // without the watch for errors: this one is wanted
    await page.route('**/api/sources', (route) => route.fulfill({ json: { sources: [null] } }));
    await page.goto(`${server().url}/sources`);
    await page.getByText('This page cannot be shown.').waitFor();
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Calls/ })
      .click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
  });

  it('says that its files did not arrive, and loads them on another try', async () => {
    const page = await (await openConsole(server())).context().newPage(); // without the watch for errors: these are wanted
    await page.goto(`${server().url}/tools`);
    await page.getByRole('link', { name: 'absence_assign' }).waitFor();
    await page.route('**/assets/calls-page-*', (route) => route.abort());
    const calls = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Calls/ });
    await calls.click();
    await page.getByText('This page could not be loaded.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
  });

  it('does not fail for an address that cannot be decoded', async () => {
    const page = await openConsole(server(), { path: '/tools/%25' });
    await page.getByRole('link', { name: 'Show all tools' }).waitFor();
  });
});
