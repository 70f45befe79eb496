import { expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer({ hasCalls: false });

it('in the first minute a newcomer finds a tool, runs it, approves a dangerous call, and sees what it cost', async () => {
  const page = await openConsole(server(), { signedIn: false, path: `/tools?token=${server().token}` });
  await page
    .getByRole('searchbox')
    .or(page.getByPlaceholder(/Describe what you want/))
    .first()
    .fill('remove an order');
  await page.getByRole('link', { name: 'order_delete' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'order_delete' }).waitFor();

  await page.getByRole('textbox', { name: /^id/ }).first().fill('order-1044');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const approve = page.getByRole('button', { name: /^Approve/, disabled: false });
  await approve.click();
  await expect.poll(() => page.getByRole('main').innerText()).toContain('deleted');

  await page.getByRole('link', { name: /^Calls/ }).click();
  const row = page.getByRole('row').filter({ hasText: 'order_delete' }).filter({ hasText: 'done' }).first();
  await row.waitFor();
  await row.click();
  await page.getByText('Tokens', { exact: true }).waitFor();
  expect(await page.getByRole('navigation', { name: 'Pages' }).getByText('waiting').count()).toBe(0);
});
