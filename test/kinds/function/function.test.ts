import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cribOf, folderWith } from '../../crib/workshop.ts';

const tool = (name: string, run: string) =>
  `  - { name: ${name}, description: A tool, input: { type: object }, run: ${run} }\n`;

describe('a function of a module that a spec file names', () => {
  it('is loaded by the first call, and loaded again when its file has changed', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { local: { files: ./specs } }\n',
      'specs/tools.yaml': `tools:\n${tool('add', '{ kind: function, module: ./code/math.ts, export: add }')}${tool('count', '{ kind: function, module: ./code/math.ts, export: count }')}`,
      'specs/code/math.ts':
        'export function add({ a, b }: { a: number; b: number }) { return a + b; }\nexport async function* count({ to }: { to: number }) { for (let i = 1; i <= to; i++) yield i; }\n',
    });
    const crib = await cribOf(folder);
    const chest = await crib.open();
    expect(await chest.call('add', { a: 1, b: 2 })).toMatchObject({ data: 3 });
    expect(await chest.call('count', { to: 3 })).toMatchObject({ data: [1, 2, 3] });
    writeFileSync(join(folder, 'specs/code/math.ts'), 'export const add = () => "another";\n');
    expect(await chest.call('add', {})).toMatchObject({ content: [{ text: 'another' }] });
    writeFileSync(join(folder, 'specs/code/math.ts'), 'export const add = (;\n');
    expect(await chest.call('add', {})).toMatchObject({ error: { code: 'unavailable' } });
    writeFileSync(join(folder, 'specs/code/math.ts'), 'export const add = () => "mended";\n');
    expect(await chest.call('add', {})).toMatchObject({ content: [{ text: 'mended' }] });
  });

  it('may be the method of an instance; a class is not instantiated', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { local: { files: ./specs } }\n',
      'specs/tools.yaml': `tools:\n${tool('ready', '{ kind: function, module: ./code.ts, export: ready }')}${tool('made', '{ kind: function, module: ./code.ts, export: Adder }')}`,
      'specs/code.ts':
        'class Sum { #by = 2; execute({ a }: { a: number }) { return a + this.#by; } }\nexport const ready = new Sum();\nexport class Adder { constructor() { process.exit(3); } run() {} }\n',
    });
    const chest = await (await cribOf(folder)).open();
    expect(await chest.call('ready', { a: 1 })).toMatchObject({ data: 3 });
    expect(await chest.call('made', {})).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('"Adder" is a class; export an instance') },
    });
  });

  it('that is missing, is not a function, or ends its process says so, and affects no other', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { local: { files: ./specs } }\n',
      'specs/tools.yaml': `tools:\n${[
        tool('gone', '{ kind: function, module: ./gone.ts, export: a }'),
        tool('misspelt', '{ kind: function, module: ./code.ts, export: adds }'),
        tool('no_function', '{ kind: function, module: ./code.ts, export: seven }'),
        tool('exits', '{ kind: function, module: ./exits.ts, export: a }'),
        tool('package_gone', '{ kind: function, module: no-such-package, export: a }'),
        tool('throws', '{ kind: function, module: ./code.ts, export: throws }'),
      ].join('')}`,
      'specs/code.ts':
        'export const seven = 7;\nexport function add() {}\nexport function throws() { throw new Error("my mistake"); }\n',
      'specs/exits.ts': 'process.exit(3);\nexport function a() {}\n',
    });
    const chest = await (await cribOf(folder)).open();
    const messages: Record<string, string> = {};
    for (const name of ['gone', 'misspelt', 'no_function', 'exits', 'package_gone', 'throws']) {
      const result = await chest.call(name, {});
      expect(result, name).toMatchObject({ error: { code: name === 'throws' ? 'tool_error' : 'unavailable' } });
      messages[name] = result.status === 'failed' ? result.error.message : '';
      expect(messages[name], name).not.toContain(folder);
    }
    expect(messages).toMatchObject({
      misspelt: expect.stringContaining('export "adds" not found; it exports add, seven, throws'),
      no_function: expect.stringContaining('its export "seven" is not a function'),
      package_gone: expect.stringContaining('"no-such-package" is not an installed package'),
      throws: 'my mistake',
    });
  });

  it('without a module is an error at load', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { local: { files: ./tools.yaml } }\n',
      'tools.yaml': `tools:\n${tool('a', '{ kind: function, export: add }')}${tool('b', '{ kind: function, module: ./x.ts, run: 1 }')}`,
    });
    const crib = await cribOf(folder);
    expect(crib.catalog.specs).toEqual([]);
    expect(crib.warnings().join()).toContain('"module"');
  });
});
