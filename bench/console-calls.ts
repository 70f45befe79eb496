// Measures the log of calls in a browser while 200 calls a second end. Run npm run build before.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCrib } from '../src/index.ts';
import { closeBrowser, newContext, serveCrib, signIn } from '../test/console/browser.ts';
import { printTable } from './measure.ts';

const PER_SECOND = 200;
const SECONDS = 10;
/** The first seconds load code and data. */
const WARM_UP_SECONDS = 3;

/** Runs in the page: longest tasks, and how old the newest call is whenever a frame is painted. */
const WATCH = `
  globalThis.seen = { tasks: [], ages: [] };
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) seen.tasks.push(duration); }).observe({ entryTypes: ['longtask'] });
  const look = () => {
    const newest = document.querySelector('[role="rowgroup"] [aria-rowindex="2"] time')?.dateTime;
    if (newest !== undefined) seen.ages.push(Date.now() - Date.parse(newest));
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
`;

/** How far the log is behind, and how long its tasks are, at 200 calls a second. */
async function benchConsoleCalls(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  writeFileSync(join(folder, 'toolcrib.yaml'), 'defaultProfile: all\nprofiles: { all: {} }\n');
  const look = { name: 'look', description: 'Looks', input: { type: 'object' }, run: () => 'seen' } as const;
  const crib = await createCrib({ configFile: folder, tools: [look], store: { url: 'memory:' }, watch: false });
  const server = await serveCrib(crib, folder);
  const context = await newContext();
  try {
    await signIn(context, server, true);
    const page = await context.newPage();
    await page.goto(`${server.url}/calls`);
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const chest = await crib.open('all', { id: 'bench', roles: [] });
    const makeCalls = async (seconds: number) => {
      const begin = performance.now();
      for (let made = 0; made < seconds * PER_SECOND; made++) {
        void chest.call('look', { made }, { conversation: `chat-${made % 10}` });
        const ahead = (made / PER_SECOND) * 1000 - (performance.now() - begin);
        if (ahead > 4) await wait(ahead);
      }
    };
    await makeCalls(WARM_UP_SECONDS);
    await page.evaluate(WATCH);
    await makeCalls(SECONDS);
    const { tasks, ages } = await page.evaluate<{ tasks: number[]; ages: number[] }>('seen');
    const sorted = ages.toSorted((a, b) => a - b);
    printTable(`The log of calls at ${PER_SECOND} calls a second, ${SECONDS} s`, [
      ['tasks above 50 ms', String(tasks.length)],
      ['longest task', tasks.length === 0 ? 'under 50 ms' : `${Math.max(...tasks).toFixed(0)} ms`],
      ['newest call in the table is behind by, p50', `${sorted[Math.floor(sorted.length / 2)]} ms`],
      ['at most', `${sorted.at(-1)} ms`],
      ['frames painted', String(ages.length)],
    ]);
  } finally {
    await context.close();
    await server.stop();
    await crib.close();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
  }
}

await benchConsoleCalls();
