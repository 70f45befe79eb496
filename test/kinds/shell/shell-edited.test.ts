import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { write } from '../../crib/workshop.ts';
import { removePrograms, SANDBOX, said, script, shellTool, shopWith, TEXT, withPrograms } from './shell-shop.ts';

afterAll(removePrograms);

const SILENT = JSON.stringify({ tools: [script('silent', 'echo ran')] });
const SHELL = { shell: { sandbox: 'none' } };
const STRICT = { data: { files: './specs', sandbox: 'required' } };

/** Edits that leave the tools of the source in use: a mistake in its entry, and edits that are refused as a whole. */
const EDITS: readonly (readonly [string, object])[] = [
  ['a mistake beside it', { sources: { data: { ...STRICT.data, prfix: 'x' } } }],
  ['a mistake in it', { sources: { data: { files: './specs', sandbox: 'requird' } } }],
  ['an extension that cannot be read', { sources: {}, extensions: { mine: { module: './missing.mjs' } } }],
  [
    'two sources that claim a name',
    { sources: { a: { files: './specs' }, b: { files: './specs' } }, onDuplicate: 'error' },
  ],
  [
    'a profile of a bundle that is not there',
    { sources: { data: { files: './specs' } }, profiles: { p: { bundles: ['x'] } } },
  ],
];

async function edit({ crib, folder }: Awaited<ReturnType<typeof shopWith>>, config: object): Promise<void> {
  write(folder, { 'toolcrib.json': JSON.stringify(config) });
  await crib.reload().catch(() => {}); // some are refused
}

describe('a sandbox that the operator requires at a source stays required after an edit with', () => {
  it.each(EDITS)('%s', async (_, config) => {
    withPrograms(['bwrap']);
    const files = { 'specs/a.json': SILENT };
    const shop = await shopWith({ tools: [], sandbox: 'none', files, rest: { sources: STRICT } });
    for (const again of [1, 2]) {
      await edit(shop, { executors: SHELL, ...config });
      expect([again, said(await shop.chest.call('silent', {}))]).toEqual([
        again,
        expect.stringMatching(/^unavailable: /),
      ]);
    }
  });
});

it('an accepted edit removes it', async () => {
  withPrograms(['bwrap']);
  const shop = await shopWith({
    tools: [],
    sandbox: 'none',
    files: { 'specs/a.json': SILENT },
    rest: { sources: STRICT },
  });
  await edit(shop, { executors: SHELL, sources: { data: { files: './specs' } } });
  expect(said(await shop.chest.call('silent', {}))).toBe('ran\n');
});

describe('no command writes a folder that a source still reads after an edit with', () => {
  const input = { path: TEXT, text: TEXT };
  const put = shellTool(
    'put',
    input,
    { command: ['tee', '--', '{path}'], stdin: '{text}' },
    { effects: { readOnly: false } },
  );
  const cases: readonly (readonly [string, object])[] = [
    ['a mistake in its entry', { sources: { data: { files: './specs', prfix: 'x' } } }],
    ['a list that cannot be reached in its place', { sources: { data: { http: 'http://127.0.0.1:9/' } } }],
    ['a folder in its place that is not there', { sources: { data: { files: './later' } } }],
    ['an extension that cannot be read', { sources: {}, extensions: { mine: { module: './missing.mjs' } } }],
  ];
  const modes = SANDBOX.ok ? (['required', 'none'] as const) : (['none'] as const);
  const table = cases.flatMap(([what, config]) => modes.map((mode) => [what, mode, config] as const));
  it.each(table)('%s, sandbox: %s', async (_, sandbox, config) => {
    const rest = { sources: { data: { files: './specs' } } };
    const shop = await shopWith({ tools: [put], sandbox, roots: ['.'], files: { 'specs/a.json': SILENT }, rest });
    const executors = { shell: { sandbox, roots: ['.'] } };
    for (const again of [1, 2]) {
      await edit(shop, { tools: [put], executors, ...config });
      const answer = said(await shop.chest.call('put', { path: 'specs/a.json', text: '{}' }));
      expect([again, answer]).toEqual([again, expect.stringContaining('controls what the crib runs')]);
    }
    expect(readFileSync(join(shop.folder, 'specs/a.json'), 'utf8')).toBe(SILENT);
  });

  it('an extension file that does not exist yet cannot be created while its edit is refused', async () => {
    const shop = await shopWith({ tools: [put], sandbox: 'none', roots: ['.'] });
    const extensions = { mine: { module: './missing.mjs' } };
    await edit(shop, { tools: [put], executors: { shell: { sandbox: 'none', roots: ['.'] } }, extensions });
    const answer = said(await shop.chest.call('put', { path: 'missing.mjs', text: 'export default 1' }));
    expect(answer).toContain('controls what the crib runs');
  });
});
