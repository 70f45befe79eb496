import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importExport } from '../../src/system/modules/import-module.ts';
import { createFolder } from './fixtures/modules-folder.ts';
import { createProject } from './fixtures/packages-project.ts';

describe('a reference to code', () => {
  it('A path is relative to the folder; the export is the one it names, else the default, else the only one.', async () => {
    const folder = createFolder();
    const path = folder.write(
      'services/clock.ts',
      `export default 'standard' as string; export const named = 'named';`,
    );
    folder.write('only.mjs', `export const only = 'only';`);
    const read = (reference: string) => importExport(reference, folder.path);
    expect(await read('./services/clock.ts')).toBe('standard');
    expect(await read('./services/clock.ts#named')).toBe('named');
    expect(await read('./only.mjs')).toBe('only');
    expect(await read(path)).toBe('standard');
    expect(await read(pathToFileURL(path).href)).toBe('standard');
    expect(await importExport('../only.mjs', `${folder.path}/services`)).toBe('only');
  });

  it.each([
    ['its main file', 'p', 'cjs', { main: './lib.cjs', type: 'commonjs' }],
    ['a file of it', 'p/lib.cjs#named', 'cjs', {}],
    ['what it offers to import', 'p', 'esm', { exports: { import: './lib.js' } }],
    ['the first condition that holds', 'p', 'esm', { exports: { '.': [{ browser: './no.js', default: './lib.js' }] } }],
    ['one of its exports', 'p/sub#named', 'esm', { exports: { './sub': './lib.js' } }],
    ['a pattern of its exports', 'p/x/lib', 'esm', { exports: { './x/*': { node: './*.js' } } }],
    ['a scope', '@s/p', 'esm', { exports: './lib.js' }],
  ])('A package is resolved by %s.', async (_, reference, answer, manifest) => {
    const project = createProject();
    const files = {
      'lib.js': `export const named = 'esm'; export { named as default };`,
      'lib.cjs': `module.exports = 'cjs'; `,
    };
    if (reference.includes('.cjs')) files['lib.cjs'] = `exports['na' + 'med'] = 'cjs';`;
    project.install(reference.startsWith('@') ? '@s/p' : 'p', files, manifest);
    expect(await importExport(reference, project.path)).toBe(answer);
  });

  it('A file that changed is loaded again.', async () => {
    const folder = createFolder();
    folder.write('service.mjs', 'export default 1;');
    expect(await importExport('./service.mjs', folder.path)).toBe(1);
    folder.write('service.mjs', 'export default 2;');
    expect(await importExport('./service.mjs', folder.path)).toBe(2);
  });

  it.each([
    ['./nowhere.mjs', 'nowhere.mjs'],
    ['./several.mjs', 'several.mjs: no default export found; it exports a, b'],
    ['./several.mjs#c', 'several.mjs: export "c" not found; it exports a, b'],
    ['./broken.mjs', 'broken.mjs: it cannot be imported: no key'],
    ['./empty.mjs', 'it exports nothing'],
    ['several.mjs', '"several.mjs" is not an installed package; install it, or write a path that begins with "./"'],
    ['closed/inner', 'does not export "closed/inner"'],
    ['.', 'cannot be read'],
  ])('The error about %s names file and export.', async (reference, words) => {
    const project = createProject();
    project.write('several.mjs', 'export const a = 1; export const b = 2;');
    project.write('broken.mjs', 'throw new Error("no key");');
    project.write('empty.mjs', '');
    project.install('closed', {}, { exports: { '.': './index.js' } });
    await expect(importExport(reference, project.path)).rejects.toThrow(words);
    await expect(importExport(reference, project.path)).rejects.toMatchObject({ name: 'ToolcribError' });
  });
});
