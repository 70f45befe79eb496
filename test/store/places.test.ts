import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const OPEN_AND_WRITE = new URL('./processes/open-and-write.ts', import.meta.url);
const NOBODY = 65_534;

async function opened(options: StoreOptions): Promise<Store> {
  const store = await openStore(options);
  onTestFinished(() => store.close());
  return store;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

interface Said {
  readonly location?: string;
  readonly warnings?: readonly string[];
}

/** The output of a process that may write only where every user may: permissions do not hold root back. */
async function statusAsNobody(url: string, configFolder: string, home: string): Promise<Said> {
  const user = process.getuid?.() === 0 ? NOBODY : undefined;
  const { lines, ended } = startProcess(OPEN_AND_WRITE, [url, configFolder, home], user);
  expect(await ended).toBe(0);
  return JSON.parse(lines[0] ?? '');
}

/** A folder that the process of `statusAsNobody` may enter. */
function folderForAnybody(mode: number): string {
  const folder = temporaryFolder();
  chmodSync(folder, mode);
  onTestFinished(() => chmodSync(folder, 0o700));
  return folder;
}

/** A link to a file, in a folder of its own. */
function linkTo(file: string, name: string): string {
  const link = join(temporaryFolder(), name);
  symlinkSync(file, link);
  return link;
}

describe('the place of the store', () => {
  it('is a file in .toolcrib beside the configuration, ignored by git', async () => {
    const configFolder = temporaryFolder();
    const store = await opened({ configFolder, env: {} });
    await store.activeSets.put('assistant', [], 'alice');
    expect(await store.status()).toEqual({
      engine: 'sqlite',
      location: join(configFolder, '.toolcrib/crib.db'),
      reachable: true,
      warnings: [],
    });
    expect(readFileSync(join(configFolder, '.toolcrib/.gitignore'), 'utf8')).toBe('*\n');
  });

  it('is the state directory of the user if the configuration folder cannot be written, one per configuration', async () => {
    const [home, first, second] = [folderForAnybody(0o777), folderForAnybody(0o555), folderForAnybody(0o555)];
    const one = await statusAsNobody('', first, home);
    const other = await statusAsNobody('', second, home);
    const states = join(home, '.local/state/toolcrib');
    expect(readdirSync(states)).toHaveLength(2);
    expect(one).toMatchObject({ engine: 'sqlite', location: expect.stringContaining(states), reachable: true });
    expect(one.warnings).toEqual([expect.stringContaining(`${first}/.toolcrib is not writable`)]);
    expect(other.location).not.toBe(one.location);
  });

  it('is XDG_STATE_HOME, if set, instead of the home folder', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.toolcrib'), 'a file where the folder would be');
    const store = await opened({
      configFolder: folder,
      env: { XDG_STATE_HOME: join(folder, 'state'), HOME: '/nowhere' },
    });
    expect((await store.status()).location).toMatch(new RegExp(`^${folder}/state/toolcrib/[0-9a-f]{16}/crib\\.db$`));
  });

  it('is memory, with a warning, if nothing can be written', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.toolcrib'), '');
    const store = await opened({ configFolder: folder, env: { HOME: join(folder, '.toolcrib') } });
    expect(await store.status()).toMatchObject({
      engine: 'memory',
      reachable: true,
      warnings: [expect.stringContaining('all state is lost when this process ends')],
    });
  });

  it('is memory, with a warning, without a configuration', async () => {
    const store = await opened({ env: {} });
    expect(await store.status()).toMatchObject({ engine: 'memory', warnings: [expect.stringContaining('store.url')] });
  });

  it('is the file of its URL, relative to the configuration, with missing folders created', async () => {
    const configFolder = temporaryFolder();
    const store = await opened({ url: 'sqlite:state/deep/my crib?#.db', configFolder, env: {} });
    await store.activeSets.put('assistant', [], 'alice');
    expect(existsSync(join(configFolder, 'state/deep/my crib?#.db'))).toBe(true);
    expect([modeOf(join(configFolder, 'state')), modeOf(join(configFolder, 'state/deep'))]).toEqual(['700', '700']);
  });

  it.each(['mysql://root:hunter2@host/db', 'hunter2', 'sqlite:', ''])(
    'refuses the URL %j without repeating it',
    async (url) => {
      const refused = await openStore({ url, env: {} }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'invalid_store', message: expect.stringContaining('sqlite:path') });
      expect(String(refused)).not.toContain('hunter2');
    },
  );
});

describe('read permission of the store', () => {
  it('is limited to the owner, whatever the umask, from the first moment', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const configFolder = temporaryFolder();
    const store = await opened({ configFolder, env: {} });
    await store.activeSets.put('assistant', [], 'alice');
    await store.activeSets.get('assistant');
    const folder = join(configFolder, '.toolcrib');
    expect(modeOf(folder)).toBe('700');
    const modes = readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]);
    expect(modes.toSorted()).toEqual([
      ['.gitignore', '600'],
      ['crib.db', '600'],
      ['crib.db-shm', '600'],
      ['crib.db-wal', '600'],
    ]);
  });

  it.each(['644', '666', '660', '604'])(
    'is taken from other users for a file of mode %s, and for the files that SQLite keeps beside it',
    async (mode) => {
      const folder = temporaryFolder();
      const file = join(folder, 'crib.db');
      const before = await opened({ url: `sqlite:${file}`, env: {} });
      await before.activeSets.put('assistant', [], 'alice');
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), Number.parseInt(mode, 8));
      const store = await opened({ url: `sqlite:${file}`, env: {} });
      await store.activeSets.put('assistant', [], 'bob');
      expect(readdirSync(folder).map((name) => modeOf(join(folder, name)))).toEqual(['600', '600', '600']);
    },
  );

  it.each([
    ['named itself', (file: string) => file],
    ['behind a link', (file: string) => linkTo(file, 'crib.db')],
    ['behind a link in the place of the log', (file: string) => linkTo(file, 'crib.db-wal').slice(0, -'-wal'.length)],
  ])('is not changed for a foreign file: %s', async (_name, placeOf) => {
    const file = join(temporaryFolder(), 'page.html');
    writeFileSync(file, '<p>For everybody</p>');
    chmodSync(file, 0o644);
    const write = async () => (await opened({ url: `sqlite:${placeOf(file)}`, env: {} })).activeSets.put('a', [], 'b');
    await write().catch((cause: Error) => expect(cause.message).toMatch(/not a SQLite database/));
    expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual(['644', '<p>For everybody</p>']);
  });

  it('a file or folder without write permission is refused with a sentence', async () => {
    const file = join(folderForAnybody(0o777), 'crib.db');
    const store = await openStore({ url: `sqlite:${file}`, env: {} });
    await store.close();
    chmodSync(file, 0o444);
    const readOnlyFile = await statusAsNobody(`sqlite:${file}`, '.', '/nowhere');
    expect(readOnlyFile).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(`${file} cannot be written`),
    });
    const folder = folderForAnybody(0o555);
    const readOnlyFolder = await statusAsNobody(`sqlite:${folder}/crib.db`, '.', '/nowhere');
    expect(readOnlyFolder).toMatchObject({ code: 'store_unavailable', message: expect.stringContaining(folder) });
  });
});
