import { describe, expect, it, vi } from 'vitest';
import { createCrib, defineBundle, type SetupContext, type SetupResult } from '../../src/index.ts';
import { bundleOf, changingSource, namesOf, reasonOf, stateIn, toolOf } from './small-crib.ts';

describe('prompt text from a setup', () => {
  const tables = () => ({ state: 1, instructions: 'Tables: users, orders.' });

  it('Setup adds prompt text, which is shown after the text of its bundle while the bundle is active.', async () => {
    const bundles = [bundleOf('db', { instructions: 'Ask in SQL.', setup: tables }), bundleOf('other')];
    const crib = await createCrib({ bundles });
    const chest = await crib.open();
    expect(chest.instructions()).toBe('Ask in SQL.');
    await chest.activate('db');
    expect(chest.instructions()).toBe('Ask in SQL.\n\nTables: users, orders.');
    expect(crib.instructions()).toBe('Ask in SQL.\n\nTables: users, orders.');
    expect(chest.sections()).toEqual([{ from: 'bundle', name: 'db', text: 'Ask in SQL.\n\nTables: users, orders.' }]);
    await chest.deactivate('db');
    expect(chest.instructions()).toBe('');
  });

  it('The first call sets its bundle up, and the text is there as well.', async () => {
    const chest = await (await createCrib({ bundles: [bundleOf('db', { setup: tables })] })).open();
    await chest.call('db_tool');
    expect(chest.instructions()).toBe('Tables: users, orders.');
  });

  it('The text of a setup that failed is not shown.', async () => {
    const ready = () => {
      throw new Error('no network');
    };
    const chest = await (await createCrib({ bundles: [bundleOf('db', { setup: tables, ready })] })).open();
    expect((await chest.activate('db')).ok).toBe(false);
    expect(chest.instructions()).toBe('');
  });
});

describe('the result of a setup', () => {
  const wrong: readonly [string, unknown, string][] = [
    ['a misspelled member', { stat: 1 }, 'its setup failed: The result of setup has no "stat". Did you mean "state"?'],
    ['a list', [1], 'its setup failed: The result of setup must be an object, got a list.'],
    ['a text', 'ready', 'its setup failed: The result of setup must be an object, got "ready".'],
    ['null', null, 'its setup failed: The result of setup must be an object, got null.'],
    [
      'a dispose that is not a function',
      { dispose: 1 },
      'its setup failed: "dispose" of the result of setup must be a function, got 1.',
    ],
    [
      'instructions that are not a text',
      { instructions: ['a'] },
      'its setup failed: "instructions" of the result of setup must be a string, got a list.',
    ],
    [
      'instructions beyond all measure',
      { instructions: 'x'.repeat(64_001) },
      'its setup failed: "instructions" of the result of setup has more than 64000 characters; shorten it.',
    ],
  ];

  it.each(wrong)('Unknown or wrong members are refused: %s.', async (_, result, reason) => {
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup: () => result as SetupResult })] })).open();
    expect(reasonOf(await chest.activate('a'), 'a')).toBe(reason);
  });

  it('What is refused is disposed of.', async () => {
    const dispose = vi.fn();
    const result = { stat: 1, dispose } as SetupResult;
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup: () => result })] })).open();
    await chest.activate('a');
    expect(dispose).toHaveBeenCalledOnce();
  });

  it('dispose keeps its this.', async () => {
    const result = {
      state: { isClosed: false },
      dispose(this: { readonly state: { isClosed: boolean } }) {
        this.state.isClosed = true;
      },
    };
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: () => result })] });
    await (await crib.open()).activate('a');
    await crib.close();
    expect(result.state.isClosed).toBe(true);
  });
});

it('An instance of a class is a result by its members, wherever they are defined.', async () => {
  class Pool {
    readonly state = { isClosed: false };
    get instructions() {
      return 'Tables: users.';
    }
    dispose() {
      this.state.isClosed = true;
    }
  }
  const crib = await createCrib({ bundles: [bundleOf('db', { setup: () => new Pool() })] });
  const chest = await crib.open();
  await chest.activate('db');
  expect(chest.instructions()).toBe('Tables: users.');
  const state = chest.state('db');
  await crib.close();
  expect(state).toEqual({ isClosed: true });
});

describe('a failed setup', () => {
  const broken = () => {
    throw new Error('no network');
  };

  it('is logged once, with its bundle and its cause.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: broken }), bundleOf('b', { requires: 'a' })] });
    const chest = await crib.open();
    await chest.activate(['a', 'b']);
    await chest.activate('a');
    await chest.call('b_tool');
    expect(crib.warnings()).toEqual(['Bundle "a": its setup failed: no network']);
  });

  it('is not logged where the crib closes meanwhile.', async () => {
    const started = Promise.withResolvers<void>();
    const setup = ({ signal }: SetupContext) =>
      new Promise<SetupResult>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('called off')));
        started.resolve();
      });
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })] });
    const activation = (await crib.open()).activate('a');
    await started.promise;
    await crib.close();
    expect((await activation).ok).toBe(false);
    expect(crib.warnings()).toEqual([]);
  });
});

describe('the options of initTools', () => {
  const setup = ({ options }: SetupContext) => ({ state: { ...options } });

  it('reach every setup from then on, beside those of createCrib, whose place they take.', async () => {
    const bundles = [bundleOf('a', { setup }), bundleOf('b', { setup })];
    const crib = await createCrib({
      bundles,
      options: { url: 'db://x', apiKey: 'old' },
      profiles: { p: { active: 'a' } },
    });
    const chest = await crib.open();
    const given = { apiKey: 'new' };
    expect(await chest.initTools(given)).toEqual({ ok: true, applied: ['a'], rejected: [] });
    given.apiKey = 'changed later';
    await chest.activate('b');
    expect(stateIn(await chest.call('a_tool'))).toEqual({ url: 'db://x', apiKey: 'new' });
    expect(stateIn(await chest.call('b_tool'))).toEqual({ url: 'db://x', apiKey: 'new' });
    expect(given).toEqual({ apiKey: 'changed later' });
  });

  it('change nothing for a bundle that has been set up.', async () => {
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup })] })).open();
    await chest.activate('a');
    await chest.initTools({ apiKey: 'late' });
    expect(stateIn(await chest.call('a_tool'))).toEqual({});
  });

  it.each([['text'], [['list']], [null], [7]])('must be an object, not %j.', async (options) => {
    const chest = await (await createCrib({ bundles: [bundleOf('a')] })).open();
    expect(() => chest.initTools(options as never)).toThrow('The options of initTools must be an object, got');
  });
});

describe('chest.state', () => {
  it('gives the host the state of a bundle, by identity, once it is set up.', async () => {
    const connection = { query: () => 1 };
    const chest = await (
      await createCrib({ bundles: [bundleOf('db', { setup: () => ({ state: connection }) })] })
    ).open();
    expect(chest.state('db')).toBeUndefined();
    await chest.activate('db');
    expect(chest.state('db')).toBe(connection);
    await chest.deactivate('db');
    expect(chest.state('db')).toBe(connection);
  });

  it('gives nothing of a bundle that the profile does not show, nor of one that is not there.', async () => {
    const bundles = [bundleOf('db', { setup: () => ({ state: 1 }) }), bundleOf('shop')];
    const crib = await createCrib({ bundles, profiles: { all: {}, shop: { include: 'bundle:shop' } } });
    await (await crib.open('all')).activate('db');
    const chest = await crib.open('shop');
    expect([chest.state('db'), chest.state('dbb'), chest.state(7 as never)]).toEqual([undefined, undefined, undefined]);
  });
});

describe('names of the old constructor', () => {
  it.each([
    ['tool_classes', 'bundles'],
    ['toolClasses', 'bundles'],
    ['essential_toolsets', 'profiles: { NAME: { essential: [...] } }'],
    ['essentialToolsets', 'profiles: { NAME: { essential: [...] } }'],
    ['active_toolsets', 'profiles: { NAME: { active: [...] } }'],
    ['activeToolsets', 'profiles: { NAME: { active: [...] } }'],
  ])('createCrib answers %s with the new name.', async (old, now) => {
    await expect(createCrib({ [old]: [] } as never)).rejects.toMatchObject({
      code: 'unknown_option',
      message: `createCrib has no "${old}"; write ${now}.`,
    });
  });
});

describe('a tool in code joins a bundle of a source', () => {
  const remote = () => changingSource('gh', [toolOf('gh_issue')]).source;

  it('not_yours names the way that works: a bundle of the same name.', async () => {
    const crib = await createCrib({ sources: [remote()] });
    expect(() => crib.bundles.addTools('gh', toolOf('mine'))).toThrow(
      'Bundle "gh" belongs to a source; to add tools, define a bundle of the same name with them. It also gets the tools of the source.',
    );
    crib.bundles.define({ name: 'gh', tools: [toolOf('mine')] });
    expect(crib.bundles.info('gh')?.toolNames).toEqual(['mine', 'gh_issue']);
    crib.bundles.addTools('gh', toolOf('more'));
    expect(crib.bundles.of('more').map(({ name }) => name)).toEqual(['gh']);
  });

  it('not_yours of a bundle that a source brings: one of another name that includes its tools.', async () => {
    const bundle = defineBundle(bundleOf('brought'));
    const { source } = changingSource('mods', bundle.specs);
    const start = async (...args: Parameters<typeof source.start>) => ({
      ...(await source.start(...args)),
      bundles: () => [bundle],
    });
    const crib = await createCrib({ sources: [{ ...source, start }] });
    expect(() => crib.bundles.addTools('brought', toolOf('mine'))).toThrow(
      'Bundle "brought" comes from a source; to add tools, define a bundle of another name with them and include: ["brought_tool"].',
    );
    crib.bundles.define({ name: 'wider', tools: [toolOf('mine')], include: ['brought_tool'] });
    expect(crib.bundles.info('wider')?.toolNames).toEqual(['mine', 'brought_tool']);
    expect(namesOf((await crib.open()).list())).toContain('mine');
  });
});
