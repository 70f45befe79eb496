import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer();

/** Serious and critical violations, each with the first place. */
async function violations(page: Page, theme: 'light' | 'dark'): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  // The themes differ in their colours alone.
  const rules = theme === 'light' ? {} : { runOnly: ['color-contrast'] };
  const found = (await page.evaluate(
    (options) => (globalThis as unknown as { axe: { run(options: object): Promise<object> } }).axe.run(options), // in the browser
    rules,
  )) as { violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary.slice(0, 300)}`);
}

const PLACES: Readonly<Record<string, string>> = {
  '/tools': 'Tools',
  '/tools?q=cancel%20an%20order': 'Tools',
  '/tools/order_list': 'Tools',
  '/tools/report_build?tab=definition': 'Tools',
  '/tools/report_build?tab=history': 'Tools',
  '/tools/report_build?tab=explain': 'Tools',
  '/approvals': 'Approvals',
  '/approvals?tab=answered': 'Approvals',
  '/approvals?tab=remembered': 'Approvals',
  '/calls': 'Calls',
  '/calls?view=conversations': 'Calls',
  '/calls/CALL': 'Calls',
  '/calls/CALL?view=waterfall': 'Calls',
  '/sources': 'Sources',
  '/sources/ledger': 'Sources',
};

describe.each(['light', 'dark'] as const)('the %s theme', (theme) => {
  it('has no serious violation on any page', async () => {
    const page = await openConsole(server(), { theme });
    const [call] = await server().crib.calls.list({ tool: 'execute_script', limit: 1 });
    for (const [path, heading] of Object.entries(PLACES)) {
      await page.goto(`${server().url}${path.replace('CALL', call?.callId ?? '')}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
      await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
      expect(await violations(page, theme), path).toEqual([]);
    }
  });

  it('has no serious violation in the layers of the frame, and on the sign-in', async () => {
    const page = await openConsole(server(), { theme, path: '/sources' });
    await page.getByRole('heading', { name: 'Sources' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('delete an order');
    await page.getByRole('option').filter({ hasText: 'order_delete' }).waitFor();
    expect(await violations(page, theme), 'palette').toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await violations(page, theme), 'help').toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Stop calls …' }).click();
    await page.getByRole('dialog', { name: 'Stop calls' }).waitFor();
    expect(await violations(page, theme), 'stop').toEqual([]);
    const stranger = await openConsole(server(), { theme, signedIn: false });
    await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await violations(stranger, theme), 'sign-in').toEqual([]);
  });

  it('has no serious violation on a phone, with the filters open', async () => {
    const page = await openConsole(server(), { theme, width: 390, height: 844 });
    await page.getByRole('button', { name: /^Filters/ }).click();
    await page.getByRole('complementary', { name: 'Filters' }).getByText('destructive').waitFor();
    expect(await violations(page, theme), 'filters').toEqual([]);
  });
});
