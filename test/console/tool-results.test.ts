import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser } from './harness.ts';
import { gate, RESULT_TOOLS } from './result-tools.ts';
import { useSharedContext, useSmallCrib } from './small-crib.ts';

useBrowser();
const server = useSmallCrib({
  tools: RESULT_TOOLS,
  profiles: { everything: {}, little: { include: ['rows'] } },
  defaultProfile: 'everything',
});
const context = useSharedContext(server);

const openTool = (name: string, query = ''): Promise<Page> =>
  openConsole(server(), { path: `/tools/${name}${query}`, context: context() });

/** Goes to another tool without loading the console again. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.evaluate((path) => {
    const { history } = globalThis as unknown as { history: { pushState(state: null, title: '', path: string): void } };
    history.pushState(null, '', path); // in the browser
  }, `/tools/${name}`);
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();
const wasRun = (page: Page) => page.evaluate(() => (globalThis as { wasRun?: boolean }).wasRun === true);

describe('a result', () => {
  it('is shown by its type: text, table, picture, sound, link, resource', async () => {
    const page = await openTool('plain_text');
    await run(page);
    await page.getByText('Just a line of text.').waitFor();
    await goTo(page, 'rows');
    await run(page);
    await page.getByRole('cell', { name: 'Grace' }).waitFor();
    await page.getByRole('button', { name: 'Tree' }).click();
    await page.getByText('2 items').waitFor();
    await goTo(page, 'picture');
    await run(page);
    await page.getByRole('img', { name: 'Result of the tool' }).waitFor();
    await goTo(page, 'sound');
    await run(page);
    await page.locator('audio').waitFor();
    await goTo(page, 'references');
    await run(page);
    await page.getByRole('link', { name: 'The report' }).waitFor();
    expect(await page.getByRole('link', { name: 'Not a report' }).count()).toBe(0);
    await page.locator('strong', { hasText: 'bold' }).waitFor();
  });

  it('in Markdown has no raw HTML, no pictures from outside and no links that run', async () => {
    const page = await openTool('markdown');
    await run(page);
    await page.getByRole('heading', { name: 'Title' }).waitFor();
    await page.getByText('<img src=x onerror').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'run' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Picture: pixel' }).getAttribute('rel')).toContain('noopener');
    expect(await wasRun(page)).toBe(false);
  });

  it('above 2 MB is shown by its beginning and its size, and can be downloaded', async () => {
    const page = await openTool('large');
    await run(page);
    await page.getByText('Large result: 5.0 MB').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('result.txt');
    await goTo(page, 'large_json');
    await run(page);
    await page.getByRole('cell', { name: '99', exact: true }).first().waitFor();
    await page.getByRole('button', { name: /Show more \(5,900 rows/ }).click();
    await page.getByRole('cell', { name: '150', exact: true }).first().waitFor();
  });

  it('that contains markup, control and bidi characters is text, and they are visible', async () => {
    const page = await openTool('plain_text');
    for (const name of ['hostile_text', 'hostile_error']) {
      await goTo(page, name);
      await run(page);
      await page.getByText('<script>globalThis').first().waitFor();
      expect(await page.locator('main mark', { hasText: 'U+202E' }).count()).toBeGreaterThan(0);
      expect(await page.locator('main mark', { hasText: 'U+0007' }).count()).toBeGreaterThan(0);
      expect(await wasRun(page)).toBe(false);
    }
    for (const name of ['hostile_nesting', 'hostile_lists']) {
      await goTo(page, name);
      await run(page);
      await page.getByText('# Title').first().waitFor();
    }
    await goTo(page, 'hostile_words');
    await page.getByText(/more \(15,\d+ characters\)/).waitFor();
    expect((await page.locator('main').innerText()).length).toBeLessThan(5000);
    const list = await openConsole(server(), { context: context() });
    await list.getByRole('row', { name: /hostile_words/ }).waitFor();
    expect(await wasRun(list)).toBe(false);
  });
});

describe('a run', () => {
  it('shows progress, can be cancelled, and says so', async () => {
    const page = await openTool('count_slowly');
    await run(page);
    await page.getByText('half of it').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You cancelled the call.').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    gate.resolve();
    await run(page);
    await page.getByText('counted').first().waitFor();
  });

  it('can be tried: each layer says what it would do', async () => {
    const page = await openTool('wipe');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('The call would wait for approval.').waitFor();
    await page.getByRole('row', { name: /^approval/ }).waitFor();
  });

  it('in the background is answered in place once it ends', async () => {
    const page = await openTool('plain_text');
    await page.getByRole('button', { name: 'Background' }).click();
    await page.getByText('Just a line of text.').waitFor();
    await page.getByText('Done').waitFor();
  });

  it('that needs approval shows the card, and the result after the answer', async () => {
    const page = await openTool('wipe');
    await run(page);
    await page.getByText('Waits for approval').waitFor();
    const approve = page.getByRole('button', { name: /^Approve/ });
    await approve.waitFor();
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await approve.click();
    await page.getByText('wiped').waitFor();
  });

  it('is sent again with other arguments and another profile, and compared', async () => {
    const page = await openTool('echo', `?arguments=${encodeURIComponent('{ "a": 1, "same": true }')}`);
    await run(page);
    await page.getByText('Done').waitFor();
    await page.locator('textarea', { hasText: '1' }).first().fill('9007199254740992');
    await page.getByLabel('Profile').selectOption('everything');
    await run(page);
    await page.getByRole('button', { name: 'Run 2' }).waitFor();
    await page.getByText('Done').waitFor();
    await page.getByLabel('Compare with').selectOption('1');
    await page.getByText('Run 1 (all tools) compared with run 2 (everything).').waitFor();
    await page
      .getByRole('row', { name: /^\/a 1 9007199254740992/ })
      .first()
      .waitFor();
    await page.getByLabel('Profile').selectOption('little');
    await run(page);
    await page.getByRole('alert').filter({ hasText: 'echo' }).waitFor();
  });
});
