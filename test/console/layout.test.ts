import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer();

/** What a starting source waits for changes once, when it has been idle for 10 seconds. */
const waitsFor = () =>
  server()
    .crib.sources()
    .find(({ name }) => name === 'ledger')?.reason;

/** Each page, with the heading or text that is there once it is complete. */
const PAGES: Readonly<Record<string, string>> = {
  '/tools': 'absence_assign',
  '/tools?q=cancel%20an%20order': 'order_delete',
  '/tools/report_build': 'Last calls',
  '/tools/report_build?tab=definition': 'includeTaxes',
  '/approvals': 'First request of this caller for this tool.',
  '/calls': 'coupon_delete',
  '/calls?view=conversations': 'chat-script',
  '/sources': 'ECONNREFUSED',
  '/sources/ledger': 'Server output',
};

/** A page that keeps what moved by itself since it was loaded. */
async function openAt(width: number): Promise<Page> {
  await expect.poll(waitsFor, { timeout: 30_000 }).toContain('was idle');
  const page = await openConsole(server(), { path: '/assets/icon.svg', width, height: 800 });
  await page.addInitScript(() => {
    const own = globalThis as unknown as {
      shifted: string[];
      PerformanceObserver: new (
        listener: (list: { getEntries(): { value: number; sources: { node?: { textContent: string } }[] }[] }) => void,
      ) => { observe(options: object): void };
    }; // in the browser, whose types this project does not have
    own.shifted = [];
    new own.PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries())
        if (value > 0.01) own.shifted.push(`${value}: ${sources[0]?.node?.textContent.slice(0, 80)}`);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return page;
}

async function goTo(page: Page, path: string, text: string): Promise<void> {
  await page.goto(`${server().url}${path}`);
  await page.getByText(text).filter({ visible: true }).first().waitFor();
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
}

/** Places that the reader would have to scroll sideways. The editor of JSON scrolls by itself. */
const tooWide = (page: Page) =>
  page.evaluate(() => {
    interface Element {
      readonly scrollWidth: number;
      readonly clientWidth: number;
      readonly className: string;
      readonly tagName: string;
    }
    const { document, getComputedStyle } = globalThis as unknown as {
      document: { querySelectorAll(what: string): Iterable<Element> };
      getComputedStyle(element: Element): { readonly overflowX: string };
    }; // in the browser
    return [...document.querySelectorAll('html, main, main *:not([class^="cm-"]), nav')]
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
      .filter((element) => element.tagName === 'HTML' || /auto|scroll/.test(getComputedStyle(element).overflowX))
      .map(
        ({ tagName, className, scrollWidth, clientWidth }) => `${tagName} ${className} ${scrollWidth}>${clientWidth}`,
      );
  });

describe.each([1024, 1280, 1440])('at a width of %d pixels', (width) => {
  it('every page has all of its columns in view, and nothing moves while it loads', async () => {
    const page = await openAt(width);
    const [call] = await server().crib.calls.list({ tool: 'execute_script', limit: 1 });
    const places = {
      ...PAGES,
      [`/calls/${call?.callId}`]: 'Audit',
      [`/calls/${call?.callId}?view=waterfall`]: 'Audit',
    };
    for (const [path, text] of Object.entries(places)) {
      await goTo(page, path, text);
      expect(await tooWide(page), path).toEqual([]);
      expect(await page.evaluate(() => (globalThis as unknown as { shifted: string[] }).shifted), path).toEqual([]);
    }
  });
});

/** Names that are cut off or covered. The editor of JSON scrolls by itself. */
const cutNames = (page: Page) =>
  page.evaluate(() => {
    interface Element {
      readonly scrollWidth: number;
      readonly clientWidth: number;
      readonly innerText: string;
      getBoundingClientRect(): { readonly left: number; readonly right: number };
    }
    const { document, innerWidth } = globalThis as unknown as {
      document: { querySelectorAll(what: string): Iterable<Element>; querySelector(what: string): Element | null };
      innerWidth: number;
    }; // in the browser
    const actions = document.querySelector('h1 + div');
    const edge = actions === null || actions.innerText === '' ? innerWidth : actions.getBoundingClientRect().left;
    return [
      ...[...document.querySelectorAll('main .name, main td:has(> a), main td span:has(> a)')].filter(
        ({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1,
      ),
      ...[...document.querySelectorAll('h1')].filter((title) => title.getBoundingClientRect().right > edge),
      ...[...document.querySelectorAll('main dt, main dd')].filter(
        (part) => part.getBoundingClientRect().right > innerWidth,
      ),
    ].map(({ innerText }) => innerText);
  });

describe('names', () => {
  it('are whole in lists beside filters and beside what is open, at 1,024 pixels', async () => {
    const page = await openAt(1024);
    for (const [path, text] of [
      ['/tools?q=cancel%20an%20order', 'order_delete'],
      ['/sources/ledger', 'Server output'],
      ['/calls', 'coupon_delete'],
    ] as const) {
      await goTo(page, path, text);
      expect(await cutNames(page), path).toEqual([]);
    }
    const tops = await page.locator('main :has(> [aria-label="Caller"]) > :is(input, select)').evaluateAll((parts) => [
      ...new Set(
        (parts as unknown as { getBoundingClientRect(): { top: number; bottom: number } }[]).map((part) => {
          const { top, bottom } = part.getBoundingClientRect();
          return Math.round((top + bottom) / 2);
        }),
      ),
    ]);
    expect(tops, 'the filters of the log stand in one line').toHaveLength(1);
  });

  it('fit the width of a phone, and no button covers them', async () => {
    const page = await openAt(390);
    const [call] = await server().crib.calls.list({ tool: 'execute_script', limit: 1 });
    await goTo(page, '/tools/report_build?tab=definition', 'includeTaxes');
    expect(await cutNames(page)).toEqual([]);
    await goTo(page, `/calls/${call?.callId}`, 'Audit');
    const covered = await page.evaluate(() => {
      const { document } = globalThis as unknown as {
        document: { querySelector(what: string): { getBoundingClientRect(): { left: number; right: number } } };
      }; // in the browser
      const [name, actions] = [document.querySelector('h1 > .name'), document.querySelector('h1 + div')];
      return name.getBoundingClientRect().right > actions.getBoundingClientRect().left;
    });
    expect(covered).toBe(false);
  });
});

describe('on a phone', () => {
  it('the filters of the tools are folded above the list, open over its whole width, and say what is chosen', async () => {
    const page = await openAt(390);
    await goTo(page, '/tools', 'absence_assign');
    expect(await page.evaluate(() => (globalThis as unknown as { shifted: string[] }).shifted)).toEqual([]);
    const fold = page.getByRole('button', { name: /^Filters/ });
    const values = page.getByRole('complementary', { name: 'Filters' });
    expect(await values.isVisible()).toBe(false);
    await fold.click();
    await values.getByText('destructive').click();
    await values.getByText('billing').first().click();
    expect(await tooWide(page)).toEqual([]);
    await fold.click();
    expect(await fold.innerText()).toMatch(/destructive, billing$/);
    const names = await page.getByRole('table', { name: 'Tools' }).getByRole('row').locator('a').allInnerTexts();
    expect(names).toContain('invoice_delete');
    expect(names).not.toContain('absence_delete');
  });

  it('the waterfall stays above the detail of the call that was touched', async () => {
    const page = await openAt(390);
    const [call] = await server().crib.calls.list({ tool: 'execute_script', limit: 1 });
    await goTo(page, `/calls/${call?.callId}`, 'Audit');
    await page.getByRole('link', { name: 'Show the waterfall' }).click();
    const bars = page.getByRole('treegrid', { name: 'Nested calls' });
    await bars.getByRole('row', { name: /order_export/ }).click();
    await page.getByRole('heading', { name: 'order_export' }).waitFor();
    expect(await bars.getByRole('row', { name: /order_export/ }).isVisible()).toBe(true);
    expect(await tooWide(page)).toEqual([]);
  });
});
