import { describe, expect, it } from 'vitest';
import { database, type SpecsPort } from '../../src/sources/database.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeWorkspace, namesIn, nextChange, openCrib, statusOf, untilNames } from './files-workspace.ts';

const specOf = (name: string, changes: object = {}) => ({
  name,
  description: `Does ${name}`,
  run: { kind: 'http', method: 'GET', url: `https://example.com/${name}` },
  ...changes,
});

/** The specs of a store that lives in memory; `tells` says whether it can tell of changes. */
function storeOf(first: readonly object[], tells: 'tells' | 'is asked' = 'tells') {
  let stored = first;
  let version = 0;
  let failure: Error | undefined;
  let lists = 0;
  let asked = Promise.withResolvers<void>();
  const listeners = new Set<() => void>();
  const port: SpecsPort = {
    async list() {
      lists += 1;
      if (failure !== undefined) throw failure;
      return stored.map((spec) => ({ name: 'name' in spec ? String(spec.name) : '', spec }));
    },
    async version() {
      asked.resolve();
      asked = Promise.withResolvers();
      if (failure !== undefined) throw failure;
      return String(version);
    },
    ...(tells === 'tells' && {
      onChange(listener: () => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    }),
  };
  return {
    port,
    lists: () => lists,
    listeners,
    nextQuestion: () => asked.promise,
    put(specs: readonly object[]) {
      stored = specs;
      version += 1;
      for (const listener of listeners) listener();
    },
    failWith(error: Error | undefined) {
      failure = error;
    },
  };
}

describe('specs in a store', () => {
  it('are listed', async () => {
    const crib = await openCrib({
      sources: [database({ name: 'stored', specs: storeOf([specOf('a'), specOf('b')]).port })],
    });
    expect(namesIn(crib)).toEqual(['a', 'b']);
    expect(statusOf(crib, 'stored')).toEqual({ name: 'stored', state: 'ready', toolCount: 2 });
  });

  it('are updated when the store announces a change', async () => {
    const store = storeOf([specOf('a'), specOf('b')]);
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port, refreshMs: 3_600_000 })] });
    const before = crib.get('b');
    const changed = nextChange(crib);
    store.put([specOf('b'), specOf('c')]);
    expect(await changed).toEqual({ added: ['c'], removed: ['a'], changed: [] });
    expect(crib.get('b')).toBe(before);
  });

  it('are updated when another process changes them, by polling the version', async () => {
    const store = storeOf([specOf('a')], 'is asked');
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port, refreshMs: 5 })] });
    for (let index = 0; index < 3; index++) await store.nextQuestion();
    expect(store.lists()).toBe(1);
    const changed = nextChange(crib);
    store.put([specOf('a', { description: 'else' })]);
    expect(await changed).toEqual({ added: [], removed: [], changed: ['a'] });
  });

  it('are read again on reload', async () => {
    const store = storeOf([specOf('a')], 'is asked');
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port })] });
    store.put([specOf('b')]);
    expect(await crib.reload()).toEqual({ added: ['b'], removed: ['a'], changed: [] });
  });

  it('stay unchanged while the store cannot be read', async () => {
    const store = storeOf([specOf('a')]);
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port })] });
    store.failWith(new Error('the disk is gone'));
    await crib.reload();
    expect(namesIn(crib)).toEqual(['a']);
    expect(statusOf(crib, 'stored')).toMatchObject({
      state: 'down',
      reason: 'the store cannot be read: the disk is gone',
    });
    store.failWith(undefined);
    await crib.reload();
    expect(statusOf(crib, 'stored')).toEqual({ name: 'stored', state: 'ready', toolCount: 1 });
  });

  it('may appear for the first time later', async () => {
    const store = storeOf([specOf('a')]);
    store.failWith(new Error('no connection'));
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port })] });
    expect(statusOf(crib, 'stored')).toMatchObject({ state: 'failed' });
    store.failWith(undefined);
    expect((await crib.reload()).added).toEqual(['a']);
  });

  it('that are bad are reported by name, and the others are listed', async () => {
    const store = storeOf([
      specOf('a'),
      specOf('bad', { run: 7 }),
      specOf('c', { run: { kind: 'shell', command: ['ls'] } }),
    ]);
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port })] });
    expect(namesIn(crib)).toEqual(['a']);
    expect(crib.warnings()).toEqual([
      expect.stringContaining('stored spec "bad"'),
      expect.stringContaining('its source allows only http'),
    ]);
  });

  it('are copied, so that the store keeps its own', async () => {
    const own = specOf('a', { meta: { x: { y: 1 } } });
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: storeOf([own]).port })] });
    expect(crib.get('a')).toBeDefined();
    expect([own.run, 'meta' in own && own.meta].some(Object.isFrozen)).toBe(false);
  });

  it('are no longer polled once the crib is closed', async () => {
    const store = storeOf([specOf('a')]);
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.port })] });
    await crib.close();
    expect(store.listeners.size).toBe(0);
  });

  it('require a store', () => {
    expect(() => database({ name: 'stored' } as never)).toThrow(
      'specs must be an object with list(), such as store.specs; got nothing',
    );
  });
});

describe('a store on SQLite', () => {
  it('shows added and removed specs', async () => {
    const workspace = makeWorkspace();
    const store = await openStore({ url: `sqlite:${workspace.at('crib.db')}`, env: {} });
    await store.specs.put(specOf('a'), 'ann');
    const crib = await openCrib({ sources: [database({ name: 'stored', specs: store.specs, refreshMs: 5 })] });
    expect(namesIn(crib)).toEqual(['a']);
    await store.specs.put(specOf('b'), 'ann');
    await untilNames(crib, ['a', 'b']);
    await store.specs.remove('a', 'ann');
    await untilNames(crib, ['b']);
    await crib.close();
    await store.close();
  });
});
