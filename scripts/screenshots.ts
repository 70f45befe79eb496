// Writes a picture of every page of the console, in both themes, to docs/images. Run npm run build before.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { closeBrowser, newContext, serveCrib, signIn } from '../test/console/browser.ts';
import { openFixture } from '../test/console/fixture-crib.ts';

const FOLDER = join(import.meta.dirname, '../docs/images');

/** A picture: where, and what is done there before. */
interface Picture {
  readonly path: string;
  readonly width?: number;
  readonly height?: number;
  readonly isStranger?: true;
  prepare?(page: Page): Promise<void>;
}

const PICTURES: Readonly<Record<string, Picture>> = {
  tools: { path: '/tools?sort=calls' },
  'tools-search': { path: '/tools?q=delete%20an%20invoice' },
  tool: {
    path: '/tools/order_list',
    async prepare(page) {
      await page.locator('.cm-content').waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('order-1042').first().waitFor();
    },
  },
  'tool-form': {
    path: '/tools/report_build',
    async prepare(page) {
      await page.locator('.cm-content').waitFor();
      await page
        .getByRole('textbox', { name: /^title/ })
        .first()
        .fill('Sales of the autumn');
    },
  },
  approvals: {
    path: '/approvals',
    async prepare(page) {
      await page.getByRole('button', { name: /^Approve/, disabled: false }).waitFor();
    },
  },
  'approvals-phone': { path: '/approvals', width: 390, height: 844 },
  calls: { path: '/calls' },
  conversations: { path: '/calls?view=conversations' },
  sources: { path: '/sources/ledger' },
  palette: {
    path: '/sources',
    async prepare(page) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('refund');
      await page.getByRole('option').filter({ hasText: 'refund_create' }).waitFor();
    },
  },
  'sign-in': { path: '/tools', isStranger: true },
};

const { crib, folder, close } = await openFixture();
const server = await serveCrib(crib, folder);
mkdirSync(FOLDER, { recursive: true });
const request = await requestAgain();
const script = (await crib.calls.list({ tool: 'execute_script', limit: 1 }))[0];
const pictures = {
  ...PICTURES,
  approvals: { ...PICTURES.approvals, path: `/approvals/${request}` },
  ...(script !== undefined && {
    call: { path: `/calls/${script.callId}` },
    waterfall: {
      path: `/calls/${script.callId}`,
      async prepare(page: Page) {
        await page.getByRole('link', { name: 'Show the waterfall' }).click();
        await page.getByText('order_export').first().waitFor();
      },
    },
  }),
};
for (const [name, picture] of Object.entries(pictures))
  for (const theme of ['light', 'dark'] as const) await take(`console-${name}-${theme}.png`, picture, theme);
await server.stop();
await closeBrowser();
await close();

/** A request of a caller whose last one was approved, so that the picture shows what differs. */
async function requestAgain(): Promise<string> {
  const chest = await crib.open('assistant', { id: 'support-agent', roles: ['support'] });
  const ask = async (input: object): Promise<string> => {
    const result = await chest.call('customer_delete', input, {
      park: true,
      conversation: 'chat-4410',
      turn: 'turn-2',
    });
    return result.status === 'waiting' ? result.waiting.id : '';
  };
  const first = await ask({ id: 'customer-39', reason: 'Duplicate of customer-12.' });
  await crib.approvals.answer(first, { decision: 'approve' }, { id: 'grace', operator: true });
  return ask({ id: 'customer-41', reason: 'Asked for erasure on 12 November, ticket 4410. Nothing is owed.' });
}

async function take(file: string, picture: Picture, theme: 'light' | 'dark'): Promise<void> {
  const { path, width = 1440, height = 900, isStranger, prepare } = picture;
  const context = await newContext({ theme, width, height });
  if (isStranger !== true) await signIn(context, server, true);
  const page = await context.newPage();
  await page.goto(`${server.url}${path}`, { waitUntil: 'load' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
  if (isStranger !== true) await page.getByText('Live', { exact: true }).first().waitFor({ state: 'attached' });
  await prepare?.(page);
  await page.evaluate(
    () => (globalThis as unknown as { document: { fonts: { ready: Promise<unknown> } } }).document.fonts.ready,
  ); // in the browser
  await page.screenshot({ path: join(FOLDER, file), animations: 'disabled' });
  await context.close();
}
