import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { soon, useDesk } from './approval-desk.ts';
import { openConsole, useBrowser } from './harness.ts';

useBrowser();
const desk = useDesk();

const table = (page: Page) => page.getByRole('table', { name: 'Calls' });
const rows = (page: Page) => table(page).getByRole('row');
const detail = (page: Page) => page.getByRole('complementary', { name: 'Call' });
/** The texts of the rows in view, without the head. */
const texts = async (page: Page) =>
  (await rows(page).allInnerTexts()).slice(1).map((text) => text.replaceAll(/\s+/g, ' '));
const calls = (path = '', more: object = {}) => openConsole(desk(), { path: `/calls${path}`, ...more });

beforeAll(async () => {
  for (let turn = 1; turn <= 3; turn++)
    for (const caller of ['alice', 'bob'])
      await desk().call('look', { turn }, { caller, conversation: `chat-${caller}`, turn: `turn-${turn}` });
  await desk().call('nothing', {}, { caller: 'bob', conversation: 'chat-bob', turn: 'turn-3' });
});

describe('the log of calls', () => {
  it('is filtered by what the address says, and the address by what is chosen', async () => {
    const page = await calls('?caller=bob');
    await soon(() => texts(page)).toHaveLength(4);
    for (const text of await texts(page)) expect(text).toContain('bob');
    await page.getByLabel('Status').selectOption('failed');
    await soon(() => texts(page)).toHaveLength(1);
    expect(new URL(page.url()).search).toBe('?caller=bob&status=failed');
    await page.reload();
    await soon(() => texts(page)).toHaveLength(1);
    expect((await texts(page))[0]).toContain('unknown tool');
    await page.getByLabel('Conversation').fill('chat-nowhere');
    await page.keyboard.press('Enter');
    await page.getByText('No call matches the filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await soon(async () => (await texts(page)).length).toBeGreaterThan(4);
    expect(new URL(page.url()).search).toBe('');
  });

  it('opens a call at an address of its own; J and K walk, Esc closes', async () => {
    const page = await calls('?caller=alice');
    await soon(() => texts(page)).toHaveLength(3);
    await rows(page).nth(1).click();
    await detail(page).getByText('Signed by a key of this server').waitFor();
    const first = new URL(page.url());
    expect(first.search).toBe('?caller=alice');
    await page.keyboard.press('j');
    await soon(() => new URL(page.url()).pathname).not.toBe(first.pathname);
    await page.keyboard.press('k');
    await soon(() => new URL(page.url()).pathname).toBe(first.pathname);
    await page.reload();
    await detail(page).getByText('turn-3').waitFor();
    await page.getByRole('button', { name: 'Verify the audit log' }).click();
    await detail(page)
      .getByText(/All \d+ rows are unchanged/)
      .waitFor();
    await page.keyboard.press('Escape');
    await soon(() => page.url()).toBe(`${desk().url}/calls?caller=alice`);
  });

  it('puts new calls on top; beside an open call they wait behind a count; a pause holds everything', async () => {
    const page = await calls('?caller=erin');
    await page.getByText('No call matches the filters.').waitFor();
    await desk().call('look', {}, { caller: 'erin' });
    await soon(() => texts(page)).toHaveLength(1);
    await rows(page).nth(1).click();
    await detail(page).waitFor();
    await desk().call('look', {}, { caller: 'erin' });
    await page.getByRole('button', { name: 'Show 1 new call' }).click();
    await soon(() => texts(page)).toHaveLength(2);
    await page.getByRole('button', { name: 'Pause' }).click();
    await desk().call('look', {}, { caller: 'erin' });
    await desk().call('look', {}, { caller: 'frank' });
    await page.getByText('Paused').waitFor();
    expect(await texts(page)).toHaveLength(2);
    expect(await page.getByRole('button', { name: /new call/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Show 1 new call' }).waitFor();
  });

  it('patches a running call in its row when it ends', async () => {
    const page = await calls('?caller=gina');
    await page.getByText('No call matches the filters.').waitFor();
    const ended = desk().call('hold', {}, { caller: 'gina' });
    await soon(() => texts(page)).toEqual([expect.stringContaining('running')]);
    desk().letGo();
    await ended;
    await soon(() => texts(page)).toEqual([expect.stringContaining('done')]);
  });

  it('exports what is filtered, as JSON lines and as CSV', async () => {
    const page = await calls('?caller=bob');
    await soon(() => texts(page)).toHaveLength(4);
    const save = async (name: string) => {
      await page.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split(/\r?\n/);
    };
    const lines = (await save('JSON lines')).map((line) => JSON.parse(line));
    expect(lines).toHaveLength(4);
    expect(new Set(lines.map(({ caller }) => caller))).toEqual(new Set(['bob']));
    const csv = await save('CSV');
    expect(csv).toHaveLength(5);
    expect(csv[0]).toMatch(/^at,callId,tool,/);
  });
});

describe('the detail of a call', () => {
  it('links to the trace of the call', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await desk().call('look', {}, { caller: 'trent', traceparent: `00-${trace}-b7ad6b7169203331-01` });
    const page = await calls('?caller=trent');
    await soon(() => texts(page)).toHaveLength(1);
    await rows(page).nth(1).click();
    const link = detail(page).getByRole('link', { name: trace });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe(`https://traces.test/${trace}`);
  });
});

describe('calls by conversation', () => {
  it('are one timeline by turn, with searches, waits, denials and failures in words', async () => {
    const said = { caller: 'harry', conversation: 'chat-harry', turn: 'turn-1' };
    await desk().call('look', {}, said);
    const id = await desk().call('pay', { amount: 3 }, said);
    await desk().crib.approvals.answer(id, { decision: 'deny' }, { id: 'bob', operator: true });
    await desk().call('pay', { amount: 3 }, said);
    await desk().call('pay', { amount: 4 }, { ...said, turn: 'turn-2' });
    const page = await calls('?view=conversations&conversation=chat-harry');
    const list = page.getByRole('list', { name: 'Conversations' });
    await list.getByText('chat-harry').waitFor();
    const text = (await list.innerText()).replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/turn-1 .*1 call.*1 denied/);
    expect(text).toMatch(/turn-2 1 waits for approval/);
    await list
      .getByRole('button', { name: /denied/ })
      .first()
      .click();
    await detail(page).waitFor();
    expect(page.url()).toContain('view=conversations');
  });
});

describe('nested calls', () => {
  it('a thousand are a waterfall of which only the rows in view are in the document; idle time is folded', async () => {
    await desk().call('script', { count: 1000, pauseMs: 1500 }, { caller: 'ivan' });
    const page = await calls('?caller=ivan&tool=script');
    await soon(() => texts(page)).toHaveLength(1);
    await rows(page).nth(1).click();
    await page.getByRole('link', { name: 'Show the waterfall' }).click();
    const grid = page.getByRole('treegrid', { name: 'Nested calls' });
    await page.getByText('1,000 nested calls').waitFor();
    await page.getByText(/nested calls · .* idle/).waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('1001');
    expect(await grid.getByRole('row').count()).toBeLessThan(80);
    const address = page.url();
    await page.keyboard.press('j');
    await soon(() => page.url()).not.toBe(address);
    await detail(page).getByText('Called by').waitFor();
    await grid.getByRole('row').last().scrollIntoViewIfNeeded();
    await page.mouse.move(400, 400);
    await page.mouse.wheel(0, 100_000);
    await soon(() => grid.locator('[aria-rowindex="1001"]').count()).toBe(1);
  });
});

describe('nested calls in flight', () => {
  it('appear in the waterfall while they run, and are patched when they end', async () => {
    const page = await calls('?caller=kim');
    await page.getByText('No call matches the filters.').waitFor();
    const ended = desk().call('outer', {}, { caller: 'kim' });
    await soon(async () => (await texts(page)).filter((text) => text.includes('running')).length).toBe(2);
    await rows(page).filter({ hasText: 'outer' }).click();
    await page.getByRole('link', { name: 'Show the waterfall' }).click();
    const bars = page.getByRole('treegrid').locator('[data-status="running"]');
    await soon(() => bars.count()).toBe(2);
    desk().letGo();
    await ended;
    await soon(() => bars.count()).toBe(0);
    await page.getByText('1 nested call', { exact: true }).waitFor();
  });
});

describe('stopping', () => {
  it('a conversation is cancelled, and a caller is stopped after the page has said what will happen', async () => {
    const held = desk().call('hold', {}, { caller: 'judy', conversation: 'chat-judy' });
    const page = await calls('?caller=judy&conversation=chat-judy');
    await soon(() => texts(page)).toHaveLength(1);
    await page.getByRole('button', { name: 'Cancel this conversation' }).click();
    await page.getByText('All calls of the conversation chat-judy in flight are cancelled.').waitFor();
    await page.getByRole('button', { name: 'Cancel the calls' }).click();
    await page.getByText('1 call was cancelled.').waitFor();
    await held;
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Stop this caller' }).first().click();
    await page.getByRole('button', { name: 'Stop the caller' }).click();
    await page.getByText('Stopped').waitFor();
    expect(await desk().call('look', {}, { caller: 'judy' })).toBe('failed');
  });
});

describe('hostile text in a call', () => {
  it('is shown as text in results and errors, with suspicious characters marked', async () => {
    const ids = await Promise.all(['wipe', 'fail'].map((tool) => desk().call(tool, {}, { caller: 'mallory' })));
    for (const id of ids)
      await desk().crib.approvals.answer(id, { decision: 'approve' }, { id: 'bob', operator: true });
    const page = await calls('?caller=mallory');
    page.on('dialog', () => expect.unreachable('a script ran'));
    await soon(async () => (await texts(page)).filter((text) => !text.includes('waiting')).length).toBe(2);
    for (const place of [1, 2]) {
      await rows(page).nth(place).click();
      await detail(page).getByText('<script>alert(1)</script>').waitFor();
      expect(await detail(page).innerText()).toContain('U+202E');
      expect(await detail(page).locator('script, img').count()).toBe(0);
    }
  });
});
