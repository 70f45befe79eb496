import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openConsole, useBrowser } from './harness.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOKEN = 'the-operator-token-of-the-first-minute';

/** The sentence of the README, so that what it says is what is tried. */
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const FIRST = /^Open the link that `npm start` prints\..*$/m.exec(README)?.[0] ?? '';
const [TO_RUN = '', TO_APPROVE = ''] = [...FIRST.matchAll(/"([^"]+)"/g)].map(([, words]) => words ?? '');

useBrowser();
const home = mkdtempSync(join(tmpdir(), 'toolcrib-first-minute-'));
let server: ChildProcess;
let url = '';

/** The starter as `npm start` serves it, from a copy whose store is its own. */
beforeAll(async () => {
  const starter = join(home, 'starter');
  cpSync(join(ROOT, 'examples/starter'), starter, { recursive: true, filter: (path) => !path.includes('.toolcrib') });
  mkdirSync(join(home, 'node_modules'));
  symlinkSync(ROOT, join(home, 'node_modules/toolcrib'));
  for (const name of ['@modelcontextprotocol', 'zod'])
    symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
  const env = {
    PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
    HOME: home,
    TOOLCRIB_OPERATOR_TOKEN: TOKEN,
  };
  const main = join(ROOT, 'dist/cli/main.js');
  server = spawn(process.execPath, [main, 'serve', '--config', join(starter, 'toolcrib.yaml'), '--port', '0'], { env });
  url = await new Promise((resolve, reject) => {
    let printed = '';
    const onText = (text: Buffer) => {
      printed += text;
      const [, found] = /listens on (http:\S+)/.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    };
    server.stdout?.on('data', onText);
    server.stderr?.on('data', onText);
    server.on('exit', () => reject(new Error(`The server has ended: ${printed}`)));
  });
});
afterAll(async () => {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await ended;
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

/** Searches for words, and opens the first tool that is found. */
async function openFirst(page: Page, words: string): Promise<void> {
  await page.getByRole('searchbox').fill(words);
  await page.locator(`[data-words="${words}"]`).getByText('High confidence').waitFor();
  await page.getByRole('table', { name: 'Tools' }).getByRole('row').nth(1).getByRole('link').click();
  await page.locator('.cm-content').waitFor();
}

const fill = (page: Page, name: string, text: string) =>
  page
    .getByRole('textbox', { name: new RegExp(`^${name}`) })
    .first()
    .fill(text);
const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();

it('in the first minute a newcomer finds a tool, runs it, approves a dangerous call, and sees what it cost', async () => {
  const page = await openConsole({ url, token: TOKEN }, { signedIn: false, path: `/tools?token=${TOKEN}` });
  await openFirst(page, TO_RUN);
  await fill(page, 'title', 'Groceries');
  await fill(page, 'body', 'Bread and milk');
  await run(page);
  await page.getByText('Kept "Groceries".').first().waitFor();

  await page
    .getByRole('link', { name: /^Tools/ })
    .first()
    .click();
  await openFirst(page, TO_APPROVE);
  await page.getByRole('heading', { level: 1, name: 'notes_remove' }).waitFor();
  await fill(page, 'title', 'Groceries');
  await run(page);
  const card = page.getByRole('article', { name: 'Request for approval' });
  await card.getByText('destructive', { exact: true }).waitFor();
  await card.getByRole('button', { name: /^Approve/, disabled: false }).click();
  await page.getByText('Removed "Groceries".').first().waitFor();

  await page.getByRole('link', { name: /^Calls/ }).click();
  for (const tool of ['notes_add', 'notes_remove']) {
    const row = page.getByRole('row').filter({ hasText: tool }).filter({ hasText: 'done' });
    expect(Number(await row.locator('[data-column="Tokens"]').innerText()), tool).toBeGreaterThan(0);
  }
  expect(await page.getByRole('navigation', { name: 'Pages' }).getByText('waiting').count()).toBe(0);
});
