import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/index.ts';
import {
  createFolder,
  cribOver,
  namesIn,
  nextChange,
  nextWarning,
  say,
  toolModule,
  toolObject,
} from './fixtures/modules-folder.ts';

const NOTHING = { added: [], removed: [], changed: [] };

describe('reload', () => {
  it('Added, removed and changed modules are noticed.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', toolModule('same'));
    folder.write('b.mjs', toolModule('gone'));
    folder.write('c.mjs', toolModule('edited', 'before'));
    const crib = await cribOver(folder);
    folder.remove('b.mjs');
    folder.write('c.mjs', toolModule('edited', 'after'));
    folder.write('deep/d.mjs', toolModule('new'));
    expect(await crib.reload()).toEqual({ added: ['new'], removed: ['gone'], changed: ['edited'] });
    expect([namesIn(crib), await say(crib, 'edited')]).toEqual([['same', 'edited', 'new'], 'after']);
    expect(await crib.reload()).toEqual(NOTHING);
  });

  it('A changed function is a change, even if the rest of the tool is the same.', async () => {
    const folder = createFolder();
    const text = (answer: string) =>
      `export default { name: 't', description: '', input: { type: 'object' }, execute: () => '${answer}' };`;
    folder.write('t.mjs', text('before'));
    const crib = await cribOver(folder);
    folder.write('t.mjs', text('after'));
    expect([(await crib.reload()).changed, await say(crib, 't')]).toEqual([['t'], 'after']);
  });

  it('Tools of a file that did not change stay the same objects.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', toolModule('a'));
    folder.write('b.mjs', toolModule('b'));
    const crib = await cribOver(folder);
    const before = crib.get('a');
    folder.write('a.mjs', toolModule('a'));
    folder.write('b.mjs', toolModule('b', 'other'));
    expect((await crib.reload()).changed).toEqual(['b']);
    expect(crib.get('a')).toBe(before);
  });

  it('Tools registered in code survive.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', toolModule('found'));
    const crib = await cribOver(folder);
    crib.register(defineTool({ name: 'mine', description: '', input: { type: 'object' }, run: () => 'still here' }));
    folder.remove('a.mjs');
    expect(await crib.reload()).toEqual({ ...NOTHING, removed: ['found'] });
    expect(await say(crib, 'mine')).toBe('still here');
  });

  it('A broken edit keeps the old tools of that module and is reported; correcting it brings the new ones.', async () => {
    const folder = createFolder();
    const path = folder.write('t.mjs', toolModule('t', 'old'));
    const crib = await cribOver(folder);
    folder.write('t.mjs', 'export default {');
    folder.write('u.mjs', toolModule('u'));
    expect(await crib.reload()).toEqual({ ...NOTHING, added: ['u'] });
    expect(await say(crib, 't')).toBe('old');
    expect(crib.warnings()).toEqual([expect.stringContaining(`${path} keeps its old tools: `)]);
    folder.write('t.mjs', toolModule('t', 'new'));
    expect([(await crib.reload()).changed, await say(crib, 't')]).toEqual([['t'], 'new']);
  });

  it('An edit that is reverted restores the very same tool.', async () => {
    const folder = createFolder();
    folder.write('t.mjs', toolModule('t', 'old'));
    const crib = await cribOver(folder);
    folder.write('t.mjs', toolModule('t', 'new'));
    await crib.reload();
    folder.write('t.mjs', toolModule('t', 'old'));
    expect([(await crib.reload()).changed, await say(crib, 't')]).toEqual([['t'], 'old']);
  });

  it('A module that failed because another was missing is tried again once that one exists.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', `import { answer } from './lib/b.mjs'; ${toolModule('t')}`);
    const crib = await cribOver(folder);
    folder.write('lib/b.mjs', 'export const answer = 1;');
    expect((await crib.reload()).added).toEqual(['t']);
  });

  it('A tool that another module re-exports is the new one after its own module changed.', async () => {
    const folder = createFolder();
    folder.write('a-index.mjs', `export * from './tool.mjs'; export const other = ${toolObject('other')};`);
    folder.write('tool.mjs', `export const tool = ${toolObject('tool', 'old')};`);
    const crib = await cribOver(folder);
    folder.write('tool.mjs', `export const tool = ${toolObject('tool', 'new')};`);
    expect([(await crib.reload()).changed, await say(crib, 'tool')]).toEqual([['tool'], 'new']);
    folder.write('tool.mjs', `export const tool = ${toolObject('tool', 'newer')};`);
    expect([(await crib.reload()).changed, await say(crib, 'tool')]).toEqual([['tool'], 'newer']);
    expect([namesIn(crib), crib.catalog.held]).toEqual([['other', 'tool'], []]);
  });

  it('Another crib of the same process reads the current file.', async () => {
    const folder = createFolder();
    folder.write('t.mjs', toolModule('t', 'first'));
    await cribOver(folder);
    folder.write('t.mjs', toolModule('t', 'second'));
    expect(await say(await cribOver(folder), 't')).toBe('second');
  });

  it('A removed directory keeps its tools and is reported; one that appears later is read.', async () => {
    const folder = createFolder();
    folder.write('in/t.mjs', toolModule('t'));
    const path = join(folder.path, 'in');
    const crib = await cribOver(folder, { path });
    renameSync(path, join(folder.path, 'out'));
    expect(await crib.reload()).toEqual(NOTHING);
    expect(crib.sources().find(({ name }) => name === 'plugins')).toMatchObject({ state: 'down' });
    folder.write('in/u.mjs', toolModule('u'));
    expect(await crib.reload()).toEqual({ ...NOTHING, added: ['u'], removed: ['t'] });
    expect(crib.sources().every(({ state }) => state === 'ready')).toBe(true);
  });

  it('A bundle whose module changed is the new one, and is set up again.', async () => {
    const folder = createFolder();
    const text = (state: string) =>
      `export default { name: 'office', setup: () => ({ state: '${state}' }),
         tools: [{ name: 'memo', description: '', input: { type: 'object' }, execute: (_, call) => call.state }] };`;
    folder.write('office.mjs', text('old'));
    const crib = await cribOver(folder);
    expect(await say(crib, 'memo')).toBe('old');
    folder.write('office.mjs', text('new'));
    await crib.reload();
    expect([await say(crib, 'memo'), crib.warnings()]).toEqual(['new', []]);
  });
});

describe('watching', () => {
  it('An edit, an addition and a removal are announced automatically.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', toolModule('a', 'old'));
    const crib = await cribOver(folder, { watch: true });
    const edited = nextChange(crib);
    folder.write('a.mjs', toolModule('a', 'new'));
    expect(await edited).toEqual({ ...NOTHING, changed: ['a'] });
    expect(await say(crib, 'a')).toBe('new');
    const added = nextChange(crib);
    folder.write('b.mjs', toolModule('b'));
    expect(await added).toEqual({ ...NOTHING, added: ['b'] });
    const removed = nextChange(crib);
    folder.remove('a.mjs');
    expect(await removed).toEqual({ ...NOTHING, removed: ['a'] });
  });

  it('Modules in new folders are noticed, and so are their edits.', async () => {
    const folder = createFolder();
    const crib = await cribOver(folder, { watch: true });
    const added = nextChange(crib);
    folder.write('new/deep/t.mjs', toolModule('t', 'old'));
    expect(await added).toEqual({ ...NOTHING, added: ['t'] });
    const edited = nextChange(crib);
    folder.write('new/deep/t.mjs', toolModule('t', 'new'));
    expect(await edited).toEqual({ ...NOTHING, changed: ['t'] });
  });

  it('A file that an editor replaces is noticed, also if it is the only one.', async () => {
    const folder = createFolder();
    const path = folder.write('t.mjs', toolModule('t', 'old'));
    const crib = await cribOver(folder, { path, watch: true });
    const edited = nextChange(crib);
    renameSync(folder.write('t.mjs.tmp', toolModule('t', 'new')), path);
    expect([await edited, await say(crib, 't')]).toEqual([{ ...NOTHING, changed: ['t'] }, 'new']);
  });

  it('A broken edit keeps the old tools and is reported; the next one is seen.', async () => {
    const folder = createFolder();
    const path = folder.write('t.mjs', toolModule('t', 'old'));
    const crib = await cribOver(folder, { watch: true });
    const warned = nextWarning(path, 'keeps its old tools');
    folder.write('t.mjs', 'throw new Error("half a thought");');
    expect(await warned).toContain('half a thought');
    expect(await say(crib, 't')).toBe('old');
    const mended = nextChange(crib);
    folder.write('t.mjs', toolModule('t', 'new'));
    expect([await mended, await say(crib, 't')]).toEqual([{ ...NOTHING, changed: ['t'] }, 'new']);
  });

  it('A directory that does not exist yet is read when it appears.', async () => {
    const folder = createFolder();
    const crib = await cribOver(folder, { path: join(folder.path, 'later/plugins'), watch: true });
    const added = nextChange(crib);
    folder.write('later/plugins/t.mjs', toolModule('t'));
    expect(await added).toEqual({ ...NOTHING, added: ['t'] });
    expect(crib.sources().every(({ state }) => state === 'ready')).toBe(true);
  });
});
