import { describe, expect, it } from 'vitest';
import { type Chest, type Crib, createCrib, ToolcribError } from '../../src/index.ts';
import { wrong } from './wrong.ts';

async function open(): Promise<{ crib: Crib; chest: Chest }> {
  const tool = (name: string) => ({ name, description: name, run: () => name });
  const crib = await createCrib({ tools: [tool('add')], bundles: [{ name: 'files', tools: [tool('read')] }] });
  return { crib, chest: await crib.open() };
}

type Use = (parts: { crib: Crib; chest: Chest }) => unknown;

describe('a method that gets a value of the wrong type says so', () => {
  it.each<[string, Use]>([
    ['crib.match(null)', ({ crib }) => crib.match(wrong(null))],
    ['crib.match(undefined)', ({ crib }) => crib.match(wrong(undefined))],
    ['crib.match(a text)', ({ crib }) => crib.match(wrong('add'))],
    ['crib.open(5)', ({ crib }) => crib.open(wrong(5))],
    ['crib.explain without a caller', ({ crib }) => crib.explain(wrong(null), undefined, 'add')],
    ['crib.explain of nothing', ({ crib }) => crib.explain({}, undefined, wrong(undefined))],
    ['crib.extensions.add(null)', ({ crib }) => crib.extensions.add(wrong(null))],
    ['crib.extensions.add({})', ({ crib }) => crib.extensions.add(wrong({}))],
    ['crib.bundles.define(null)', ({ crib }) => crib.bundles.define(wrong(null))],
    ['crib.bundles.addTools to an unknown bundle', ({ crib }) => crib.bundles.addTools('flies', 'add')],
    ['crib.bundles.addTools of an unknown tool', ({ crib }) => crib.bundles.addTools('files', 'ad')],
    ['crib.bundles.addTools(null)', ({ crib }) => crib.bundles.addTools('files', wrong(null))],
    ['crib.bundles.removeTool of a tool that is not in it', ({ crib }) => crib.bundles.removeTool('files', 'add')],
    ['crib.bundles.expand(null)', ({ crib }) => crib.bundles.expand(wrong(null))],
    ['crib.onChange(5)', ({ crib }) => crib.onChange(wrong(5))],
    ['chest.search(undefined)', ({ chest }) => chest.search(wrong(undefined))],
    ['chest.search(5)', ({ chest }) => chest.search(wrong(5))],
    ['chest.search with an unknown option', ({ chest }) => chest.search('add', wrong({ limt: 1 }))],
    ['chest.search with options that are null', ({ chest }) => chest.search('add', wrong(null))],
  ])('%s', async (_, use) => {
    const parts = await open();
    const mistake = await Promise.resolve()
      .then(() => use(parts))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(mistake).toBeInstanceOf(ToolcribError);
  });

  it.each<[string, Use]>([
    ['crib.register(5)', ({ crib }) => crib.register(wrong(5))],
    ['crib.unregister(5)', ({ crib }) => crib.unregister(wrong(5))],
    ['crib.unregister([null])', ({ crib }) => crib.unregister(wrong([null]))],
    ['chest.activate(5)', ({ chest }) => chest.activate(wrong(5))],
    ['chest.activate([null])', ({ chest }) => chest.activate(wrong([null]))],
    ['chest.deactivate({})', ({ chest }) => chest.deactivate(wrong({}))],
    ['chest.setActive(null)', ({ chest }) => chest.setActive(wrong(null))],
    ['chest.addEssential(5)', ({ chest }) => chest.addEssential(wrong(5))],
  ])('%s: an Outcome that rejects, or an error in words', async (_, use) => {
    const parts = await open();
    const outcome = await Promise.resolve()
      .then(() => use(parts))
      .catch((error: unknown) => error);
    if (outcome instanceof ToolcribError) return;
    expect(outcome).toMatchObject({
      ok: false,
      applied: [],
      rejected: [{ name: expect.any(String), reason: expect.any(String) }],
    });
  });

  it.each<[string, Use]>([
    ['crib.get', ({ crib }) => crib.get(wrong(undefined))],
    ['crib.bundles.get', ({ crib }) => crib.bundles.get(wrong(null))],
    ['crib.bundles.info', ({ crib }) => crib.bundles.info(wrong(5))],
    ['chest.get', ({ chest }) => chest.get(wrong(Symbol('add')))],
  ])('lookups return undefined: %s', async (_, use) => {
    expect(use(await open())).toBeUndefined();
  });

  it('a refused change has no effect', async () => {
    const { crib, chest } = await open();
    const before = [crib.catalog.specs.length, crib.extensions.list().length, crib.bundles.names(), chest.active()];
    for (const change of [
      () => crib.extensions.add(wrong({})),
      () => crib.bundles.define(wrong({ name: 'more', tools: [{ name: 'new', run: () => 1 }, null] })),
      () => crib.bundles.addTools('files', wrong([{ name: 'new', run: () => 1 }, null])),
    ]) {
      expect(change).toThrow(ToolcribError);
    }
    await chest.setActive(['files', 'nobody']);
    expect([crib.catalog.specs.length, crib.extensions.list().length, crib.bundles.names(), chest.active()]).toEqual(
      before,
    );
  });
});
