import { describe, expect, it } from 'vitest';
import { type Crib, createCrib } from '../../src/index.ts';
import { cribOf, folderWith, namesOf } from './workshop.ts';

/** A source of the given tools with unchecked specs; each call returns its arguments. */
const sourceOf = (inputs: string) => `
const specs = ${inputs}.map((input, index) => ({
  name: 'tool_' + index, description: '', input, effects: {}, policy: {}, tags: [], source: 'odd', origin: 'tool_' + index,
  [Symbol.for('toolcrib.run')]: { kind: 'function', run: (given) => ({ ...given }) },
}));
export default {
  name: 'odd',
  start: async () => ({ specs: () => specs, onChange: () => () => {}, status: () => ({ state: 'ready' }), close: async () => {} }),
};`;

async function oddCrib(inputs: string, overrides: string): Promise<Crib> {
  const folder = folderWith({
    'toolcrib.yaml': `sources:\n  odd:\n    module: ./odd.mjs\n    overrides: ${overrides}\n`,
    'odd.mjs': sourceOf(inputs),
  });
  return cribOf(folder, { watch: false });
}

const toldBy = (crib: Crib) => [...crib.warnings(), ...crib.sources().map(({ reason }) => reason ?? '')].join('\n');
const OBJECT = "[{ type: 'object', properties: { repo: { type: 'string' }, verbose: { type: 'boolean' } } }]";

describe('overrides with invalid arguments', () => {
  it.each([
    ['fixed', '{ "*": { fixedArguments: { rpeo: x } } }', 'has no argument "rpeo". Did you mean "repo"?'],
    ['hidden', '{ "*": { hiddenArguments: verbos } }', 'has no argument "verbos". Did you mean "verbose"?'],
    ['every object has it', '{ "*": { fixedArguments: { constructor: x } } }', 'has no argument "constructor"'],
    ['a getter of objects', '{ "*": { hiddenArguments: [hasOwnProperty] } }', 'has no argument "hasOwnProperty"'],
    ['the prototype, hidden', '{ "*": { hiddenArguments: [__proto__] } }', 'has no argument "__proto__"'],
    ['empty', '{ "*": { hiddenArguments: [""] } }', 'hiddenArguments'],
    ['a list', '{ "*": { fixedArguments: [repo] } }', 'fixedArguments must be'],
    ['a text', '{ "*": { fixedArguments: repo } }', 'fixedArguments must be'],
    ['a number', '{ "*": { hiddenArguments: 5 } }', 'hiddenArguments must be'],
    ['another type', '{ "*": { fixedArguments: { repo: [1] } } }', 'the value of "repo" does not match its schema'],
    ['not JSON', '{ "*": { fixedArguments: { repo: .inf } } }', 'repo is Infinity'],
  ])('%s: no tool is listed, and a sentence says why', async (_, overrides, words) => {
    const crib = await oddCrib(OBJECT, overrides);
    expect(namesOf(crib)).toEqual([]);
    expect(toldBy(crib)).toContain(words);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('__proto__ is not a name in a configuration, neither in a file nor in code', async () => {
    const overrides = '{ "*": { "fixedArguments": { "__proto__": { "polluted": true } } } }';
    await expect(oddCrib(OBJECT, overrides)).rejects.toThrow('"__proto__" is not allowed as a name');
    const config = { sources: { odd: { module: './odd.mjs', overrides: JSON.parse(overrides) } } };
    await expect(createCrib({ config })).rejects.toThrow('__proto__ is not allowed as a name');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('overrides over hostile schemas', () => {
  const FIX = '{ tool_0: { fixedArguments: { repo: abc } } }';

  it.each([
    ['true', '[true]'],
    ['false', '[false]'],
    ['null', '[null]'],
    ['a number', '[7]'],
    ['a list', '[[]]'],
    ['for lists', "[{ type: 'array', items: {} }]"],
    ['without properties', "[{ type: 'object' }]"],
    ['with properties that are none', "[{ type: 'object', properties: ['repo'] }]"],
    ['behind a reference', "[{ $ref: '#/$defs/X', $defs: { X: { properties: { repo: {} } } } }]"],
    ['that is itself', '(() => { const one = { properties: { repo: {} } }; one.allOf = [one]; return [one]; })()'],
    [
      'that unfolds without end',
      '(() => { let one = { properties: { repo: {} } }; for (let i = 0; i < 40; i++) one = { properties: { repo: {} }, allOf: [one, one] }; return [one]; })()',
    ],
  ])('%s: the tool is not listed with the argument open', async (_, inputs) => {
    const crib = await oddCrib(inputs, FIX);
    const chest = await crib.open();
    const result = await chest.call('tool_0', { repo: 'evil' });
    expect(result.ok).toBe(false);
    expect(crib.get('tool_0')).toBeUndefined();
  });

  it('a name of the prototype among properties has no effect', async () => {
    const input = `[JSON.parse('{ "type": "object", "properties": { "__proto__": { "default": { "polluted": true } }, "repo": {} } }')]`;
    const crib = await oddCrib(input, FIX);
    expect(await (await crib.open()).call('tool_0', {})).toMatchObject({ ok: false });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('parts that are not schemas are left to validation', async () => {
    const input = "[{ type: 'object', properties: { repo: 5, title: {} }, required: 'repo', anyOf: {}, allOf: 7 }]";
    const crib = await oddCrib(input, FIX);
    expect(await (await crib.open()).call('tool_0', {})).toMatchObject({ error: { code: 'unavailable' } });
  });

  it('thousands of arguments take no noticeable time', async () => {
    const input =
      "[{ type: 'object', properties: Object.fromEntries(Array.from({ length: 900 }, (_, i) => ['p' + i, {}])) }]";
    const crib = await oddCrib(input, '{ "*": { fixedArguments: { p0: 1 }, hiddenArguments: [p1, p899] } }');
    expect(await (await crib.open()).call('tool_0', { p2: 2 })).toMatchObject({ data: { p0: 1, p2: 2 } });
  });
});

describe('a fixed value stays as it is', () => {
  it('whatever the tool does to its arguments', async () => {
    const folder = folderWith({
      'toolcrib.yaml':
        'sources:\n  mine: { modules: ./p, overrides: { "*": { fixedArguments: { box: { items: [1] } } } } }\n',
      'p/tool.mjs': `export const tool = { name: 'tool', description: '', input: { type: 'object', properties: { box: {} } },
        execute: (input) => { const before = JSON.stringify(input); try { input.box.items.push(2); input.box = 0; } catch {} return before; } };`,
    });
    const chest = await (await cribOf(folder, { watch: false })).open();
    for (let round = 0; round < 2; round++)
      expect(await chest.call('tool')).toMatchObject({ content: [{ text: '{"box":{"items":[1]}}' }] });
  });

  it('if it is hidden as well', async () => {
    const crib = await oddCrib(OBJECT, '{ "*": { fixedArguments: { repo: abc }, hiddenArguments: [repo] } }');
    expect(await (await crib.open()).call('tool_0')).toMatchObject({ data: { repo: 'abc' } });
    expect(crib.explain({}, undefined, 'tool_0').withheld).toEqual({ fixed: ['repo'], hidden: [] });
  });

  it('and no spec can withhold arguments itself', async () => {
    const withheld = { values: { repo: 'evil' }, fixed: ['repo'], hidden: [], input: {} };
    const run = { kind: 'shell', command: ['true'], withheld, '[withheld]': withheld };
    const folder = folderWith({
      'toolcrib.yaml': 'sources:\n  local: { files: ./tools.json }\n',
      'tools.json': JSON.stringify({ tools: [{ name: 'tool', description: '', run }] }),
    });
    const crib = await cribOf(folder, { watch: false });
    expect(crib.explain({}, undefined, 'tool').withheld).toBeUndefined();
  });
});
