import { describe, expect, it } from 'vitest';
import { packages } from '../../src/sources/modules/packages.ts';
import { createFolder, cribOver, namesIn, openCrib, say } from './fixtures/modules-folder.ts';

/** A class that is a tool, and what else stands in it. */
function toolClass(name: string, more = '', base = ''): string {
  return `class ${name} ${base} {
    name = '${name.toLowerCase()}'; description = 'Says ${name}'; parameters = { type: 'object' };
    #answer = '${name}';
    async execute() { return this.#answer; }
    ${more}
  }`;
}

describe('classes that modules export', () => {
  it('A class of a scanned directory is a tool: named, by default, in a list, in a record, and of CommonJS.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', `export ${toolClass('Named')}`);
    folder.write('b.mjs', `export default ${toolClass('Standard')}`);
    folder.write('c.mjs', `${toolClass('First')} ${toolClass('Second')} export const tools = [First, new Second()];`);
    folder.write('d.cjs', `${toolClass('Common')} module.exports = { Common };`);
    folder.write('e.mjs', `${toolClass('Made')} export default () => [Made];`);
    folder.write('f.mjs', `${toolClass('One')} ${toolClass('Two')} export default { One, Two };`);
    folder.write('g.mjs', `export const instance = new ${toolClass('Instance')}();`);
    const crib = await cribOver(folder);
    const names = ['named', 'standard', 'first', 'second', 'common', 'made', 'one', 'two', 'instance'];
    expect([namesIn(crib), crib.warnings()]).toEqual([names, []]);
    for (const name of names) expect((await say(crib, name)).toLowerCase()).toBe(name);
  });

  it('Subclasses are tools, and their base classes are skipped if they are not tools themselves.', async () => {
    const folder = createFolder();
    folder.write(
      'tools.mjs',
      `export class AITool {
         constructor() { if (new.target === AITool) throw new Error('abstract'); }
         async execute() { throw new Error('abstract'); }
       }
       export class Base { parameters = {}; run() { return this.answer(); } answer() { return this.name; } }
       export class Leaf extends Base { name = 'leaf'; description = 'A leaf'; answer() { return 'green ' + super.answer(); } }
       export ${toolClass('Real', '', 'extends AITool')}
       export class WrongInput extends Error {}`,
    );
    const crib = await cribOver(folder);
    expect([namesIn(crib), crib.warnings()]).toEqual([['leaf', 'real'], []]);
    expect(await say(crib, 'leaf')).toBe('green leaf');
  });

  it('A static create makes the tool, synchronously or not.', async () => {
    const folder = createFolder();
    folder.write(
      'late.mjs',
      `export ${toolClass('Late', `static async create() { const made = new Late(); made.name = 'later'; return made; }`)}`,
    );
    expect(namesIn(await cribOver(folder))).toEqual(['later']);
  });

  it('A class that two modules export is one tool.', async () => {
    const folder = createFolder();
    folder.write('a.mjs', `export ${toolClass('Shared')}`);
    folder.write('b.mjs', `export { Shared } from './a.mjs';`);
    const crib = await cribOver(folder);
    expect([namesIn(crib), crib.warnings()]).toEqual([['shared'], []]);
  });

  it.each([
    ['export class Idle { help() {} }', 'export "Idle": class Idle is not a tool: it has no method execute or run'],
    [
      'export class Bare { execute() {} }',
      'export "Bare": class Bare is not a tool: an instance has no name and no description',
    ],
    [
      'export class Short { name = "short"; run() {} }',
      'export "Short": class Short is not a tool: an instance has no description',
    ],
    [
      'export class Needy { constructor({ key }) { this.key = key; } run() {} }',
      'export "Needy": class Needy cannot be instantiated: its constructor throws:',
    ],
    [
      'export class Late { static async create() { throw new Error("no key"); } run() {} }',
      'export "Late": class Late cannot be instantiated: its create() throws: no key',
    ],
    ['export const tools = [class Idle {}];', 'export "tools", entry 1: class Idle is not a tool: it has no method'],
  ])('%s gets a warning with file, export and what is missing.', async (text, message) => {
    const folder = createFolder();
    folder.write('good.mjs', `export ${toolClass('Good')}`);
    const path = folder.write('odd.mjs', text);
    const crib = await cribOver(folder);
    expect(namesIn(crib)).toEqual(['good']);
    expect(crib.warnings()).toEqual([expect.stringContaining(`${path}: ${message}`)]);
  });

  it('A constructor that ends the process fails only its module.', async () => {
    const folder = createFolder();
    folder.write('exit.mjs', `export ${toolClass('Exit', 'constructor() { process.exit(3); }')}`);
    folder.write('good.mjs', `export ${toolClass('Good')}`);
    const crib = await cribOver(folder);
    expect(namesIn(crib)).toEqual(['good']);
    expect(crib.warnings()).toEqual([expect.stringContaining('process.exit(3)')]);
  });

  it('Tools of LangChain and of the AI SDK, and definitions of OpenAI, are found as well.', async () => {
    const folder = createFolder();
    const schema = '{ type: "object", properties: {} }';
    folder.write(
      'foreign.mjs',
      `const sdk = (answer) => ({ description: 'x', inputSchema: { jsonSchema: ${schema} }, execute: () => answer });
       export const by_export = sdk('by_export');
       export const tools = { by_key: sdk('by_key') };
       export const open = { type: 'function', function: { name: 'open_ai', parameters: ${schema} }, execute: () => 'open_ai' };
       export const lang = { name: 'lang_chain', description: '', schema: ${schema}, lc_namespace: [], invoke: async () => 'lang_chain' };`,
    );
    const crib = await cribOver(folder);
    expect(crib.warnings()).toEqual([]);
    expect(namesIn(crib)).toEqual(['by_export', 'lang_chain', 'open_ai', 'by_key']);
    for (const name of namesIn(crib)) expect(await say(crib, name)).toBe(name);
  });
});

describe('classes that packages offer', () => {
  it('An entry point that is a class is a tool, with its private fields; one that is not a tool is reported.', async () => {
    const folder = createFolder();
    folder.write('package.json', '{ "dependencies": { "plug": "1.0.0" } }');
    const entries = {
      mine: './t.js#Mine',
      arrow: './t.js#Arrow',
      sdk: './t.js#weather',
      idle: './t.js#Idle',
      bad: './t.js#Bad',
    };
    folder.write(
      'node_modules/plug/package.json',
      JSON.stringify({ name: 'plug', type: 'module', toolcrib: { tools: entries } }),
    );
    folder.write(
      'node_modules/plug/t.js',
      `export ${toolClass('Mine')}
       export class Arrow { name = 'arrow'; description = 'x'; execute = async () => this.name; }
       export const weather = { description: 'x', inputSchema: { jsonSchema: { type: 'object' } }, execute: () => 'sunny' };
       export class Idle {}
       export class Bad { get name() { throw new Error('abstract'); } run() {} }`,
    );
    const crib = await openCrib({ sources: [packages({ name: 'packages', folder: folder.path })] });
    expect(namesIn(crib)).toEqual(['mine', 'arrow', 'sdk']);
    expect([await say(crib, 'mine'), await say(crib, 'arrow'), await say(crib, 'sdk')]).toEqual([
      'Mine',
      'arrow',
      'sunny',
    ]);
    expect(crib.warnings()).toEqual([
      expect.stringContaining(
        '"toolcrib.tools.idle": export "Idle": class Idle is not a tool: an instance has no execute or run',
      ),
      expect.stringContaining('"toolcrib.tools.bad": export "Bad": "name" of A tool cannot be read: its getter throws'),
    ]);
  });
});
