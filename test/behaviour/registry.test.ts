import { describe, expect, it } from 'vitest';
import {
  type Criteria,
  createCrib,
  defineBundle,
  defineTool,
  done,
  type ToolInput,
  type ToolSpec,
} from '../../src/index.ts';

const tool = (name: string, more: Partial<ToolInput> = {}) =>
  ({ name, description: name, run: () => name, ...more }) as ToolInput; // a plain tool with some fields replaced
const names = (specs: readonly ToolSpec[]) => specs.map((spec) => spec.name);

describe('register, get by name, list in order, unregister', () => {
  it('a registered tool is found by its name', async () => {
    const crib = await createCrib();
    expect(crib.register(tool('add'))).toEqual({ ok: true, applied: ['add'], rejected: [] });
    expect(crib.get('add')?.name).toBe('add');
    expect(crib.get('sub')).toBeUndefined();
  });

  it('tools are listed in the order in which they came', async () => {
    const crib = await createCrib({ tools: [tool('zebra')] });
    crib.register(tool('mouse'));
    crib.register([tool('ant'), tool('lion')]);
    expect(names(crib.catalog.specs)).toEqual(['zebra', 'mouse', 'ant', 'lion']);
  });

  it('open chests see newly registered tools', async () => {
    const crib = await createCrib();
    const chest = await crib.open();
    crib.register(tool('add'));
    expect(names(chest.list())).toEqual(['add']);
    expect(await chest.call('add')).toMatchObject({ ok: true });
  });

  it('an unregistered tool is gone', async () => {
    const crib = await createCrib({ tools: [tool('add'), tool('sub')] });
    const chest = await crib.open();
    expect(crib.unregister('add')).toEqual({ ok: true, applied: ['add'], rejected: [] });
    expect(crib.get('add')).toBeUndefined();
    expect(await chest.call('add')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('a name is free again once its tool is unregistered', async () => {
    const crib = await createCrib({ tools: [tool('add')] });
    crib.unregister('add');
    expect(crib.register(tool('add', { description: 'new' })).ok).toBe(true);
    expect(crib.get('add')?.description).toBe('new');
  });

  it('unregistering is partial with report', async () => {
    const crib = await createCrib({ tools: [tool('add'), tool('sub')] });
    expect(crib.unregister(['add', 'mul', 'sub'])).toEqual({
      ok: false,
      applied: ['add', 'sub'],
      rejected: [{ name: 'mul', reason: 'unknown tool' }],
    });
  });

  it('batch registration is atomic: one bad tool and none is taken', async () => {
    const crib = await createCrib();
    const outcome = crib.register([tool('good'), tool('not a name'), tool('fine')]);
    expect(outcome).toMatchObject({ ok: false, applied: [], rejected: [{ name: 'not a name' }] });
    expect(crib.catalog.specs).toEqual([]);
  });

  it('a tool of another source cannot be unregistered, and the reason names the source', async () => {
    const crib = await createCrib({
      sources: [
        {
          name: 'remote',
          start: async () => ({
            specs: () => [tool('add') as ToolSpec], // a source may list plain tools
            onChange: () => () => {},
            status: () => ({ state: 'ready' }),
            close: async () => {},
          }),
        },
      ],
    });
    expect(crib.unregister('add').rejected).toEqual([{ name: 'add', reason: expect.stringContaining('remote') }]);
    expect(crib.get('add')).toBeDefined();
  });

  it.each<[string, unknown, RegExp]>([
    ['a text', 'add', /not a tool/],
    ['nothing', undefined, /not a tool/],
    ['null', null, /not a tool/],
    ['a number', 5, /not a tool/],
    ['a function', () => 1, /not a tool/],
    ['an object without a name', { run: () => 1 }, /not a tool name/],
    ['a name that some vendor would refuse', { name: 'a.b', run: () => 1 }, /"a\.b" is not a tool name/],
    ['a name that is too long', { name: 'x'.repeat(49), run: () => 1 }, /48/],
    ['a tool that does not say how it runs', { name: 'idle' }, /no run/],
    ['a tool with run and execute', { name: 'both', run: () => 1, execute: () => 1 }, /both/],
    ['a tool of an unknown kind', { name: 'odd', run: { kind: 'sehll' } }, /Did you mean "shell"/],
    ['a tool whose schema is for a list', { name: 'list', input: { type: 'array' }, run: () => 1 }, /object/],
    [
      'a tool with effects that are not booleans',
      { name: 'maybe', effects: { readOnly: 'yes' }, run: () => 1 },
      /readOnly/,
    ],
  ])('a value that is not a tool (%s) is refused with the reason', async (_, thing, reason) => {
    const crib = await createCrib();
    const outcome = crib.register(thing as ToolInput); // plain JavaScript registers anything
    expect(outcome).toMatchObject({ ok: false, applied: [], rejected: [{ reason: expect.stringMatching(reason) }] });
    expect(crib.catalog.specs).toEqual([]);
  });

  it('a tool of defineTool and a plain object behave the same', async () => {
    const made = defineTool({ name: 'made', description: 'd', input: { type: 'object' }, run: () => 1 });
    const crib = await createCrib({
      tools: [made, { name: 'plain', description: 'd', input: { type: 'object' }, execute: () => 1 }],
    });
    const chest = await crib.open();
    expect(await chest.call('made')).toEqual(await chest.call('plain'));
  });

  it('tools registered by hand survive a reload', async () => {
    const crib = await createCrib();
    crib.register(tool('add'));
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(crib.get('add')).toBeDefined();
  });
});

describe('match', () => {
  const open = () =>
    createCrib({
      tools: [
        tool('read_file', {
          tags: ['files', 'read'],
          category: 'disk',
          effects: { readOnly: true },
          description: 'Reads a text file',
        }),
        tool('write_file', { tags: ['files'], category: 'disk', effects: { destructive: true }, meta: { beta: true } }),
        tool('bare'),
        tool('say', { run: { kind: 'echo' }, meta: { beta: false, level: 3 } }),
      ],
      bundles: [defineBundle({ name: 'web', tools: [tool('fetch', { tags: ['read', 'net'] })] })],
      executors: [{ kind: 'echo', runSchema: {}, execute: () => done('') }],
    });

  it('{} = all', async () => {
    expect(names((await open()).match({}))).toEqual(['read_file', 'write_file', 'bare', 'say', 'fetch']);
  });

  it.each<[string, Criteria, readonly string[]]>([
    ['tags: all of them', { tags: ['files', 'read'] }, ['read_file']],
    ['tags: one tag stands for a list of one', { tags: 'files' }, ['read_file', 'write_file']],
    ['tagsAny: any of them', { tagsAny: ['net', 'files'] }, ['read_file', 'write_file', 'fetch']],
    ['category', { category: 'disk' }, ['read_file', 'write_file']],
    ['namePattern: a glob over the whole name', { namePattern: '*_file' }, ['read_file', 'write_file']],
    ['namePattern: a part of the name is not enough', { namePattern: 'file' }, []],
    ['namePattern: a RegExp object', { namePattern: /^(say|bare)$/ }, ['bare', 'say']],
    ['namePattern: a RegExp with flags that remember', { namePattern: /_/g }, ['read_file', 'write_file']],
    ['kind', { kind: 'echo' }, ['say']],
    ['source', { source: 'code' }, ['read_file', 'write_file', 'bare', 'say', 'fetch']],
    ['source: of another name', { source: 'remote' }, []],
    ['bundle', { bundle: 'web' }, ['fetch']],
    ['text', { text: 'TEXT reads' }, ['read_file']],
    ['a boolean of effects', { destructive: true }, ['write_file']],
    ['a boolean of effects that is unknown is not false', { readOnly: false }, []],
    ['a boolean of meta', { beta: true }, ['write_file']],
    ['a boolean of meta that is false', { beta: false }, ['say']],
    ['a boolean that no tool has', { gamma: true }, []],
    ['a boolean that no tool has, and false', { gamma: false }, []],
    ['several: AND', { tags: 'files', category: 'disk', readOnly: true }, ['read_file']],
    ['several that no tool meets', { tags: 'files', bundle: 'web' }, []],
    ['undefined: as if absent', { tags: undefined, kind: 'echo' } as never, ['say']],
  ])('%s', async (_, criteria, expected) => {
    expect(names((await open()).match(criteria))).toEqual(expected);
  });

  it('tools without tags or category behave as [] and none', async () => {
    const crib = await open();
    expect(crib.get('bare')?.tags).toEqual([]);
    expect(names(crib.match({ tags: [] }))).toContain('bare');
    expect(names(crib.match({ tagsAny: [] }))).toEqual([]);
    expect(names(crib.match({ category: '*' }))).not.toContain('bare');
  });

  it.each<[string, unknown, RegExp]>([
    ['an unknown criterion', { tag: ['x'] }, /"tag" is not a criterion\. Did you mean "tags"\?/],
    ['a flag that is nearly an effect', { destructve: true }, /Did you mean "destructive"\?/],
    ['a flag that is not a boolean', { beta: 'yes' }, /"beta" takes true or false/],
    ['tags that are numbers', { tags: [1] }, /"tags" takes a string or a list of strings/],
    ['a category that is a list', { category: ['disk'] }, /"category" takes a string/],
    ['a pattern that is a regular expression in text', { namePattern: '^read_(file|page)$' }, /RegExp/],
    ['an empty pattern', { namePattern: '' }, /namePattern/],
  ])('%s is an error', async (_, criteria, message) => {
    const crib = await open();
    expect(() => crib.match(criteria as Criteria)).toThrow(message); // plain JavaScript asks for anything
  });
});
