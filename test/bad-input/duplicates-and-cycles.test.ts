import { describe, expect, it } from 'vitest';
import {
  type Bundle,
  createCrib,
  defineExtension,
  defineTool,
  done,
  type Source,
  type ToolInput,
} from '../../src/index.ts';

const tool = (name: string): ToolInput => ({ name, description: name, run: () => name });
const source = (name: string, tools: readonly ToolInput[] = []): Source => ({
  name,
  start: async () => ({
    specs: () => tools as never, // plain tools, which the crib turns into specs
    onChange: () => () => {},
    status: () => ({ state: 'ready' }),
    close: async () => {},
  }),
});
const duplicate = (...names: readonly string[]) => ({
  name: 'ToolcribError',
  code: 'duplicate',
  message: expect.stringMatching(names.join('.*')),
});

describe('two things with one name', () => {
  it('tools in one list: an error naming both places', async () => {
    await expect(createCrib({ tools: [tool('add'), tool('add')] })).rejects.toMatchObject(duplicate('"add"', 'tools'));
  });

  it('tools in the list and in a bundle: an error naming both places', async () => {
    const crib = createCrib({ tools: [tool('add')], bundles: [{ name: 'math', tools: [tool('add')] }] });
    await expect(crib).rejects.toMatchObject(duplicate('"add"', 'tools', 'bundle math'));
  });

  it('tools in two bundles: an error naming both', async () => {
    const bundles = [
      { name: 'one', tools: [tool('add')] },
      { name: 'two', tools: [tool('add')] },
    ];
    await expect(createCrib({ bundles })).rejects.toMatchObject(duplicate('"add"', 'bundle one', 'bundle two'));
  });

  it('the very same tool in two bundles is not a duplicate', async () => {
    const add = defineTool({ name: 'add', description: '', input: {}, run: () => 1 });
    const crib = await createCrib({
      bundles: [
        { name: 'one', tools: [add] },
        { name: 'two', tools: [add] },
      ],
    });
    expect(crib.bundles.of('add').map((bundle) => bundle.name)).toEqual(['one', 'two']);
  });

  it('tools registered later: rejected with a reason naming both places', async () => {
    const crib = await createCrib({ tools: [tool('add')] });
    expect(crib.register(tool('add'))).toMatchObject({
      ok: false,
      rejected: [{ name: 'add', reason: expect.stringMatching(/tools.*register/) }],
    });
  });

  it('tools registered in one batch: rejected, and none is registered', async () => {
    const crib = await createCrib();
    expect(crib.register([tool('add'), tool('add')])).toMatchObject({ ok: false, applied: [] });
    expect(crib.get('add')).toBeUndefined();
  });

  it('a tool registered under the name of a remote one: rejected with a reason naming the source', async () => {
    const crib = await createCrib({ sources: [source('remote', [tool('add')])] });
    expect(crib.register(tool('add'))).toMatchObject({
      ok: false,
      rejected: [{ reason: expect.stringContaining('remote') }],
    });
  });

  it('a remote tool under the name of one in code: held back with a warning naming both', async () => {
    const crib = await createCrib({ tools: [tool('add')], sources: [source('remote', [tool('add')])] });
    expect(crib.get('add')?.source).toBe('code');
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/"add".*code.*remote/));
  });

  it('a remote tool twice in one list: the first owns the name', async () => {
    const crib = await createCrib({
      sources: [source('remote', [{ ...tool('add'), description: 'first' }, tool('add')])],
    });
    expect(crib.get('add')?.description).toBe('first');
    expect(crib.catalog.held).toHaveLength(1);
  });

  it('bundles: an error', async () => {
    await expect(createCrib({ bundles: [{ name: 'one' }, { name: 'one' }] })).rejects.toMatchObject(duplicate('"one"'));
  });

  it('bundles defined later: an error, and its tools are not added', async () => {
    const crib = await createCrib({ bundles: [{ name: 'one' }] });
    expect(() => crib.bundles.define({ name: 'one', tools: [tool('add')] })).toThrow(/"one"/);
    expect(crib.get('add')).toBeUndefined();
  });

  it('sources: an error', async () => {
    await expect(createCrib({ sources: [source('one'), source('one')] })).rejects.toMatchObject(duplicate('"one"'));
  });

  it('a source named "code": an error', async () => {
    await expect(createCrib({ sources: [source('code')] })).rejects.toMatchObject(duplicate('"code"'));
  });

  it('executors: an error', async () => {
    const executor = { kind: 'echo', runSchema: {}, execute: () => done('') };
    await expect(createCrib({ executors: [executor, executor] })).rejects.toMatchObject(duplicate('"echo"'));
  });

  it('extensions: an error', async () => {
    const extension = defineExtension({ name: 'log', onStart: () => {} });
    await expect(createCrib({ extensions: [extension, extension] })).rejects.toMatchObject(duplicate('"log"'));
  });

  it('a spec under another name is another tool', async () => {
    const add = defineTool({ name: 'add', description: '', input: {}, run: () => 1 });
    const crib = await createCrib({ tools: [add, { ...add, name: 'plus' }] });
    expect(crib.catalog.specs.map((spec) => spec.name)).toEqual(['add', 'plus']);
  });

  it('a spec under a name that no vendor accepts is refused like any other', async () => {
    const add = defineTool({ name: 'add', description: '', input: {}, run: () => 1 });
    await expect(createCrib({ tools: [{ ...add, name: 'not a name!' }] })).rejects.toMatchObject({
      code: 'invalid_name',
    });
  });
});

describe('a cycle', () => {
  it.each<[string, readonly Pick<Bundle, 'name' | 'requires' | 'extends'>[], string]>([
    ['requires itself', [{ name: 'a', requires: ['a'] }], 'a -> a'],
    [
      'require each other',
      [
        { name: 'a', requires: ['b'] },
        { name: 'b', requires: ['a'] },
      ],
      'a -> b -> a',
    ],
    [
      'require each other over three',
      [
        { name: 'a', requires: ['b'] },
        { name: 'b', requires: ['c'] },
        { name: 'c', requires: ['a'] },
      ],
      'a -> b -> c -> a',
    ],
    ['extends itself', [{ name: 'a', extends: ['a'] }], 'a -> a'],
    [
      'extend each other',
      [
        { name: 'a', extends: ['b'] },
        { name: 'b', extends: ['a'] },
      ],
      'a -> b -> a',
    ],
  ])('bundles that %s: an error that shows the cycle', async (_, bundles, circle) => {
    await expect(
      createCrib({ bundles: bundles.map(({ name, ...more }) => ({ name, ...more })) }),
    ).rejects.toMatchObject({
      code: 'cycle',
      message: expect.stringContaining(circle),
    });
  });

  it('that a later bundle would close is refused, and the existing bundles stay', async () => {
    const crib = await createCrib({ bundles: [{ name: 'a', requires: 'b' }] });
    expect(() => crib.bundles.define({ name: 'b', requires: 'a' })).toThrow(/in a cycle/);
    expect(crib.bundles.names()).toEqual(['a']);
  });

  it('tools that require each other can be called', async () => {
    const [a, b] = [
      { ...tool('a'), requires: 'b' },
      { ...tool('b'), requires: 'a' },
    ] as readonly ToolInput[]; // plain tools
    const chest = await (await createCrib({ tools: [a as ToolInput, b as ToolInput] })).open(); // both are there
    expect(await chest.call('a')).toMatchObject({ ok: true });
    expect((await chest.search('a', { expand: true })).map((hit) => hit.name).sort()).toEqual(['a', 'b']);
  });
});
