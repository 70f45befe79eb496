import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/index.ts';
import { openConsole, useBrowser } from './harness.ts';
import { useSharedContext, useSmallCrib } from './small-crib.ts';

const input = (limit: object, more: object = {}) => ({
  type: 'object',
  properties: { limit: { type: 'integer', description: 'How many.', ...limit }, ...more },
  required: ['limit'],
});
const effects = { readOnly: true };
const list = (words: string, schema: object) => ({
  name: 'list_orders',
  description: words,
  input: schema,
  effects,
  execute: () => [{ id: 1 }],
});

useBrowser();
const server = useSmallCrib({
  tools: [list('Lists orders', input({ maximum: 100 }))],
  profiles: { team: {}, others: { exclude: ['list_orders'] } },
  defaultProfile: 'team',
  config: { access: { keys: true, roles: { support: { profiles: ['team'] } } } },
});
const context = useSharedContext(server);

const open = (query = '') => openConsole(server(), { path: `/tools/list_orders${query}`, context: context() });

describe('a tool', () => {
  it('has its schema as fields to read', async () => {
    const page = await open('?tab=definition');
    const panel = page.getByRole('tabpanel', { name: 'Definition' });
    await panel.getByText('at most 100').waitFor();
    await panel.getByText('How many.').waitFor();
    await page.getByRole('button', { name: 'JSON Schema' }).click();
    await page.getByText('"maximum": 100').waitFor();
  });

  it('shows what changed in its definition, and what that touches', async () => {
    const page = await open('?tab=history');
    await page.getByText('The first version that was seen.').waitFor();
    server().crib.unregister('list_orders');
    await server().crib.register(defineTool(list('Lists orders by date', input({ maximum: 50 })) as never));
    await expect.poll(() => page.getByText('narrowed').count()).toBeGreaterThan(0);
    await page.getByText('words changed').waitFor();
    await page.getByText('team', { exact: true }).waitFor();
  });

  it('is explained for a profile: visible or not, and which layer set each limit', async () => {
    const page = await open('?tab=explain');
    await page.getByText('under the profile team').waitFor();
    await page.getByRole('cell', { name: 'timeoutMs' }).waitFor();
    await page.getByRole('tabpanel').getByLabel('Profile').selectOption('others');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('Hidden').waitFor();
  });

  it('can be copied for every door', async () => {
    await context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await open(`?arguments=${encodeURIComponent('{"limit":7}')}`);
    for (const [name, text] of [
      ['curl', '/api/tools/execute/list_orders'],
      ['TypeScript', 'chest.call("list_orders", {"limit":7})'],
      ['Command line', 'toolcrib call list_orders --args \'{"limit":7}\''],
      ['MCP', '"method": "tools/call"'],
    ] as const) {
      await page.getByRole('button', { name: 'Copy as' }).click();
      await page.getByRole('menuitem', { name }).click();
      const copied = () =>
        page.evaluate(() =>
          (
            globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
          ).navigator.clipboard.readText(),
        );
      await expect.poll(copied, { message: name }).toContain(text);
    }
  });

  it('can be copied over plain http from another machine, where browsers have no clipboard for scripts', async () => {
    await context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await open();
    await page.evaluate(() => {
      const { Object: inBrowser, navigator } = globalThis as unknown as {
        Object: ObjectConstructor;
        navigator: object;
      };
      inBrowser.defineProperty(navigator, 'clipboard', { value: undefined });
    });
    await page.getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('menuitem', { name: 'curl' }).click();
    const other = await open();
    const copied = () =>
      other.evaluate(() =>
        (
          globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
        ).navigator.clipboard.readText(),
      );
    await expect.poll(copied).toContain('curl');
  });

  it('shows a caller its own views alone, and runs under its profile', async () => {
    const key = await server().keyFor('support');
    const page = await openConsole(server(), {
      signedIn: key,
      path: '/tools/list_orders?arguments=%7B%22limit%22%3A1%7D',
    });
    await page.getByRole('tab', { name: 'Definition' }).waitFor();
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Run', 'Definition']);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Done').waitFor();
  });
});
