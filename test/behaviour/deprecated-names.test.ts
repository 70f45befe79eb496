import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Chest, createCrib } from '../../src/index.ts';
import { bundleOf, oneTurn } from './small-crib.ts';

/** What the process was warned of; Node warns once per name for the whole process, so the tests here share it. */
const warnings: (Error & { code?: string })[] = [];
const note = (warning: Error) => void warnings.push(warning);
beforeAll(() => void process.on('warning', note));
afterAll(() => void process.off('warning', note));

async function openAb(active: readonly string[] = []): Promise<Chest> {
  const bundles = [bundleOf('a', { description: 'First' }), bundleOf('b')];
  return (await createCrib({ bundles, profiles: { p: { active } } })).open();
}

describe('deprecated names work', () => {
  it.each(['activateTool', 'activateToolset'] as const)('%s activates.', async (name) => {
    const chest = await openAb();
    expect(await chest[name](['a', 'unknown'])).toMatchObject({ ok: false, applied: ['a'] });
    expect(chest.active()).toEqual(['a']);
  });

  it('deactivateToolset deactivates.', async () => {
    const chest = await openAb(['a', 'b']);
    expect(await chest.deactivateToolset('a')).toMatchObject({ ok: true, applied: ['a'] });
    expect(chest.active()).toEqual(['b']);
  });

  it('setActiveToolsets sets the active bundles.', async () => {
    const chest = await openAb(['a']);
    await chest.setActiveToolsets(['b']);
    expect(chest.active()).toEqual(['b']);
  });

  it('addEssentialToolset makes essential.', async () => {
    const chest = await openAb();
    await chest.addEssentialToolset('b');
    expect([chest.essential(), chest.active()]).toEqual([['b'], ['b']]);
  });

  it.each(['activeTools', 'activeToolsets'] as const)('%s is a record of name to bundle.', async (name) => {
    const chest = await openAb(['a']);
    expect(chest[name]).toEqual({
      a: { name: 'a', description: 'First', toolCount: 1, toolNames: ['a_tool'], meta: {} },
    });
  });

  it('activeTools tells nothing of tools outside the view.', async () => {
    const bundles = [bundleOf('a'), { name: 'both', include: ['a_tool', 'b_tool'] }, bundleOf('b')];
    const chest = await (await createCrib({ bundles, profiles: { p: { exclude: 'b_*' } } })).open();
    expect(JSON.stringify(chest.activeTools)).not.toContain('b_tool');
    expect(Object.keys(chest.activeTools)).toEqual(['a', 'both']);
  });

  it('toolClasses are the names of the available bundles.', async () => {
    expect((await openAb()).toolClasses).toEqual(['a', 'b']);
  });

  it('initTools sets up the active bundles and nothing else.', async () => {
    const done: string[] = [];
    const bundles = ['a', 'b'].map((name) => bundleOf(name, { setup: () => void done.push(name) }));
    const chest = await (await createCrib({ bundles, profiles: { p: { active: ['b'] } } })).open();
    expect(await chest.initTools()).toEqual({ ok: true, applied: ['b'], rejected: [] });
    expect(done).toEqual(['b']);
  });
});

describe('deprecated names warn', () => {
  it.each([
    ['activateTool', 'activate()', (chest: Chest) => chest.activateTool('a')],
    ['activateToolset', 'activate()', (chest: Chest) => chest.activateToolset('a')],
    ['deactivateToolset', 'deactivate()', (chest: Chest) => chest.deactivateToolset('a')],
    ['setActiveToolsets', 'setActive()', (chest: Chest) => chest.setActiveToolsets('a')],
    ['addEssentialToolset', 'addEssential()', (chest: Chest) => chest.addEssentialToolset('a')],
    ['activeTools', 'active()', (chest: Chest) => chest.activeTools],
    ['activeToolsets', 'active()', (chest: Chest) => chest.activeToolsets],
    ['toolClasses', 'available()', (chest: Chest) => chest.toolClasses],
    ['initTools', 'activate()', (chest: Chest) => chest.initTools()],
  ])('%s warns once, however many chests use it, and names %s.', async (name, instead, use) => {
    const [one, other] = [await openAb(['a']), await openAb(['a'])];
    for (const chest of [one, other, one]) await use(chest);
    await oneTurn();
    const own = warnings.filter((warning) => warning.code === `TOOLCRIB_${name}`);
    expect(own.map((warning) => [warning.name, warning.message])).toEqual([
      ['DeprecationWarning', `chest.${name} is deprecated; use chest.${instead}`],
    ]);
  });

  it('The current names cause no warning.', async () => {
    const before = warnings.length;
    const chest = await openAb(['a']);
    await chest.activate('b');
    await chest.deactivate('b');
    chest.active();
    chest.available();
    await oneTurn();
    expect(warnings.slice(before)).toEqual([]);
  });
});

/** Newer members of `crib.server` are found there alone. */
const FORMER_NAMES = [
  'activeSets',
  'checkStored',
  'endCalls',
  'idle',
  'isStarting',
  'keptResult',
  'listed',
  'noteListening',
  'onListings',
  'openAtDoor',
  'operatorToken',
  'operatorTokenFile',
  'parked',
  'reloadSource',
  'reloadStored',
  'requestStates',
  'runParked',
  'serverSettings',
  'stateWarnings',
  'warn',
];

describe('names of a crib from before crib.server', () => {
  it('are the same members, and cause no warning', async () => {
    const crib = await createCrib();
    onTestFinished(() => crib.close());
    const before = warnings.length;
    const both = Object.keys(crib.server).filter((name) => name in crib);
    expect(both.sort()).toEqual(FORMER_NAMES);
    const of = (place: object, name: string): unknown => Reflect.get(place, name);
    expect(both.filter((name) => of(crib, name) !== of(crib.server, name))).toEqual([]);
    await oneTurn();
    expect(warnings).toHaveLength(before);
  });
});
