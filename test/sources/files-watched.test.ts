import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { files } from '../../src/sources/files.ts';
import { makeWorkspace, namesIn, nextChange, openCrib, statusOf, untilNames, yamlOf } from './files-workspace.ts';

describe('a watched file', () => {
  it('is read again when it is written', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('a.yaml', yamlOf('one', 'two'));
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    const changed = nextChange(crib);
    workspace.write('a.yaml', yamlOf('two', 'three'));
    expect(await changed).toEqual({ added: ['three'], removed: ['one'], changed: [] });
  });

  it('is read again when an editor replaces it', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('a.yaml', yamlOf('one'));
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    for (const name of ['two', 'three', 'four']) {
      const changed = nextChange(crib);
      workspace.replace('a.yaml', yamlOf(name));
      expect((await changed).added).toEqual([name]);
    }
  });

  it('is visible in an open chest', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('a.yaml', yamlOf('one'));
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    const chest = await crib.open();
    const changed = nextChange(crib);
    workspace.write('a.yaml', yamlOf('two'));
    await changed;
    expect(chest.list().map((spec) => spec.name)).toEqual(['two']);
  });

  it('behind a link is read again when its target is written, and when the link changes', async () => {
    const workspace = makeWorkspace();
    workspace.write('real/one.yaml', yamlOf('one'));
    workspace.write('real/other.yaml', yamlOf('other'));
    workspace.write('tools/own.yaml', yamlOf('own'));
    workspace.link('tools/linked.yaml', workspace.at('real/one.yaml'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.at('tools') })] });
    expect(namesIn(crib)).toEqual(['one', 'own']);
    const changed = nextChange(crib);
    workspace.write('real/one.yaml', yamlOf('two'));
    await changed;
    expect(namesIn(crib)).toEqual(['two', 'own']);
    const moved = nextChange(crib);
    workspace.link('tools/linked.swap', workspace.at('real/other.yaml'));
    workspace.move('tools/linked.swap', 'tools/linked.yaml');
    await moved;
    expect(namesIn(crib)).toEqual(['other', 'own']);
  });

  it('that is broken in between keeps its tools, and is read when it is corrected', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('one'));
    workspace.write('b.yaml', yamlOf('seen'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    workspace.write('a.yaml', 'tools: [');
    workspace.write('b.yaml', yamlOf('marker'));
    await untilNames(crib, ['one', 'marker']);
    expect(statusOf(crib, 'local')).toMatchObject({ state: 'ready', reason: expect.stringContaining('a.yaml') });
    workspace.write('a.yaml', yamlOf('two'));
    await untilNames(crib, ['two', 'marker']);
    expect(statusOf(crib, 'local')).toEqual({ name: 'local', state: 'ready', toolCount: 2 });
  });
});

describe('a watched folder', () => {
  it('shows added and removed files', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('a'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    const came = nextChange(crib);
    workspace.write('b.yaml', yamlOf('b'));
    expect(await came).toEqual({ added: ['b'], removed: [], changed: [] });
    const went = nextChange(crib);
    workspace.remove('a.yaml');
    expect(await went).toEqual({ added: [], removed: ['a'], changed: [] });
  });

  it('shows files in folders that appear later, at any depth', async () => {
    const workspace = makeWorkspace();
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    expect(statusOf(crib, 'local')).toMatchObject({ state: 'ready', toolCount: 0 });
    workspace.write('x/y/z/a.yaml', yamlOf('a'));
    await untilNames(crib, ['a']);
    workspace.write('x/y/z/b.yaml', yamlOf('b'));
    await untilNames(crib, ['a', 'b']);
  });

  it('may itself appear later', async () => {
    const workspace = makeWorkspace();
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.at('not/yet/tools') })] });
    expect(statusOf(crib, 'local')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('it does not exist'),
    });
    workspace.write('not/yet/tools/a.yaml', yamlOf('a'));
    await untilNames(crib, ['a']);
    expect(statusOf(crib, 'local')).toMatchObject({ state: 'ready' });
  });

  it('may be replaced by another, which is watched from then on', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools/a.yaml', yamlOf('a'));
    workspace.write('next/b.yaml', yamlOf('b'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.at('tools') })] });
    workspace.move('tools', 'old');
    workspace.move('next', 'tools');
    await untilNames(crib, ['b']);
    workspace.write('tools/c.yaml', yamlOf('c'));
    await untilNames(crib, ['b', 'c']);
    workspace.remove('tools');
    mkdirSync(workspace.at('tools'));
    workspace.write('tools/d.yaml', yamlOf('d'));
    await untilNames(crib, ['d']);
    workspace.write('tools/e.yaml', yamlOf('e'));
    await untilNames(crib, ['d', 'e']);
  });

  it('may be a link that changes its target', async () => {
    const workspace = makeWorkspace();
    workspace.write('one/a.yaml', yamlOf('a'));
    workspace.write('two/b.yaml', yamlOf('b'));
    workspace.link('current', workspace.at('one'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.at('current') })] });
    expect(namesIn(crib)).toEqual(['a']);
    workspace.link('next', workspace.at('two'));
    workspace.move('next', 'current');
    await untilNames(crib, ['b']);
    workspace.write('two/c.yaml', yamlOf('c'));
    await untilNames(crib, ['b', 'c']);
  });

  it('is no longer watched once the crib is closed, and keeps no process alive before', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('a'));
    const from = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src', path));
    const code = `import { createCrib } from ${from('index.ts')};
      import { files } from ${from('sources/files.ts')};
      const crib = await createCrib({ sources: [files({ name: 'local', path: ${JSON.stringify(workspace.path)} })] });
      console.log(crib.catalog.specs.length);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
    expect(stdout).toBe('1\n');
  });
});
