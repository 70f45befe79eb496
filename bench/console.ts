import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createCrib } from '../src/index.ts';
import { closeBrowser, launch, newContext, serveCrib, signIn } from '../test/console/browser.ts';
import { printTable } from './measure.ts';

const SIZES = [100, 10_000];
const LOADS = 7;
const DEBOUNCE_MS = 60;
const QUERIES = ['send an invoice again', 'forward the parcel', 'translate meeting notes', 'restore a backup'];

const THINGS = ['invoice', 'parcel', 'ticket', 'meeting', 'backup'];
const VERBS = ['archive', 'translate', 'forward', 'summarize', 'validate', 'restore', 'send'];
const input = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;

function toolsOf(count: number) {
  return Array.from({ length: count }, (_, place) => {
    const [thing, verb] = [THINGS[place % THINGS.length] ?? '', VERBS[place % VERBS.length] ?? ''];
    const description = `${verb} the ${thing} number ${place} of a branch`;
    return { name: `${verb}_${thing}_${place}`, description, category: thing, input, execute: () => 'done' };
  });
}

/** Runs work with the console open on a crib of so many tools. */
async function withConsole<T>(count: number, work: (page: Page, url: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const crib = await createCrib({ tools: toolsOf(count), store: `sqlite:${join(folder, 'crib.db')}` });
  const server = await serveCrib(crib, folder);
  const context = await newContext();
  await signIn(context, server, true);
  try {
    return await work(await context.newPage(), server.url);
  } finally {
    await context.close();
    await server.stop();
    await crib.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds from the begin of the navigation to the first painted row. The files are in the cache of the browser. */
async function loadTimes(page: Page, url: string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round <= LOADS; round++) {
    await page.goto(`${url}/tools`);
    await page.locator('tbody tr a').first().waitFor();
    const painted = await page.evaluate(
      () => new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now()))),
    );
    if (round > 0) times.push(painted);
  }
  return times;
}

/** Milliseconds from each keystroke to the painted result for the words so far, without the debounce. */
async function keystrokeTimes(page: Page, url: string): Promise<readonly number[]> {
  await page.goto(`${url}/tools?q=warm`);
  await page.locator('[data-words="warm"]').waitFor();
  const times: number[] = [];
  for (const query of QUERIES) {
    await page.getByLabel('Search tools by meaning').fill('');
    for (let length = 1; length <= query.length; length++) {
      const words = query.slice(0, length).trim();
      const isSpace = query[length - 1] === ' '; // the words stay the same, and so does the result
      if (!isSpace) await page.evaluate(watchPaint, words);
      await page.keyboard.insertText(query[length - 1] ?? '');
      if (isSpace) continue;
      const time = await page.evaluate(() => (globalThis as unknown as Watched).painted);
      times.push(time - DEBOUNCE_MS);
    }
  }
  return times;
}

/** What `watchPaint` leaves in the browser. */
interface Watched {
  document: EventTarget & { querySelector(query: string): unknown };
  painted: Promise<number>;
}

/** Runs in the browser: measures from the next input to the frame after the rows for these words stand in the document. */
function watchPaint(words: string): void {
  const page = globalThis as unknown as Watched;
  page.painted = new Promise((resolve) => {
    const begin = () => {
      const start = performance.now();
      const look = () => {
        if (page.document.querySelector(`[data-words=${JSON.stringify(words)}]`) === null) requestAnimationFrame(look);
        else requestAnimationFrame(() => resolve(performance.now() - start));
      };
      requestAnimationFrame(look);
    };
    page.document.addEventListener('input', begin, { once: true });
  });
}

declare function requestAnimationFrame(listener: () => void): void;

const part = (times: readonly number[], share: number) => {
  const sorted = times.toSorted((a, b) => a - b);
  return `${(sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(0)} ms`;
};

await launch();
const rows = [['', 'p50', 'p95']];
for (const count of SIZES) {
  const name = `${count.toLocaleString('en')} tools`;
  const { loads, keys } = await withConsole(count, async (page, url) => ({
    loads: await loadTimes(page, url),
    keys: await keystrokeTimes(page, url),
  }));
  rows.push([`${name}: first row painted`, part(loads, 0.5), part(loads, 0.95)]);
  rows.push([`${name}: keystroke to painted result, without the debounce`, part(keys, 0.5), part(keys, 0.95)]);
}
printTable('The list of tools in the console', rows);
await closeBrowser();
