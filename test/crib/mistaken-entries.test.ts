// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { serve } from '../doors/rest/served.ts';
import { cribOf, folderWith, namesOf, nextChange, write } from './workshop.ts';

const GOOD = '{ name: good, description: Good, run: { kind: http, url: "https://x.y" } }';
const SPECS = JSON.stringify([{ name: 'good', description: '', run: { kind: 'http', url: 'https://x.y' } }]);
const sourceOf = (crib: Awaited<ReturnType<typeof cribOf>>, name: string) =>
  crib.sources().find((source) => source.name === name);

describe('a source with an error in its entry', () => {
  it('is listed as failed with file, line and remedy, and one warning is printed', async () => {
    const folder = folderWith({ 'toolcrib.yaml': `sources:\n  gh: { url: "https://x.y" }\ntools: [${GOOD}]\n` });
    const crib = await cribOf(folder, { watch: false });
    const cure =
      'sources.gh has "url" but not "mcp": write gh: { mcp: { url: ... } }, or move the entry under mcpServers.';
    expect(sourceOf(crib, 'gh')).toEqual({
      name: 'gh',
      state: 'failed',
      toolCount: 0,
      reason: `toolcrib.yaml:2: ${cure}`,
    });
    expect(crib.warnings()).toEqual([`toolcrib.yaml:2: Source "gh": ${cure}`]);
    expect(namesOf(crib)).toEqual(['good']);
  });

  it('reports all of its errors', async () => {
    const crib = await createCrib({ config: JSON.parse('{"sources": {"bad": {"files": 1, "trust": "maybe"}}}') });
    expect(sourceOf(crib, 'bad')).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^sources\.bad\.files must be .* sources\.bad\.trust must be /),
    });
    expect(crib.warnings()).toHaveLength(2);
    await crib.close();
  });

  it('is listed by REST', async () => {
    const { ask, token } = await serve({
      folder: folderWith({ 'toolcrib.yaml': 'sources: { fs: { command: npx, args: [-y, x] } }\n' }),
    });
    const { json } = await ask('/api/sources', { token });
    expect(json.sources).toContainEqual(
      expect.objectContaining({
        name: 'fs',
        state: 'failed',
        reason: expect.stringContaining('mcp: { command: ... }'),
      }),
    );
    expect((await ask('/api/sources/fs/reload', { method: 'POST', token })).status).toBe(200);
  });

  it('does not break a profile that names its bundle', async () => {
    const config = `sources:\n  gh: { url: "https://x.y" }\n  "odd name": { url: "https://x.y" }\nprofiles: { a: { essential: gh } }\n`;
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': config }), { watch: false });
    expect(crib.profiles()).toEqual(['a']);
    expect(sourceOf(crib, 'odd name')).toMatchObject({ state: 'failed' });
    expect(crib.bundles.get('odd name')).toBeUndefined();
  });

  it('starts when its entry is corrected, and its tools stay when the entry breaks', async () => {
    const bad = 'sources: { gh: { fils: ./tools.json } }\n';
    const folder = folderWith({ 'toolcrib.yaml': bad, 'tools.json': SPECS });
    const crib = await cribOf(folder);
    expect(sourceOf(crib, 'gh')).toMatchObject({ state: 'failed' });
    const change = nextChange(crib);
    write(folder, { 'toolcrib.yaml': bad.replace('fils', 'files') });
    await change;
    expect(sourceOf(crib, 'gh')).toEqual({ name: 'gh', state: 'ready', toolCount: 1 });
    expect(crib.warnings()).toEqual([]);
    write(folder, { 'toolcrib.yaml': bad });
    await crib.reload();
    expect(sourceOf(crib, 'gh')).toMatchObject({ state: 'stale', toolCount: 1 });
  });

  it('that was to stop at an edit has stopped, and fails', async () => {
    const good = 'sources: { gh: { files: ./tools.json, onChange: stop } }\n';
    const folder = folderWith({ 'toolcrib.yaml': good, 'tools.json': SPECS });
    const crib = await cribOf(folder, { watch: false });
    expect(namesOf(crib)).toEqual(['good']);
    write(folder, { 'toolcrib.yaml': good.replace('files', 'fils') });
    await crib.reload();
    expect([namesOf(crib), sourceOf(crib, 'gh')?.state]).toEqual([[], 'failed']);
    write(folder, { 'toolcrib.yaml': good });
    await crib.reload();
    expect([namesOf(crib), sourceOf(crib, 'gh')?.state]).toEqual([['good'], 'ready']);
  });
});

describe('a bad tool of the configuration', () => {
  it.each([
    [
      'a bad name',
      '{ name: "a b", description: x, run: { kind: shell, command: [ls] } }',
      'tools[0].name must be letters',
    ],
    ['no run', '{ name: a, description: x }', 'tools[0] needs one of run, tool_type'],
    ['nothing', '', 'tools[0] is empty'],
    ['a text for a tool', 'words', 'tools[0] must be a map'],
    ['an unknown kind', '{ name: a, description: x, run: { kind: shel, command: [ls] } }', 'Did you mean "shell"?'],
    ['a shell string', '{ name: a, description: x, run: { kind: shell, command: "ls -l" } }', '[ls, "-l"]'],
    [
      'a pipe',
      '{ name: a, description: x, run: { kind: shell, command: "ls | wc" } }',
      'needs a shell: [sh, -c, "ls | wc"]',
    ],
    ['a variable that is missing', '{ name: a, description: x, run: { kind: http, url: "${NO_SUCH}" } }', 'NO_SUCH'],
  ])('affects no other tool and is reported with its line: %s', async (_, tool, message) => {
    const folder = folderWith({ 'toolcrib.yaml': `# first\ntools:\n  - ${tool}\n  - ${GOOD}\n` });
    const crib = await cribOf(folder, { watch: false });
    expect(namesOf(crib)).toEqual(['good']);
    expect(sourceOf(crib, 'inline')).toMatchObject({ state: 'ready', reason: expect.stringContaining(message) });
    expect(crib.warnings()).toEqual([expect.stringContaining(message)]);
    expect(crib.warnings()[0]).toMatch(/toolcrib\.yaml(:3:|, line 3)/);
  });

  it('among bad ones only makes the source fail', async () => {
    const crib = await createCrib({ config: { tools: [{ name: 'a b', run: { kind: 'x' } }] } });
    expect(sourceOf(crib, 'inline')).toMatchObject({ state: 'failed', toolCount: 0 });
    await crib.close();
  });

  it('is left out by an edit, and twenty of them hide no error elsewhere', async () => {
    const bad = Array.from({ length: 30 }, () => '  - { name: "a b" }\n').join('');
    const folder = folderWith({ 'toolcrib.yaml': `tools:\n  - ${GOOD}\n` });
    const crib = await cribOf(folder, { watch: false });
    write(folder, { 'toolcrib.yaml': `tools:\n${bad}  - ${GOOD.replaceAll('good', 'better')}\n` });
    await crib.reload();
    expect(namesOf(crib)).toEqual(['better']);
    write(folder, { 'toolcrib.yaml': `tools:\n${bad}server: { port: x }\n` });
    await expect(crib.reload()).rejects.toThrow('server.port must be a whole number');
    expect(namesOf(crib)).toEqual(['better']);
  });
});

describe('a bad tool of a spec file', () => {
  it('affects no other tool and is named with file and line', async () => {
    const specs = `tools:\n- ${GOOD}\n- { name: bad, description: x, run: { kind: shell, command: ls } }\n`;
    const folder = folderWith({ 'toolcrib.yaml': 'sources: { f: { files: ./tools.yaml } }\n', 'tools.yaml': specs });
    const crib = await cribOf(folder, { watch: false });
    expect(namesOf(crib)).toEqual(['good']);
    const reason = expect.stringMatching(/tools\.yaml, line 3: Tool "bad" .*: \[ls\]\.$/);
    expect(sourceOf(crib, 'f')).toMatchObject({ state: 'ready', reason });
    expect(crib.warnings()).toEqual([reason]);
  });
});

describe('a source of several files', () => {
  it('is ready with a warning if one is bad, and failed if all are', async () => {
    const good = `export const good = { name: 'good', description: 'x', input: {}, execute: () => 1 };\n`;
    const spec = `tools: [${GOOD.replace('good', 'spec')}]\n`;
    const folder = folderWith({
      'toolcrib.yaml':
        'sources: { f: { files: ./specs }, g: { files: [./specs/a.yaml, ./gone.yaml] }, m: { modules: ./code }, n: { modules: ./code/bad.js } }\n',
      'specs/a.yaml': spec,
      'specs/b.yaml': 'tools: [',
      'code/good.js': good,
      'code/bad.js': 'throw new Error("no");\n',
    });
    const crib = await cribOf(folder, { watch: false });
    const states = crib.sources().map(({ name, state, reason }) => [name, state, reason]);
    expect(states).toEqual([
      ['code', 'ready', undefined],
      ['f', 'ready', expect.stringContaining('b.yaml')],
      ['g', 'ready', expect.stringContaining('gone.yaml')],
      ['m', 'ready', expect.stringContaining('bad.js')],
      ['n', 'failed', expect.stringContaining('bad.js')],
    ]);
  });
});
