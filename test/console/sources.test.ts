import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer({ hasCalls: false });

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const detail = (page: Page, name: string) => page.getByRole('region', { name: `Source ${name}` });

/** The process of the MCP server of this fixture. */
function pidOfNotes(): number {
  const found = readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return (
        line[0]?.includes('node') === true &&
        line[1]?.endsWith('notes-server.js') === true &&
        line[2] === server().folder
      );
    } catch {
      return false; // it ended meanwhile
    }
  });
  return Number(found[0]);
}

describe('the page of the sources', () => {
  it('shows health, the last error, what a source waits for, and counts the failed ones beside the page', async () => {
    const page = await openConsole(server(), { path: '/sources' });
    await expect.poll(() => row(page, 'shop').innerText()).toMatch(/modules\s+Ready\s+44/);
    expect(await row(page, 'analytics').innerText()).toContain('ECONNREFUSED 10.0.4.17:5432');
    expect(await row(page, 'ledger').innerText()).toMatch(/Starting[\s\S]*reading 48,211 entries/);
    await page.getByText('7 ready · 1 starting · 1 failed').waitFor();
    await page
      .getByRole('link', { name: /^Sources/ })
      .getByText('1 failed')
      .waitFor();
  });

  it('opens a source at its address; J and K move, Esc closes', async () => {
    const page = await openConsole(server(), { path: '/sources/ledger' });
    await detail(page, 'ledger').getByText('Waits for').waitFor();
    await detail(page, 'ledger').getByText('mcp.args: ./ledger-server.js').waitFor();
    await detail(page, 'ledger')
      .getByText(/toolcrib\.yaml:\d+/)
      .waitFor();
    await expect.poll(() => page.getByRole('log').innerText()).toContain('reading 48,211 entries of 2026');
    await page.keyboard.press('k');
    await detail(page, 'analytics').getByText('Last error').waitFor();
    expect(page.url()).toContain('/sources/analytics');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).toBe(`${server().url}/sources`);
  });

  it('shows an unknown name as such', async () => {
    const page = await openConsole(server(), { path: '/sources/%3Cscript%3E' });
    await page.getByText('The configuration has no source of this name.').waitFor();
  });

  it('a source that is mended and reloaded comes up, with its output live', async () => {
    const page = await openConsole(server(), { path: '/sources/analytics' });
    await expect.poll(() => page.getByRole('log').innerText()).toContain('analytics 2.4.1');
    const file = join(server().folder, 'analytics-server.js');
    writeFileSync(file, "console.error('\\u202e<b>second start</b>'); process.exitCode = 3;\n");
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect.poll(() => page.getByRole('log').innerText()).toContain('<b>second start</b>');
    expect(await page.getByRole('log').innerText(), 'marks of direction are shown').toContain('U+202E');
    expect(await page.locator('b').count(), 'output is text').toBe(0);
    await detail(page, 'analytics')
      .getByText(/exit code 3/)
      .first()
      .waitFor();
  });

  it('a server that is killed is shown as down, and as ready when it is back', async () => {
    const page = await openConsole(server(), { path: '/sources/notes' });
    await expect.poll(() => row(page, 'notes').innerText()).toContain('Ready');
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    process.kill(pidOfNotes(), 'SIGKILL');
    const changes = page.getByRole('listitem').filter({ hasText: /Down|Starting|Ready/ });
    await expect.poll(() => changes.allInnerTexts()).not.toEqual([]);
    const chest = await server().crib.open('assistant', { id: 'alice', roles: ['support'] });
    await expect.poll(async () => (await chest.call('notes_find', { word: 'x' })).status).toBe('done');
    await expect.poll(() => row(page, 'notes').innerText()).toContain('Ready');
    await expect.poll(async () => (await changes.allInnerTexts())[0]).toContain('Ready');
  });

  it('whose edited entry does not work is stale: the list of tools says so, and since when', async () => {
    const { crib, folder } = server();
    const file = join(folder, 'toolcrib.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace(/args: \[.*notes-server\.js"/, 'args: ["./away.js"'));
    void crib.reload(); // it waits for the source that never answers
    const page = await openConsole(server(), { path: '/tools?source=notes' });
    const tool = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'notes_find' }) });
    await expect.poll(() => tool.innerText()).toMatch(/stale\s+since\s+(now|\d+ s ago)/);
    await page
      .getByRole('row')
      .filter({ hasText: /source stale since/ })
      .waitFor();
    writeFileSync(file, before);
    void crib.reload(); // it waits for the source that never answers
    await expect.poll(() => tool.innerText()).not.toContain('stale');
  });

  it('stops a tool with a note, says who stopped it, and resumes it', async () => {
    const { crib } = server();
    const page = await openConsole(server(), { path: '/sources' });
    await page.getByRole('button', { name: 'Stop calls …' }).click();
    await page.getByLabel('Name').fill('order_lst');
    await page.getByRole('button', { name: 'Stop order_lst' }).click();
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('order_list');
    await page.getByLabel('Name').fill('order_list');
    await page.getByLabel('Note').fill('it sells twice');
    await page.getByRole('button', { name: 'Stop order_list' }).click();
    const stop = page.getByRole('listitem').filter({ hasText: 'tool:order_list' });
    await stop.getByText('stopped by operator').waitFor();
    const chest = await crib.open('assistant', { id: 'alice', roles: ['support'] });
    expect(await chest.call('order_list', {})).toMatchObject({
      error: { message: expect.stringContaining('it sells twice') },
    });
    await stop.getByRole('button', { name: 'Resume' }).click();
    await stop.waitFor({ state: 'detached' });
    const another = page.getByRole('listitem').filter({ hasText: 'caller:mallory' });
    await crib.stops.stop('caller:mallory', {}, { id: 'ann', operator: true });
    await another.getByText('stopped by ann').waitFor();
    await crib.stops.resume('caller:mallory', {}, { id: 'ann', operator: true });
    await another.waitFor({ state: 'detached' });
    expect(await chest.call('order_list', {})).toMatchObject({ ok: true });
  });
});
