import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/index.ts';
import { modules } from '../../src/sources/modules/modules.ts';
import { createFolder, cribOver, namesIn, openCrib, say, toolModule, toolObject } from './fixtures/modules-folder.ts';

const INDEX = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);

describe('a scanned directory', () => {
  it('A tool of a scanned directory is listed and called.', async () => {
    const folder = createFolder();
    folder.write('greet.mjs', toolModule('greet', 'hello'));
    const crib = await cribOver(folder);
    expect([namesIn(crib), crib.get('greet')?.source, await say(crib, 'greet')]).toEqual([
      ['greet'],
      'plugins',
      'hello',
    ]);
    expect(crib.warnings()).toEqual([]);
  });

  it('Its tools belong to the bundle of its name.', async () => {
    const folder = createFolder();
    folder.write('greet.mjs', toolModule('greet'));
    const crib = await cribOver(folder);
    expect(crib.bundles.of('greet').map((bundle) => bundle.name)).toEqual(['plugins']);
  });

  it('A tool gets the service it needs, by identity.', async () => {
    const folder = createFolder();
    folder.write(
      'clock.mjs',
      `export const now = { name: 'now', description: 'The time', input: { type: 'object' }, needs: 'clock',
         execute: (_, call) => call.services.clock.now() };`,
    );
    const crib = await cribOver(folder, { crib: { services: { clock: { now: () => 'noon' } } } });
    expect(await say(crib, 'now')).toBe('noon');
  });

  it('The declared effects of a tool count: code that runs here is trusted, unless the configuration says otherwise.', async () => {
    const folder = createFolder();
    folder.write(
      'look.mjs',
      `export default { name: 'look', description: 'Looks', input: { type: 'object' }, effects: { readOnly: true }, execute() {} };`,
    );
    expect((await cribOver(folder)).get('look')?.effects).toEqual({ readOnly: true });
    expect((await cribOver(folder, { trust: false })).get('look')?.effects).toEqual({});
  });

  it('js, mjs, cjs, ts and mts are modules; hidden files, declarations, tests and node_modules are not.', async () => {
    const folder = createFolder();
    folder.write('package.json', '{ "type": "module" }');
    folder.write('a.js', toolModule('in_js'));
    folder.write('b.mjs', toolModule('in_mjs'));
    folder.write('c.cjs', `module.exports = ${toolObject('in_cjs')};`);
    folder.write(
      'd.ts',
      `const name: string = 'in_ts'; export const tool = { name, description: '', execute: () => name };`,
    );
    folder.write('e.mts', toolModule('in_mts'));
    folder.write('f.d.ts', 'export declare const nothing: string;');
    for (const file of ['.hidden.mjs', '.git/x.mjs', 'g.test.mjs', 'node_modules/p/index.mjs', 'notes.md'])
      folder.write(file, 'throw new Error("it was imported")');
    const crib = await cribOver(folder);
    expect([namesIn(crib), crib.warnings()]).toEqual([['in_js', 'in_mjs', 'in_cjs', 'in_ts', 'in_mts'], []]);
  });

  it('Discovery order is that of the names, folders among files.', async () => {
    const folder = createFolder();
    for (const file of ['z.mjs', 'b/two.mjs', 'b/one.mjs', 'a.mjs', 'C.mjs'])
      folder.write(file, toolModule(file.replace(/\W/g, '_')));
    expect(namesIn(await cribOver(folder))).toEqual(['C_mjs', 'a_mjs', 'b_one_mjs', 'b_two_mjs', 'z_mjs']);
  });

  it('One file may be used instead of a directory.', async () => {
    const folder = createFolder();
    folder.write('other.mjs', toolModule('other'));
    const path = folder.write('one.mjs', toolModule('one'));
    expect(namesIn(await cribOver(folder, { path }))).toEqual(['one']);
  });

  it('A symbolic link to a known file adds nothing, and a cycle of links ends.', async () => {
    const folder = createFolder();
    folder.write('inner/tool.mjs', toolModule('linked'));
    symlinkSync(join(folder.path, 'inner/tool.mjs'), join(folder.path, 'zz.mjs'));
    symlinkSync(folder.path, join(folder.path, 'inner/up'));
    symlinkSync(join(folder.path, 'nowhere.mjs'), join(folder.path, 'broken.mjs'));
    const crib = await cribOver(folder);
    expect([namesIn(crib), crib.warnings()]).toEqual([['linked'], [expect.stringContaining('broken.mjs')]]);
  });

  it('A missing directory is a failed source with a reason, and affects no other.', async () => {
    const folder = createFolder();
    const tool = defineTool({ name: 'mine', description: '', input: { type: 'object' }, run: () => 'mine' });
    const crib = await cribOver(folder, { path: join(folder.path, 'nowhere'), crib: { tools: [tool] } });
    expect(namesIn(crib)).toEqual(['mine']);
    expect(crib.sources().find(({ name }) => name === 'plugins')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(join(folder.path, 'nowhere')),
    });
  });

  it('An unknown option is named with the nearest known one.', () => {
    const options = { name: 'x', path: '.', wach: false };
    expect(() => modules(options)).toThrow('Did you mean "watch"?');
  });
});

describe('the exports of a module', () => {
  const exported = async (text: string) => {
    const folder = createFolder();
    const path = folder.write('module.mjs', text);
    const crib = await cribOver(folder);
    return { crib, path, names: namesIn(crib), warnings: crib.warnings() };
  };

  it.each([
    ['plain objects', `export const one = ${toolObject('one')}; export const two = ${toolObject('two')};`],
    ['a list', `export const all = [${toolObject('one')}, ${toolObject('two')}];`],
    ['a record as the default', `export default { one: ${toolObject('one')}, two: ${toolObject('two')} };`],
    ['a factory named tools', `export const tools = () => [${toolObject('one')}, ${toolObject('two')}];`],
    ['a factory that waits', `export default async () => [${toolObject('one')}, ${toolObject('two')}];`],
    [
      'tools that were defined',
      `import { defineTool } from ${INDEX};
       const define = (name) => defineTool({ name, description: '', input: { type: 'object' }, run: () => name });
       export const one = define('one'); export const two = define('two');`,
    ],
  ])('Tools are found in %s.', async (_, text) => {
    const { crib, names, warnings } = await exported(text);
    expect([names, warnings, await say(crib, 'two')]).toEqual([['one', 'two'], [], 'two']);
  });

  it('Exports of other kinds are skipped silently.', async () => {
    const { names, warnings } = await exported(
      `export const VERSION = '1'; export const NAMES = ['a']; export const options = { deep: true };
       export function parse() { throw new Error('called'); } export class Wrong extends Error {} export const none = null;
       export const tool = ${toolObject('tool')};`,
    );
    expect([names, warnings]).toEqual([['tool'], []]);
  });

  it.each([
    ['a bad name', `export const bad = { name: 'no good', description: '', execute() {} };`, '"no good"'],
    ['nothing to run', `export const bad = { name: 'idle', description: '' };`, 'idle'],
    ['an unknown key', `export const bad = { name: 'odd', descripton: '', execute() {} };`, 'descripton'],
    ['a default that is not a tool', 'export default 42;', '42'],
    ['a class', 'export default class Tool {}', 'class Tool is not a tool: an instance has no execute or run'],
    ['another class', 'export class Client {}', 'class Client is not a tool: it has no method execute or run'],
    ['an entry that is not a tool', `export const bad = [${toolObject('sound')}, 7];`, 'entry 2'],
    ['a throwing factory', `export function tools() { throw new Error('no licence'); }`, 'no licence'],
    ['a factory that makes nothing', 'export function tools() {}', 'nothing'],
    [
      'a getter that throws',
      `export default { name: 'x', description: '', get input() { throw new Error('boo'); }, execute() {} };`,
      'input',
    ],
  ])('A bad export, %s, is reported with its path, the rest loaded.', async (_, text, word) => {
    const { path, names, warnings } = await exported(`${text}\nexport const good = ${toolObject('good')};`);
    expect(names).toContain('good');
    expect(warnings).toEqual([expect.stringContaining(path)]);
    expect(warnings[0]).toContain(word);
  });

  it('Two modules that export the same tool bring it once, without a warning.', async () => {
    const folder = createFolder();
    folder.write('a-index.mjs', `export * from './tool.mjs'; export { tool as again } from './tool.mjs';`);
    folder.write('tool.mjs', `export const tool = ${toolObject('tool')};`);
    folder.write('z-list.mjs', `import { tool } from './tool.mjs'; export default [tool];`);
    const crib = await cribOver(folder);
    expect([namesIn(crib), crib.catalog.held, crib.warnings()]).toEqual([['tool'], [], []]);
  });

  it('Two tools of one name: the first in order owns it, the other is held back and reported.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', toolModule('same', 'first'));
    folder.write('b.mjs', toolModule('same', 'second'));
    const crib = await cribOver(folder);
    expect([await say(crib, 'same'), crib.warnings()]).toEqual([
      'first',
      [expect.stringContaining('"same" is defined twice')],
    ]);
  });
});

describe('bundles of a module', () => {
  const BUNDLE = `import { defineBundle } from ${INDEX};
    export const office = defineBundle({ name: 'office', instructions: 'Be brief.', setup: () => ({ state: 'ready' }),
      tools: [{ name: 'memo', description: '', input: { type: 'object' }, execute: (_, call) => call.state }] });`;

  it('A bundle reaches the crib with its tools, its texts and its setup, and profiles may name it.', async () => {
    const folder = createFolder();
    folder.write('office.mjs', BUNDLE);
    const crib = await cribOver(folder, { crib: { profiles: { writer: { active: 'office' } } } });
    const chest = await crib.open('writer');
    expect(crib.bundles.info('office')?.toolNames).toEqual(['memo']);
    expect([chest.active(), chest.instructions(), await say(crib, 'memo')]).toEqual([['office'], 'Be brief.', 'ready']);
    expect(crib.warnings()).toEqual([]);
  });

  it('A plain object with name and tools is a bundle, too.', async () => {
    const folder = createFolder();
    folder.write('office.mjs', `export default { name: 'office', tools: [${toolObject('memo')}] };`);
    const crib = await cribOver(folder);
    expect(crib.bundles.info('office')?.toolNames).toEqual(['memo']);
  });

  it('A bundle with a taken name is left out with a warning; the first keeps the name, the tools stay.', async () => {
    const folder = createFolder();
    folder.write('office.mjs', BUNDLE);
    const crib = await cribOver(folder, { crib: { bundles: [{ name: 'office', description: 'Mine' }] } });
    expect([crib.bundles.info('office')?.description, namesIn(crib)]).toEqual(['Mine', ['memo']]);
    expect(crib.warnings()).toEqual([expect.stringMatching(/plugins: Bundle "office" is left out: .*two bundles/)]);
  });

  it('A bundle may extend one that is found after it; one that extends an unknown bundle is left out.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', `export default { name: 'wide', extends: 'narrow', tools: [] };`);
    folder.write('b.mjs', `export default { name: 'narrow', tools: [${toolObject('deep')}] };`);
    folder.write('c.mjs', `export default { name: 'lost', extends: 'nowhere', tools: [] };`);
    const crib = await cribOver(folder);
    expect(crib.bundles.info('wide')?.toolNames).toEqual(['deep']);
    expect([crib.bundles.get('lost'), crib.warnings()]).toEqual([undefined, [expect.stringContaining('"lost"')]]);
  });

  it('A profile that names an unknown bundle is an error, and started sources are closed.', async () => {
    const folder = createFolder();
    folder.write('office.mjs', BUNDLE);
    let isClosed = false;
    const live = { specs: () => [], onChange: () => () => {}, status: () => ({ state: 'ready' as const }) };
    const close = async () => {
      isClosed = true;
    };
    const other = { name: 'other', start: async () => ({ ...live, close }) };
    const source = modules({ name: 'plugins', path: folder.path });
    const opening = openCrib({ sources: [source, other], profiles: { writer: { active: 'ofice' } } });
    await expect(opening).rejects.toThrow('Did you mean "office"?');
    expect(isClosed).toBe(true);
  });
});
