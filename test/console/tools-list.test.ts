import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser } from './harness.ts';
import { useSharedContext, useSmallCrib } from './small-crib.ts';

const THINGS = ['invoice', 'parcel', 'ticket', 'meeting', 'backup'];
const VERBS = ['archive', 'translate', 'forward', 'summarize', 'validate'];
const input = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };

/** 10,000 tools of five categories; the name of each is known. */
const TOOLS = Array.from({ length: 10_000 }, (_, place) => {
  const [thing, verb] = [THINGS[place % 5] ?? '', VERBS[Math.floor(place / 5) % 5] ?? ''];
  const mark = createHash('sha256').update(String(place)).digest('hex').slice(0, 4);
  return {
    name: `${verb}_${thing}_${String(place).padStart(5, '0')}`,
    description: `${verb} the ${thing} of branch ${mark}`,
    category: thing,
    input,
    effects: place % 10 === 0 ? { destructive: true } : { readOnly: true },
    execute: () => 'done',
  };
});

const RARE = {
  name: 'water_the_plants',
  description: 'Open the valve of the irrigation in the greenhouse',
  input,
  execute: () => 'done',
};

useBrowser();
const server = useSmallCrib({ tools: [...TOOLS, RARE] });
const context = useSharedContext(server);

const table = (page: Page) => page.getByRole('table', { name: 'Tools' });
const rowNames = (page: Page) => table(page).getByRole('row').locator('a').allTextContents();

async function openList(query = ''): Promise<Page> {
  const page = await openConsole(server(), { path: `/tools${query}`, context: context() });
  await page.getByText('10,001 tools · about').waitFor();
  return page;
}

describe('a list of 10,000 tools', () => {
  it('has all rows, of which only those in view exist, and scrolls to the last', async () => {
    const page = await openList();
    expect(await table(page).getAttribute('aria-rowcount')).toBe('10002');
    expect(await table(page).getByRole('row').count()).toBeLessThan(60);
    await table(page).evaluate((element) => {
      const scroller = element.parentElement;
      if (scroller !== null) scroller.scrollTop = scroller.scrollHeight;
    });
    await page.getByRole('link', { name: 'water_the_plants' }).waitFor();
    const last = table(page).getByRole('row', { name: /water_the_plants/ });
    expect(await last.getAttribute('aria-rowindex')).toBe('10002');
  });

  it('is searched by meaning, with scores, reasons and confidence; the words are in the address', async () => {
    const page = await openList();
    await page.keyboard.press('/');
    await page.keyboard.type('irrigation of the greenhouse');
    await expect.poll(() => rowNames(page).then(([first]) => first)).toBe('water_the_plants');
    await page.getByText('High confidence').waitFor();
    expect(await page.getByRole('meter', { name: 'Score' }).first().isVisible()).toBe(true);
    expect(await table(page).getByRole('row').nth(1).innerText()).toMatch(/irrigation|greenhouse/);
    expect(new URL(page.url()).searchParams.get('q')).toBe('irrigation of the greenhouse');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tools/water_the_plants');
    await page.goBack();
    await expect.poll(() => rowNames(page).then(([first]) => first)).toBe('water_the_plants');
  });

  it('shows all tools again when its page is chosen in the navigation, and the words again on the way back', async () => {
    const page = await openList('?q=forward%20a%20parcel');
    await page.getByText('High confidence').waitFor();
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Tools/ })
      .click();
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('');
    await page.getByText('High confidence').waitFor({ state: 'detached' });
    await page.goBack();
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('forward a parcel');
    await page.getByText('High confidence').waitFor();
  });

  it('is narrowed by facets with counts, which the address holds, and sorted', async () => {
    const page = await openList();
    await page.getByRole('checkbox', { name: /^invoice 2,000/ }).check({ force: true });
    await expect.poll(() => table(page).getAttribute('aria-rowcount')).toBe('2001');
    await page.getByRole('checkbox', { name: /^destructive/ }).check({ force: true });
    await expect.poll(() => table(page).getAttribute('aria-rowcount')).toBe('1001');
    const again = await openList(new URL(page.url()).search);
    expect(await table(again).getAttribute('aria-rowcount')).toBe('1001');
    await again.getByRole('button', { name: 'Name' }).click();
    await expect.poll(() => rowNames(again).then(([first]) => first)).toMatch(/^validate_invoice_099/);
    await again.getByRole('button', { name: 'Clear the filters' }).click();
    await expect.poll(() => table(again).getAttribute('aria-rowcount')).toBe('10002');
    await again.getByRole('searchbox').fill('qqqqzzzz');
    await again.getByRole('button', { name: 'Show all tools' }).click();
    await expect.poll(() => table(again).getAttribute('aria-rowcount')).toBe('10002');
  });

  it('counts what a search found beside the filters, and leaves as many rows', async () => {
    const page = await openList('?q=forward%20a%20parcel');
    await page.getByText('High confidence').waitFor();
    const choice = page.getByRole('checkbox', { name: /^parcel \d+$/ });
    const count = Number((await choice.locator('xpath=..').innerText()).match(/\d+$/)?.[0]);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(50);
    await choice.check({ force: true });
    await expect.poll(() => table(page).getAttribute('aria-rowcount')).toBe(String(count + 1));
  });

  it('is walked by J and K, and Enter opens the tool', async () => {
    const page = await openList();
    for (let step = 0; step < 60; step++) await page.keyboard.press('j');
    await page.keyboard.press('k');
    const chosen = table(page).locator('[data-chosen="true"]');
    expect(await chosen.getAttribute('aria-rowindex')).toBe('60');
    expect(await chosen.isVisible()).toBe(true);
    const name = await chosen.locator('a').textContent();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/tools/${name}`);
  });
});
