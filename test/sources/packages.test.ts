import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packages } from '../../src/sources/modules/packages.ts';
import { namesIn, openCrib, say, toolModule, toolObject } from './fixtures/modules-folder.ts';
import { createProject, cribOf } from './fixtures/packages-project.ts';

const INDEX = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);
const NOTHING = { added: [], removed: [], changed: [] };

describe('installed packages', () => {
  it('A tool that an installed package offers is listed and called, with a service it needs.', async () => {
    const project = createProject('weather');
    const text = `export const forecast = { name: 'forecast', description: 'Tomorrow', input: { type: 'object' },
      needs: 'sky', execute: (_, call) => call.services.sky.colour };`;
    project.install(
      'weather',
      { 'dist/tools.js': text },
      { toolcrib: { tools: { forecast: './dist/tools.js#forecast' } } },
    );
    const crib = await cribOf(project, { services: { sky: { colour: 'blue' } } });
    expect([namesIn(crib), crib.get('forecast')?.source, await say(crib, 'forecast')]).toEqual([
      ['forecast'],
      'npm',
      'blue',
    ]);
    expect(crib.warnings()).toEqual([]);
  });

  it('A package with its own copy of this one works, with tools and bundles.', async () => {
    const project = createProject('office');
    const text = `import { defineBundle, defineTool } from ${INDEX};
      const define = (name) => defineTool({ name, description: '', input: { type: 'object' }, run: () => name });
      export const stamp = define('stamp');
      export const desk = defineBundle({ name: 'desk', instructions: 'Sit.', tools: [define('lamp')] });`;
    const toolcrib = { tools: { stamp: './main.js#stamp' }, bundles: { desk: './main.js#desk' } };
    project.install('office', { 'main.js': text }, { toolcrib });
    const slow = packages({ name: 'npm', folder: project.path, importTimeoutMs: 30_000 }); // its copy is all of this package
    const crib = await openCrib({ sources: [slow] });
    expect([await say(crib, 'stamp'), await say(crib, 'lamp')]).toEqual(['stamp', 'lamp']);
    expect([crib.bundles.info('desk')?.toolNames, crib.instructions()]).toEqual([['lamp'], 'Sit.']);
  });

  it('An entry without an export means the default one, else the only one; a function it names is called.', async () => {
    const project = createProject('p');
    project.install(
      'p',
      {
        'standard.js': `${toolModule('standard')} export const other = 1;`,
        'only.js': `export const only = ${toolObject('only')};`,
        'made.js': `export const make = () => (${toolObject('made')}); export default () => { throw new Error('called'); };`,
        'common.cjs': `module.exports = { common: ${toolObject('common')} };`,
      },
      {
        toolcrib: {
          tools: { standard: './standard.js', only: 'only.js', made: './made.js#make', common: './common.cjs#common' },
        },
      },
    );
    const crib = await cribOf(project);
    expect([namesIn(crib), crib.warnings()]).toEqual([['standard', 'only', 'made', 'common'], []]);
  });

  it('A package without the field is never imported, nor is one that the project does not depend on.', async () => {
    const project = createProject('plain', 'user-of-toolcrib');
    const trap = { 'index.js': 'throw new Error("it was imported")' };
    project.install('plain', trap);
    project.install('user-of-toolcrib', trap, { dependencies: { toolcrib: '*' } });
    project.install('stranger', trap, { toolcrib: { tools: { t: './index.js' } } });
    const crib = await cribOf(project);
    expect([namesIn(crib), crib.warnings()]).toEqual([[], []]);
  });

  it('Dependencies of every sort count, in the order of their names; one that is not installed is skipped.', async () => {
    const project = createProject();
    project.write(
      'package.json',
      JSON.stringify({
        dependencies: { zeta: '*' },
        devDependencies: { '@s/mid': '*' },
        optionalDependencies: { away: '*', alpha: '*' },
      }),
    );
    for (const name of ['zeta', '@s/mid', 'alpha']) {
      const tool = name.replace('@s/', '');
      project.install(name, { 'i.js': toolModule(tool) }, { toolcrib: { tools: { [tool]: './i.js' } } });
    }
    expect(namesIn(await cribOf(project))).toEqual(['mid', 'alpha', 'zeta']);
  });

  it('Without a package.json everything in node_modules counts, scopes too.', async () => {
    const project = createProject();
    project.remove('package.json');
    for (const name of ['one', '@scope/two'])
      project.install(
        name,
        { 'i.js': toolModule(name.slice(-3)) },
        { toolcrib: { tools: { [name.slice(-3)]: './i.js' } } },
      );
    project.write('node_modules/.package-lock.json', '{}');
    expect(namesIn(await cribOf(project))).toEqual(['two', 'one']);
  });

  it('Packages are found upwards, as Node finds them, and linked ones where they live.', async () => {
    const project = createProject();
    project.install('hoisted', { 'i.ts': toolModule('hoisted') }, { toolcrib: { tools: { hoisted: './i.ts' } } });
    renameSync(join(project.path, 'node_modules/hoisted'), join(project.path, 'linked'));
    symlinkSync(join(project.path, 'linked'), join(project.path, 'node_modules/hoisted'));
    project.write('apps/one/package.json', JSON.stringify({ dependencies: { hoisted: '*' } }));
    const folder = project.write('apps/one/config/x', '');
    const crib = await openCrib({ sources: [packages({ name: 'npm', folder: join(folder, '..') })] });
    expect([namesIn(crib), crib.warnings()]).toEqual([['hoisted'], []]);
  });
});

describe('possible mistakes of a package', () => {
  it.each([
    ['a file that is not there', { bad: './nowhere.js' }, 'nowhere.js'],
    ['a file outside of it', { bad: '../../package.json' }, 'outside'],
    ['no path', { bad: 7 }, 'got 7'],
    ['an export that is not there', { bad: './good.js#bad' }, 'it exports default, number'],
    ['an export that is not a tool', { bad: './good.js#number' }, '42'],
    ['a module that throws', { bad: './throws.js' }, 'no luck'],
    ['a module that exits', { bad: './exits.js' }, 'process.exit(1)'],
    ['a module that hangs', { bad: './hangs.js' }, '1000 ms'],
    ['TypeScript', { bad: './typed.ts' }, 'ship it as JavaScript'],
  ])('Reported with the package and the path, the rest loaded: %s.', async (_, tools, word) => {
    const project = createProject('p');
    project.install(
      'p',
      {
        'good.js': `${toolModule('good')} export const number = 42;`,
        'throws.js': 'throw new Error("no luck");',
        'exits.js': 'process.exit(1);',
        'hangs.js': 'for (;;);',
        'typed.ts': toolModule('typed'),
      },
      { toolcrib: { tools: { ...tools, good: './good.js' } } },
    );
    const crib = await cribOf(project);
    expect(namesIn(crib)).toEqual(['good']);
    expect(crib.warnings()).toEqual([expect.stringContaining('Package "p"')]);
    expect(crib.warnings()[0]).toContain(join(project.path, 'node_modules/p'));
    expect(crib.warnings()[0]).toContain(word);
  });

  it('A tool that is offered under another name keeps its own, and the difference is reported.', async () => {
    const project = createProject('p');
    project.install('p', { 'i.js': toolModule('real') }, { toolcrib: { tools: { offered: './i.js' } } });
    const crib = await cribOf(project);
    expect(namesIn(crib)).toEqual(['real']);
    expect(crib.warnings()).toEqual([
      expect.stringMatching(/Package "p".*"toolcrib.tools.offered".*the tool's own name "real" is used/),
    ]);
  });

  it.each([
    ['a field that is not an object', '{ "toolcrib": true }', 'must be an object'],
    ['tools that are a list', '{ "toolcrib": { "tools": ["a"] } }', 'a list'],
    ['a package.json that is not JSON', '{ "toolcrib": ', 'not JSON'],
  ])('Reported, and only its package fails: %s.', async (_, manifest, word) => {
    const project = createProject('broken', 'sound');
    project.write('node_modules/broken/package.json', manifest);
    project.install('sound', { 'i.js': toolModule('sound') }, { toolcrib: { tools: { sound: './i.js' } } });
    const crib = await cribOf(project);
    expect([namesIn(crib), crib.warnings()]).toEqual([['sound'], [expect.stringContaining('broken')]]);
    expect(crib.warnings()[0]).toContain(word);
  });
});

describe('reload of packages', () => {
  const offer = (...names: readonly string[]) => ({
    toolcrib: { tools: Object.fromEntries(names.map((name) => [name, `./tools.js#${name}`])) },
  });
  const text = (answer: string) =>
    ['one', 'two'].map((name) => `export const ${name} = ${toolObject(name, answer)};`).join('\n');

  it('Entries that were added, removed or changed are noticed, in package.json and in the module.', async () => {
    const project = createProject('p', 'later');
    project.install('p', { 'tools.js': text('old') }, offer('one'));
    const crib = await cribOf(project);
    expect(await crib.reload()).toEqual(NOTHING);
    project.install('p', {}, offer('two'));
    expect(await crib.reload()).toEqual({ added: ['two'], removed: ['one'], changed: [] });
    project.install('p', { 'tools.js': text('new') }, offer('two'));
    expect([await crib.reload(), await say(crib, 'two')]).toEqual([{ ...NOTHING, changed: ['two'] }, 'new']);
    project.install('later', { 'i.js': toolModule('late') }, { toolcrib: { tools: { late: './i.js' } } });
    expect(await crib.reload()).toEqual({ ...NOTHING, added: ['late'] });
    project.remove('node_modules/later');
    expect(await crib.reload()).toEqual({ ...NOTHING, removed: ['late'] });
  });

  it('A function that is offered later is called, though its module did not change.', async () => {
    const project = createProject('p');
    project.install(
      'p',
      { 'tools.js': `${text('old')} export const made = () => (${toolObject('made')});` },
      offer('one'),
    );
    const crib = await cribOf(project);
    project.install('p', {}, offer('one', 'made'));
    expect([await crib.reload(), crib.warnings()]).toEqual([{ ...NOTHING, added: ['made'] }, []]);
  });

  it('A broken package.json, of a package or of the project, and a broken module keep the old tools.', async () => {
    const project = createProject('p');
    project.install('p', { 'tools.js': text('old') }, offer('one'));
    const crib = await cribOf(project);
    project.write('node_modules/p/package.json', '{ "toolcrib": ');
    expect([await crib.reload(), await say(crib, 'one')]).toEqual([NOTHING, 'old']);
    project.install('p', { 'tools.js': 'export const one = ' }, offer('one'));
    expect([await crib.reload(), await say(crib, 'one')]).toEqual([NOTHING, 'old']);
    expect(crib.warnings()).toHaveLength(2);
    project.write('package.json', '{');
    expect([await crib.reload(), await say(crib, 'one')]).toEqual([NOTHING, 'old']);
    expect(crib.sources().find(({ name }) => name === 'npm')).toMatchObject({ state: 'down' });
  });
});
