import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  begunBeside,
  beside,
  elsewhere,
  IS_ROOT,
  OPEN_AND_WRITE,
  open,
  replaceByLink,
  setting,
  states,
  USER,
} from './store-setting.ts';

const RECORD = 'store-place.json';
const MAY_MOUNT = spawnSync('unshare', ['-Urm', 'true']).status === 0;

describe('an unusable store beside the configuration is refused, and none is created elsewhere, if', () => {
  it.each<[string, (folder: string) => (() => void) | undefined]>([
    ['its folder cannot be written', (folder) => changeMode(folder, 0o555)],
    ['its folder cannot be entered', (folder) => changeMode(folder, 0o000)],
    ['its file cannot be written', (folder) => changeMode(join(folder, 'crib.db'), 0o444)],
    ['its file cannot be read', (folder) => changeMode(join(folder, 'crib.db'), 0o000)],
    ['its folder is a link to nothing', (folder) => replaceByLink(folder, join(folder, '../not-mounted'))],
    ['its folder is a link to itself', (folder) => replaceByLink(folder, folder)],
    ['its file is a link to nothing', (folder) => replaceByLink(join(folder, 'crib.db'), '/not-mounted/crib.db')],
    ['its file is not a database', (folder) => replaceByText(join(folder, 'crib.db'))],
    [
      'it is gone with its folder, which cannot be made',
      (folder) => {
        rmSync(folder, { recursive: true });
        chmodSync(join(folder, '..'), 0o555);
        return undefined;
      },
    ],
  ])('%s', async (_, spoil) => {
    const at = await begunBeside();
    const repair = spoil(beside(at));
    const refused = await open(at);
    expect(refused).toMatchObject({ code: 'store_unavailable' });
    expect(refused.message).toContain(join(beside(at), 'crib.db'));
    expect(elsewhere(at)).toEqual([]);
    if (repair === undefined) return;
    repair();
    expect(await open(at)).toMatchObject({ location: join(beside(at), 'crib.db'), warnings: [] });
  });

  it.runIf(IS_ROOT)('its folder belongs to another user', async () => {
    const at = await begunBeside();
    chownSync(beside(at), 0, 0);
    expect(await open(at)).toMatchObject({ code: 'store_unavailable' });
    expect(elsewhere(at)).toEqual([]);
  });

  it('the record of its place is missing, as in a store of an earlier version', async () => {
    const at = await begunBeside();
    rmSync(states(at), { recursive: true });
    chmodSync(beside(at), 0o555);
    expect(await open(at)).toMatchObject({ code: 'store_unavailable' });
    expect(elsewhere(at)).toEqual([]);
  });

  it.each<[string, (record: string) => void]>([
    ['belongs to another user', (record) => chmodSync(record, 0o000)],
    ['is not a record', (record) => writeFileSync(record, '{"place":')],
  ])('the record of its place %s', async (_, spoil) => {
    const at = await begunBeside();
    rmSync(beside(at), { recursive: true });
    chmodSync(at.project, 0o555);
    const [folder = ''] = readdirSync(states(at)).filter((name) => existsSync(join(states(at), name, RECORD)));
    spoil(join(states(at), folder, RECORD));
    const refused = await open(at);
    expect(refused).toMatchObject({ code: 'store_unavailable' });
    expect(refused.message).toContain(join(states(at), folder, RECORD));
    expect(elsewhere(at)).toEqual([]);
  });

  it('store.url names it, and nothing can be written there', async () => {
    const at = setting();
    chmodSync(at.project, 0o555);
    const refused = await open(at, USER, 'sqlite:.toolcrib/crib.db');
    expect(refused).toMatchObject({ code: 'store_unavailable' });
    expect(elsewhere(at)).toEqual([]);
  });

  it.runIf(MAY_MOUNT)('its disk is full at the first start: that is temporary, and a choice of place is not', () => {
    const at = setting();
    const script = 'mount -t tmpfs -o nr_inodes=1,mode=0777 none "$3" && exec "$0" --no-warnings "$1" "$2" "$3" "$4"';
    const command = [process.execPath, OPEN_AND_WRITE.pathname, '', at.project, at.home];
    const said = execFileSync('unshare', ['-Urm', 'sh', '-c', script, ...command], { encoding: 'utf8' });
    expect(JSON.parse(said)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('is on a full disk'),
    });
    expect(elsewhere(at)).toEqual([]);
  });
});

it('a removed database is created again in its place, with one notice', async () => {
  const at = await begunBeside();
  rmSync(join(beside(at), 'crib.db'));
  const anew = await open(at);
  expect(anew).toMatchObject({ location: join(beside(at), 'crib.db') });
  expect(anew.warnings).toEqual([
    expect.stringMatching(/crib\.db is missing, .* Toolcrib creates a new, empty store\.$/),
  ]);
  expect((await open(at)).warnings).toEqual([]);
  expect(elsewhere(at)).toEqual([]);
});

it('a link to a folder is followed', async () => {
  const at = setting();
  const target = join(at.project, '../volume');
  mkdirSync(target);
  chmodSync(target, 0o777);
  symlinkSync(target, beside(at));
  expect(await open(at)).toMatchObject({ location: join(beside(at), 'crib.db'), warnings: [] });
  chmodSync(target, 0o555);
  expect(await open(at)).toMatchObject({ code: 'store_unavailable' });
  expect([existsSync(join(target, 'crib.db')), elsewhere(at)]).toEqual([true, []]);
});

describe('processes that start at once for the first time', () => {
  it.each<[string, number]>([
    ['beside the configuration', 0o777],
    ['in the state directory', 0o555],
  ])('create one database %s', async (_, mode) => {
    const at = setting();
    chmodSync(at.project, mode);
    const all = await Promise.all(Array.from({ length: 4 }, () => open(at)));
    expect(new Set(all.map(({ location }) => location)).size).toBe(1);
    expect(
      all.flatMap(({ warnings }) => warnings).filter((warning) => /not there|two stores/.test(`${warning}`)),
    ).toEqual([]);
    const databases = [...elsewhere(at), ...(existsSync(join(beside(at), 'crib.db')) ? ['beside'] : [])];
    expect(databases).toHaveLength(1);
  });

  it.runIf(IS_ROOT)('create one database although only one of them may write beside the configuration', async () => {
    const at = setting();
    chmodSync(at.project, 0o555);
    const all = await Promise.all([0, USER, 0, USER].map((user) => open(at, user)));
    const locations = all.flatMap(({ location }) => location ?? []);
    expect(new Set(locations).size).toBe(1);
    const refused = all.filter(({ location }) => location === undefined);
    expect(refused.map(({ code }) => code)).toEqual(refused.map(() => 'store_unavailable'));
    expect([...elsewhere(at), join(beside(at), 'crib.db')].filter((file) => existsSync(file))).toHaveLength(1);
  });
});

function changeMode(path: string, mode: number): () => void {
  chmodSync(path, mode);
  return () => chmodSync(path, 0o700);
}

function replaceByText(path: string): () => void {
  renameSync(path, `${path}.away`);
  writeFileSync(path, 'This is a text that has nothing to do with it.\n'.repeat(50), { mode: 0o666 });
  chmodSync(path, 0o666);
  return () => renameSync(`${path}.away`, path);
}
