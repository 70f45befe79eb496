import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  begunElsewhere,
  beside,
  elsewhere,
  open,
  replaceByLink,
  type Setting,
  setting,
  states,
  USER,
} from './store-setting.ts';

describe('a store that was begun in the state directory', () => {
  it('stays there when the configuration becomes writable, with a notice at every start', async () => {
    const at = await begunElsewhere();
    chmodSync(at.project, 0o777);
    const [location] = elsewhere(at);
    for (const _ of [1, 2]) {
      const again = await open(at);
      expect(again).toMatchObject({ location });
      expect(again.warnings).toEqual([expect.stringMatching(/The store is in .* It stays there\.$/)]);
    }
    expect(existsSync(join(beside(at), 'crib.db'))).toBe(false);
  });

  it('stays there without a record, as in a store of an earlier version', async () => {
    const at = await begunElsewhere();
    const [location = ''] = elsewhere(at);
    rmSync(join(location, '../store-place.json'));
    chmodSync(at.project, 0o777);
    expect(await open(at)).toMatchObject({ location });
    expect(existsSync(join(beside(at), 'crib.db'))).toBe(false);
  });

  it('is created again there when its file was removed, with one notice', async () => {
    const at = await begunElsewhere();
    const [location = ''] = elsewhere(at);
    rmSync(location);
    chmodSync(at.project, 0o777);
    const anew = await open(at);
    expect(anew).toMatchObject({ location });
    expect(anew.warnings?.[0]).toContain(`The store ${location} is missing`);
    expect((await open(at)).warnings).toHaveLength(1);
  });

  it('moves beside the configuration when the operator moves the file', async () => {
    const at = await begunElsewhere();
    const [location = ''] = elsewhere(at);
    chmodSync(at.project, 0o777);
    mkdirSync(beside(at));
    if (USER !== undefined) chownSync(beside(at), USER, USER);
    renameSync(location, join(beside(at), 'crib.db'));
    for (const _ of [1, 2])
      expect(await open(at)).toMatchObject({ location: join(beside(at), 'crib.db'), warnings: [] });
    expect(elsewhere(at)).toEqual([]);
  });

  it.each<[string, (at: Setting) => void]>([
    ['the folder of the store cannot be entered', (at) => chmodSync(join(elsewhere(at)[0] ?? '', '..'), 0o000)],
    ['the state directory cannot be entered', (at) => chmodSync(states(at), 0o000)],
    ['the state directory is a link to nothing', (at) => void replaceByLink(join(at.home, '.local'), '/not-mounted')],
  ])('is refused, and none is created beside the configuration, if %s', async (_, spoil) => {
    const at = await begunElsewhere();
    chmodSync(at.project, 0o777);
    spoil(at);
    expect(await open(at)).toMatchObject({ code: 'store_unavailable' });
    expect(existsSync(join(beside(at), 'crib.db'))).toBe(false);
  });

  it('is found by every path to the configuration, and by a link that changes its target later', async () => {
    const at = setting();
    const link = { ...at, project: join(at.project, '../current') };
    symlinkSync(at.project, link.project);
    chmodSync(at.project, 0o555);
    const { location = '' } = await open(link);
    const byRealPath = await open(at);
    expect(realpathSync(byRealPath.location ?? '')).toBe(realpathSync(location));
    const next = join(at.project, '../next');
    mkdirSync(next, { mode: 0o555 });
    unlinkSync(link.project);
    symlinkSync(next, link.project);
    expect(await open(link)).toMatchObject({ location });
    expect(elsewhere(at)).toHaveLength(1);
  });

  it('is found by a link to a configuration that was started by its own path first', async () => {
    const at = await begunElsewhere();
    const link = { ...at, project: join(at.project, '../current') };
    symlinkSync(at.project, link.project);
    expect(await open(link)).toMatchObject({ location: elsewhere(at)[0] });
    expect(elsewhere(at)).toHaveLength(1);
  });
});

describe('of two databases', () => {
  it('the recorded one is used, and the other one is named at every start', async () => {
    const at = await begunElsewhere();
    const [location = ''] = elsewhere(at);
    chmodSync(at.project, 0o777);
    copyBeside(at, location);
    for (const _ of [1, 2]) {
      const opened = await open(at);
      expect(opened).toMatchObject({ location });
      expect(opened.warnings?.[1]).toContain(`Only ${location} is used; move ${beside(at)}/crib.db away`);
    }
  });

  it('the one beside the configuration is used without a record, as in earlier versions', async () => {
    const at = await begunElsewhere();
    const [location = ''] = elsewhere(at);
    rmSync(join(location, '../store-place.json'));
    chmodSync(at.project, 0o777);
    copyBeside(at, location);
    for (const _ of [1, 2]) {
      const opened = await open(at);
      expect(opened).toMatchObject({ location: join(beside(at), 'crib.db') });
      expect(opened.warnings).toEqual([expect.stringContaining(`move ${location} away`)]);
    }
    chmodSync(beside(at), 0o555);
    expect(await open(at)).toMatchObject({ code: 'store_unavailable' });
  });
});

function copyBeside(at: Setting, location: string): void {
  mkdirSync(beside(at), { recursive: true });
  copyFileSync(location, join(beside(at), 'crib.db'));
  for (const path of [beside(at), join(beside(at), 'crib.db')]) if (USER !== undefined) chownSync(path, USER, USER);
}
