import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { openConsole, useBrowser } from './harness.ts';
import { useSmallCrib } from './small-crib.ts';

const NOTES = join(import.meta.dirname, '../../examples/starter/notes-server.js');

const folder = mkdtempSync(join(tmpdir(), 'toolcrib-trouble-'));
const program = join(folder, 'server.mjs');
writeFileSync(program, "console.error('the licence has expired'); process.exitCode = 1;\n");
const run = { kind: 'shell', command: ['true'] };
const specs = [
  { name: 'good_tool', description: 'Works', input: { type: 'object' }, run },
  { name: 'bad_tool', description: 'Has a schema that is not one', input: { type: 'strange' }, run },
];
writeFileSync(join(folder, 'tools.json'), JSON.stringify({ tools: specs }));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

useBrowser();
const server = useSmallCrib({
  background: true,
  watch: false,
  config: {
    sources: {
      files: { files: join(folder, 'tools.json') },
      notes: { mcp: { command: 'node', args: [program] }, trust: true },
    },
  },
});

it('a failed source stands in the list with its reason, and Retry brings its tools', async () => {
  const page = await openConsole(server());
  const row = page.getByRole('row').filter({ hasText: 'the licence has expired' });
  await row.getByText('source failed').waitFor();
  writeFileSync(program, `await import(${JSON.stringify(pathToFileURL(NOTES).href)});\n`);
  await row.getByRole('button', { name: 'Retry' }).click();
  await page
    .getByRole('link', { name: /^notes_/ })
    .first()
    .waitFor();
  await expect.poll(() => row.getByText('source failed').count()).toBe(0);
});

it('an entry that did not become a tool is listed with its reason', async () => {
  const page = await openConsole(server());
  const row = page.getByRole('row').filter({ hasText: 'left out' });
  await expect.poll(() => row.innerText()).toContain('its type is "strange"');
  await page.getByRole('link', { name: 'good_tool' }).waitFor();
});

it('a tool that is removed while its page is open says so, keeps what was typed, and works again when it is back', async () => {
  const page = await openConsole(server(), { path: '/tools/good_tool' });
  await page.getByLabel('Name of a new member').waitFor();
  writeFileSync(join(folder, 'tools.json'), JSON.stringify({ tools: [] }));
  await server().crib.reload();
  await page.getByText('The tool "good_tool" was not found.').waitFor();
  await page.getByLabel('Name of a new member').waitFor();
  expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  writeFileSync(join(folder, 'tools.json'), JSON.stringify({ tools: specs }));
  await server().crib.reload();
  await page.getByText('was not found').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Done', { exact: true }).waitFor();
});
