import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createWorkshop } from './workshop.ts';

const RECORDED = join(import.meta.dirname, '../../search/set/playwright-tools.json');
const SERVER = join(import.meta.dirname, '../../kinds/mcp/servers/recorded.ts');

interface Found {
  readonly results: readonly { readonly name: string; readonly bundle: string; readonly score: number }[];
}

it('`toolcrib search "click a button" --expand` over the tools of the Playwright MCP server brings the browser bundle', async () => {
  const { tools } = JSON.parse(readFileSync(RECORDED, 'utf8')) as { tools: readonly { name: string }[] };
  const workshop = createWorkshop({
    'toolcrib.json': JSON.stringify({
      sources: { browser: { mcp: { command: process.execPath, args: [SERVER, RECORDED] } } },
      tools: [
        {
          name: 'press_release',
          description: 'Write a press release',
          run: { kind: 'http', url: 'https://example.com' },
        },
        {
          name: 'list_orders',
          description: 'List the orders of a customer',
          run: { kind: 'http', url: 'https://example.com' },
        },
      ],
    }),
  });
  onTestFinished(workshop.remove);
  const found = (await workshop.json(['search', 'click a button', '--expand'])) as Found;
  expect(found.results[0]).toMatchObject({ name: 'browser_click', bundle: 'browser' });
  const names = found.results.map(({ name }) => name);
  for (const { name } of tools) expect(names).toContain(name);
  expect(new Set(names).size).toBe(names.length);
  const alone = (await workshop.json(['search', 'click a button', '--limit', '3'])) as Found;
  expect(alone.results[0]?.name).toBe('browser_click');
  expect(alone.results.length).toBeLessThanOrEqual(3);
});
