import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const OPEN_AND_WRITE = new URL('./processes/open-and-write.ts', import.meta.url);
const IS_ROOT = process.getuid?.() === 0;
/** Permissions do not hold root back, so that stores are opened by another user. */
const USER = IS_ROOT ? 65_534 : undefined;
const MAY_MOUNT = spawnSync('unshare', ['-Urm', 'true']).status === 0;

interface Setting {
  /** The folder of the configuration. */
  readonly project: string;
  readonly home: string;
}

interface Opened {
  readonly location?: string;
  readonly warnings?: readonly string[];
  readonly code?: string;
  readonly message?: string;
}

function setting(): Setting {
  const folder = temporaryFolder();
  const [project, home] = [join(folder, 'project'), join(folder, 'home')];
  for (const one of [project, home]) mkdirSync(one);
  for (const one of [folder, project, home]) chmodSync(one, 0o777);
  onTestFinished(() => void execFileSync('chmod', ['-R', 'u+rwX', folder]));
  return { project, home };
}

const beside = ({ project }: Setting): string => join(project, '.toolcrib');
const states = ({ home }: Setting): string => join(home, '.local/state/toolcrib');

/** The databases in the state directory of the user, without those that are reached by a link. */
function elsewhere(at: Setting): readonly string[] {
  if (!existsSync(states(at))) return [];
  const folders = readdirSync(states(at), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => join(states(at), name, 'crib.db')).filter((file) => existsSync(file));
}

async function open({ project, home }: Setting, user = USER, url = ''): Promise<Opened> {
  const { lines, ended } = startProcess(OPEN_AND_WRITE, [url, project, home], user);
  expect(await ended).toBe(0);
  return JSON.parse(lines[0] ?? '{}');
}

/** A setting whose store lies beside the configuration. */
async function begunBeside(): Promise<Setting> {
  const at = setting();
  expect(await open(at)).toMatchObject({ location: join(beside(at), 'crib.db'), warnings: [] });
  return at;
}

/** A setting whose store was begun in the state directory, since the configuration could not be written. */
async function begunElsewhere(): Promise<Setting> {
  const at = setting();
  chmodSync(at.project, 0o555);
  const { location, warnings } = await open(at);
  expect(elsewhere(at)).toEqual([location]);
  expect(warnings).toEqual([expect.stringContaining(`${beside(at)} cannot be written, so state is kept in`)]);
  return at;
}

describe('a store beside the configuration that cannot be used is refused, and none is begun elsewhere, where', () => {
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

  it('store.url names it, and nothing can be written there', async () => {
    const at = setting();
    chmodSync(at.project, 0o555);
    const refused = await open(at, USER, 'sqlite:.toolcrib/crib.db');
    expect(refused).toMatchObject({ code: 'store_unavailable' });
    expect(elsewhere(at)).toEqual([]);
  });

  it.runIf(MAY_MOUNT)('its disk is full at the first start: that passes, and a choice of place does not', () => {
    const at = setting();
    const script = 'mount -t tmpfs -o nr_inodes=1,mode=0777 none "$3" && exec "$0" --no-warnings "$1" "$2" "$3" "$4"';
    const command = [process.execPath, OPEN_AND_WRITE.pathname, '', at.project, at.home];
    const said = execFileSync('unshare', ['-Urm', 'sh', '-c', script, ...command], { encoding: 'utf8' });
    expect(JSON.parse(said)).toMatchObject({ code: 'store_unavailable', message: expect.stringContaining('is full') });
    expect(elsewhere(at)).toEqual([]);
  });
});

describe('a store that was begun in the state directory', () => {
  it('stays there when the configuration can be written, and that is said at every start', async () => {
    const at = await begunElsewhere();
    chmodSync(at.project, 0o777);
    const [location] = elsewhere(at);
    for (const _ of [1, 2]) {
      const again = await open(at);
      expect(again).toMatchObject({ location });
      expect(again.warnings).toEqual([expect.stringMatching(/was begun in .* and stays there\.$/)]);
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

  it('is begun anew there when its file was removed, and that is said once', async () => {
    const at = await begunElsewhere();
    const [location = ''] = elsewhere(at);
    rmSync(location);
    chmodSync(at.project, 0o777);
    const anew = await open(at);
    expect(anew).toMatchObject({ location });
    expect(anew.warnings?.[0]).toContain(`The store ${location} is not there`);
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
  ])('is refused, and none is begun beside the configuration, where %s', async (_, spoil) => {
    const at = await begunElsewhere();
    chmodSync(at.project, 0o777);
    spoil(at);
    expect(await open(at)).toMatchObject({ code: 'store_unavailable' });
    expect(existsSync(join(beside(at), 'crib.db'))).toBe(false);
  });

  it('is found by every path to the configuration, and by a link that leads to another folder later', async () => {
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
  it('the one on record is used, and the other one is named at every start', async () => {
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

  it('the one beside the configuration is used where no record was made, as by earlier versions', async () => {
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

it('a database that was removed is begun anew in its place, and that is said once', async () => {
  const at = await begunBeside();
  rmSync(join(beside(at), 'crib.db'));
  const anew = await open(at);
  expect(anew).toMatchObject({ location: join(beside(at), 'crib.db') });
  expect(anew.warnings).toEqual([expect.stringMatching(/crib\.db is not there, .* A new, empty store is begun\.$/)]);
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
  ])('make one database %s', async (_, mode) => {
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

  it.runIf(IS_ROOT)('make one database though only one of them may write beside the configuration', async () => {
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

/** Puts a link where something was; returns how to undo that. */
function replaceByLink(path: string, target: string): () => void {
  renameSync(path, `${path}.away`);
  symlinkSync(target, path);
  return () => {
    unlinkSync(path);
    renameSync(`${path}.away`, path);
  };
}

function replaceByText(path: string): () => void {
  renameSync(path, `${path}.away`);
  writeFileSync(path, 'This is a text that has nothing to do with it.\n'.repeat(50), { mode: 0o666 });
  chmodSync(path, 0o666);
  return () => renameSync(`${path}.away`, path);
}

function copyBeside(at: Setting, location: string): void {
  mkdirSync(beside(at), { recursive: true });
  copyFileSync(location, join(beside(at), 'crib.db'));
  for (const path of [beside(at), join(beside(at), 'crib.db')]) if (USER !== undefined) chownSync(path, USER, USER);
}
