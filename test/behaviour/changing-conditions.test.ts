import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { bundleOf, endOf, namesOf, toolOf } from './small-crib.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('conditions are evaluated again when their inputs change', () => {
  const VARIABLE = 'TOOLCRIB_TEST_CONDITION';

  it('A tool appears when its environment variable is set, and disappears with it.', async () => {
    const chest = await (await createCrib({ tools: [toolOf('t', { when: { env: VARIABLE } }), toolOf('u')] })).open();
    expect(namesOf(chest.list())).toEqual(['u']);
    vi.stubEnv(VARIABLE, '1');
    expect(namesOf(chest.list())).toEqual(['t', 'u']);
    expect(endOf(await chest.call('t'))).toBe('done');
    vi.stubEnv(VARIABLE, '');
    expect(endOf(await chest.call('t'))).toBe('unknown_tool');
    expect(namesOf(chest.list())).toEqual(['u']);
  });

  it('A bundle appears and disappears with the result of its predicate.', async () => {
    let isOpen = false;
    const crib = await createCrib({ bundles: [bundleOf('shop', { when: { predicate: () => isOpen } })] });
    const chest = await crib.open();
    expect([chest.available(), namesOf(chest.list())]).toEqual([[], []]);
    isOpen = true;
    expect([chest.available(), namesOf(chest.list())]).toEqual([['shop'], ['shop_tool']]);
    expect((await chest.search('shop tool')).map(({ name }) => name)).toEqual(['shop_tool']);
    isOpen = false;
    expect(endOf(await chest.call('shop_tool'))).toBe('unknown_tool');
    expect(crib.explain({}, undefined, 'shop_tool').reasons.join()).toContain('its predicate returned false');
  });

  it('The reason is the current one.', async () => {
    const crib = await createCrib({ tools: [toolOf('t', { when: { env: VARIABLE, service: 'printer' } })] });
    expect(crib.explain({}, undefined, 't').reasons.join()).toContain(`${VARIABLE} is not set`);
    vi.stubEnv(VARIABLE, '1');
    expect(crib.explain({}, undefined, 't').reasons.join()).toContain('the service "printer" is missing');
  });

  it('onChange reports new tools when a caller lists them.', async () => {
    const crib = await createCrib({ tools: [toolOf('t', { when: { env: VARIABLE } })] });
    const told = vi.fn();
    crib.onChange(told);
    vi.stubEnv(VARIABLE, '1');
    (await crib.open()).list();
    expect(told).toHaveBeenCalledExactlyOnceWith({ added: ['t'], removed: [], changed: [] });
  });

  it('While nothing changes, the listing is the same object.', async () => {
    const predicate = vi.fn(() => true);
    const tools = [toolOf('t', { when: { predicate } }), toolOf('u', { when: { env: 'PATH', predicate } })];
    const chest = await (await createCrib({ tools })).open();
    const before = chest.list();
    predicate.mockClear();
    expect(chest.list()).toBe(before);
    expect(predicate).toHaveBeenCalled();
  });

  it('A predicate that reads the crib itself, or throws, blocks nothing.', async () => {
    let look = (): unknown => undefined;
    const predicate = () => {
      look();
      return true;
    };
    const crib = await createCrib({ tools: [toolOf('t', { when: { predicate } })] });
    look = () => crib.match({});
    expect(namesOf((await crib.open()).list())).toEqual(['t']);
    look = () => {
      throw new Error(`disk ${Math.random()}`);
    };
    expect(namesOf((await crib.open()).list())).toEqual([]);
  });
});
