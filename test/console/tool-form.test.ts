import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { signIn } from './browser.ts';
import { FORM_TOOLS } from './form-tools.ts';
import { openConsole, useBrowser } from './harness.ts';
import { useSharedContext, useSmallCrib } from './small-crib.ts';

useBrowser();
const server = useSmallCrib({ tools: FORM_TOOLS });
const context = useSharedContext(server);

const openTool = async (name: string): Promise<Page> => {
  const page = await openConsole(server(), { path: `/tools/${name}`, context: context() });
  await page.locator('.cm-content').waitFor();
  return page;
};

/** The text of the editor. Its lines are short, so that all of them are in view. */
const editorText = async (page: Page) => (await page.locator('.cm-line').allTextContents()).join('\n');
const editorIs = (page: Page, value: unknown) =>
  expect.poll(async () => JSON.parse(await editorText(page))).toEqual(value);
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });

/** Waits until the browser keeps a text with the page. */
const keptByBrowser = (page: Page, text: string) =>
  expect
    .poll(() =>
      page.evaluate(() => JSON.stringify((globalThis as unknown as { history: { state: unknown } }).history.state)),
    )
    .toContain(text);

async function chooseState(page: Page, name: string, state: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${name}: .*Choose absent`) }).click();
  await page.getByRole('menuitem', { name: state }).click();
}

async function writeInEditor(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

describe('the form of a tool', () => {
  it('says that nothing is set only where the pointer or the focus is', async () => {
    const page = await openTool('nested');
    const opacity = (name: string) =>
      page
        .getByRole('button', { name: new RegExp(`^${name}: not set`) })
        .evaluate((button) =>
          Number(
            (globalThis as unknown as { getComputedStyle(of: unknown): { opacity: string } }).getComputedStyle(button)
              .opacity,
          ),
        );
    await page.mouse.move(0, 0);
    expect([await opacity('title'), await opacity('size')]).toEqual([0, 0]);
    await field(page, 'title').focus();
    expect([await opacity('title'), await opacity('size')]).toEqual([1, 0]);
    await field(page, 'size').hover();
    expect([await opacity('title'), await opacity('size')]).toEqual([1, 1]);
  });

  it('is a view of the same text as the editor: what is untouched is absent, defaults are placeholders', async () => {
    const page = await openTool('nested');
    await editorIs(page, {});
    expect(await field(page, 'title').getAttribute('placeholder')).toBe('default: "Untitled"');
    await field(page, 'title').fill('Report');
    await editorIs(page, { title: 'Report' });
    await field(page, 'a.b/c').fill('dotted');
    await page.getByRole('button', { name: 'Fields of deep' }).click();
    await page.getByRole('button', { name: 'Fields of inner' }).click();
    await page.getByRole('button', { name: 'true', exact: true }).click();
    await editorIs(page, { title: 'Report', 'a.b/c': 'dotted', deep: { inner: { on: true } } });
    await writeInEditor(page, '{ "size": 3, "title": "From the editor" }');
    await expect.poll(() => field(page, 'title').inputValue()).toBe('From the editor');
    expect(await field(page, 'size').inputValue()).toBe('3');
    await field(page, 'title').fill('x');
    await expect.poll(() => editorText(page)).toBe('{ "size": 3, "title": "x" }');
  });

  it('lets absent, empty and null be chosen', async () => {
    const page = await openTool('nullable');
    await chooseState(page, 'note', 'Empty text');
    await editorIs(page, { note: '' });
    await chooseState(page, 'owner', 'Null');
    await editorIs(page, { note: '', owner: null });
    await chooseState(page, 'note', 'Not set');
    await editorIs(page, { owner: null });
    await field(page, 'owner').fill('Ada');
    await field(page, 'owner').fill('');
    await editorIs(page, {});
  });

  it('keeps text that does not parse, and does not run it', async () => {
    const page = await openTool('nested');
    await writeInEditor(page, '{ "title": "half');
    const run = page.getByRole('button', { name: 'Run', exact: true });
    await expect.poll(() => run.isDisabled()).toBe(true);
    await page.getByText('The JSON does not parse. Line 1').waitFor();
    await page.getByText('The JSON on the right does not parse').waitFor();
    expect(await editorText(page)).toBe('{ "title": "half');
    await page.keyboard.insertText('"}');
    await expect.poll(() => run.isDisabled()).toBe(false);
    await field(page, 'size').fill('12x');
    await page.getByText('What is typed at /size is not complete.').waitFor();
    expect(await run.isDisabled()).toBe(true);
    await page.getByRole('tab', { name: 'Definition' }).click();
    await page.getByRole('tab', { name: 'Run' }).click();
    expect(await field(page, 'size').inputValue()).toBe('12x');
  });

  it('adds, moves and removes items of a list', async () => {
    const page = await openTool('nested');
    for (const text of ['one', 'two']) {
      await page.getByRole('button', { name: 'Add item' }).click();
      await page
        .locator('textarea')
        .nth(text === 'one' ? 2 : 3)
        .fill(text);
    }
    await editorIs(page, { tags: ['one', 'two'] });
    await page.getByRole('button', { name: 'Move item 1 up' }).click();
    await editorIs(page, { tags: ['two', 'one'] });
    await page.getByRole('button', { name: 'Remove item 0' }).click();
    await editorIs(page, { tags: ['one'] });
  });

  it('writes times as RFC 3339', async () => {
    const page = await openTool('nested');
    await page.getByRole('button', { name: 'Pick a time' }).first().click();
    await page.getByLabel('Date and time').fill('2026-11-16T18:04');
    await editorIs(page, { at: '2026-11-16T18:04:00Z' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Pick a time' }).nth(1).click();
    await page.getByLabel('Date and time').fill('2026-11-17');
    await editorIs(page, { at: '2026-11-16T18:04:00Z', day: '2026-11-17' });
  });

  it('finds one of a thousand choices by typing', async () => {
    const page = await openTool('countries');
    await field(page, 'code').fill('code-98');
    await expect.poll(() => page.getByRole('listbox').getByRole('option').count()).toBe(11);
    await page.getByRole('option', { name: 'code-987' }).click();
    await editorIs(page, { code: 'code-987' });
  });

  it('offers the forms of a union at the root, and swaps their fields', async () => {
    const page = await openTool('notice');
    await page.getByPlaceholder('Choose one of 2 forms').click();
    await page.getByRole('option', { name: 'kind: sms' }).click();
    await field(page, 'number').fill('0171');
    await field(page, 'text').fill('Hello');
    await editorIs(page, { kind: 'sms', number: '0171', text: 'Hello' });
    await page.locator('input[value="kind: sms"]').click();
    await page.getByRole('option', { name: 'kind: email' }).click();
    await editorIs(page, { kind: 'email', text: 'Hello' });
  });

  it('shows a schema that contains itself, and a tool without arguments', async () => {
    const page = await openTool('tree');
    await page.getByRole('button', { name: 'Fields of root' }).click();
    await page.getByRole('button', { name: 'Add item' }).click();
    await page.getByRole('button', { name: 'Fields of 0' }).waitFor();
    await editorIs(page, { root: { children: [{}] } });
    const other = await openTool('nothing');
    await other.getByText('This tool takes no arguments.').waitFor();
    await other.getByRole('button', { name: 'Run', exact: true }).click();
    await other.getByText('Done').waitFor();
  });

  it('keeps the digits of large integers, sends them as they are written, and shows that the server refuses to round them', async () => {
    const page = await openTool('counted');
    const sent = page.waitForRequest((request) => request.url().includes('/api/tools/execute/'));
    await field(page, 'id').fill('90071992547409931234');
    await expect.poll(() => editorText(page)).toContain('90071992547409931234');
    await page.getByText('has more digits than a number keeps').waitFor();
    await page.keyboard.press('Control+Enter');
    expect((await sent).postData()).toContain('90071992547409931234');
    await page.getByRole('alert').filter({ hasText: 'is the integer 90071992547409931234' }).first().waitFor();
  });

  it('shows names and values that are written from right to left in their order', async () => {
    const page = await openTool('nested');
    await writeInEditor(page, '{ "שם": "ערך" }');
    const box = (text: string) => page.locator('.cm-line').getByText(text).boundingBox();
    const areInOrder = async () => {
      const [name, value] = [await box('"שם"'), await box('"ערך"')];
      return name !== null && value !== null && name.x + name.width <= value.x + 1;
    };
    await expect.poll(areInOrder).toBe(true);
  });

  it('puts the issues of the server at their fields', async () => {
    const page = await openTool('counted');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'is required' }).first().waitFor();
    expect(await field(page, 'id').getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('link', { name: '/id' }).click();
    expect(await field(page, 'id').evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  });

  it('keeps what was typed over a reload and a way back; a new visit begins empty', async () => {
    const page = await openTool('nested');
    await field(page, 'title').fill('Half');
    await keptByBrowser(page, 'Half');
    await page.getByRole('tab', { name: 'Definition' }).click();
    await page.reload();
    await page.getByRole('tab', { name: 'Run' }).click();
    await expect.poll(() => field(page, 'title').inputValue()).toBe('Half');
    await writeInEditor(page, '{ "title": "Does not par');
    await page.getByRole('status').filter({ hasText: 'does not parse' }).waitFor();
    await keptByBrowser(page, 'not par');
    await page
      .getByRole('link', { name: /^Tools/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'nested' }).waitFor();
    await page.goBack();
    await expect.poll(() => editorText(page)).toContain('Does not par');
    await page
      .getByRole('link', { name: /^Tools/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'nested' }).click();
    await editorIs(page, {});
  });

  it('shows nothing of what another caller has typed', async () => {
    const page = await openTool('nested');
    await field(page, 'title').fill('Of the operator');
    await keptByBrowser(page, 'Of the operator');
    const { url } = server();
    await context().request.delete(`${url}/api/session`, { headers: { 'x-toolcrib-console': '1', origin: url } });
    await page.reload();
    await page.getByText('Not signed in').waitFor();
    await editorIs(page, {});
    await signIn(context(), server(), true);
  });
});
