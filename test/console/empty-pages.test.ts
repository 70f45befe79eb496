import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser } from './harness.ts';
import { useSmallCrib } from './small-crib.ts';

const tool = (name: string, required: readonly string[], effects: object) => ({
  name,
  description: 'A tool to try',
  input: { type: 'object', properties: Object.fromEntries(required.map((one) => [one, { type: 'string' }])), required },
  effects,
  execute: () => 'done',
});

useBrowser();
const fresh = useSmallCrib({
  tools: [
    tool('facets', [], { destructive: true }),
    tool('read_page', ['address'], { readOnly: true }),
    tool('wipe_disk', ['name'], { destructive: true }),
  ],
});
const bare = useSmallCrib({ config: {} });

describe('a page with nothing in it', () => {
  it('names a tool of this crib to try, by its form and by the command to copy', async () => {
    const page = await openConsole(fresh(), { path: '/calls' });
    await page.getByText('No call was made yet.').waitFor();
    await page.getByRole('button', { name: 'Copy toolcrib call read_page address=ADDRESS' }).waitFor();
    await page.getByRole('button', { name: `Copy ${fresh().url}/mcp` }).waitFor();
    await page.goto(`${fresh().url}/approvals`);
    await page.getByText('No call waits for approval.').waitFor();
    await page.getByRole('button', { name: 'Copy toolcrib call wipe_disk name=NAME' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'wipe_disk' }).click();
    await page.getByRole('heading', { level: 1, name: 'wipe_disk' }).waitFor();
  });

  it('says how tools and sources are added, if there are none', async () => {
    const page = await openConsole(bare());
    await page.getByText('This crib has no tools yet.').waitFor();
    await page.getByRole('button', { name: 'Copy toolcrib init --from mcp.json' }).waitFor();
    await page.goto(`${bare().url}/sources`);
    await page.getByText('No source brings tools yet.').waitFor();
    await page.getByRole('button', { name: /^Copy toolcrib add mcp/ }).waitFor();
  });

  it('says why a tool that is named like a route has no page, and how it is called', async () => {
    const page = await openConsole(fresh());
    await page.getByRole('main').getByRole('link', { name: 'facets' }).click();
    await page.getByText('A tool of this name has no page.').waitFor();
    await page.getByRole('button', { name: /^Copy toolcrib call facets/ }).waitFor();
    await page.getByRole('link', { name: 'Show all tools' }).click();
    await page.getByRole('main').getByRole('link', { name: 'read_page' }).waitFor();
  });

  it('tells nothing that matches from nothing at all', async () => {
    const page = await openConsole(fresh(), { path: '/calls?status=failed' });
    await page.getByText('No call matches the filters.').waitFor();
    await page.goto(`${fresh().url}/tools?danger=unknown`);
    await page.getByText('No tool matches.').waitFor();
  });
});

describe('a page that could not be loaded', () => {
  it.each([
    ['/tools', '/api/tools?*', 'The tools could not be loaded.', 'read_page'],
    ['/calls', '/api/calls?*', 'The calls could not be loaded.', 'No call was made yet.'],
    ['/approvals', '/api/approvals?*', 'The approvals could not be loaded.', 'No call waits for approval.'],
  ])('%s says so, and loads it on request', async (path, address, says, after) => {
    const page = await openConsole(fresh(), { path: '/assets/icon.svg' });
    await page.route(`**${address}`, (route) =>
      route.fulfill({
        status: 503,
        json: { ok: false, error: { code: 'unavailable', message: 'The store is away.' } },
      }),
    );
    await page.goto(`${fresh().url}${path}`);
    await page.getByText(says).waitFor();
    expect(await page.getByRole('main').innerText()).toContain('The store is away.');
    await page.unroute(`**${address}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(after).first().waitFor();
  });
});
