import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, type CribOptions, createCrib, defineTool } from '../../src/index.ts';
import { folderWith } from './workshop.ts';

afterEach(() => void vi.restoreAllMocks());

const wipe = defineTool({
  name: 'wipe',
  description: 'Wipes',
  input: { type: 'object' },
  effects: { destructive: true },
  run: () => 'wiped',
});

/** A crib that works in a folder of its own. */
async function cribIn(folder: string, options: CribOptions): Promise<Crib> {
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const crib = await createCrib({ tools: [wipe], ...options });
  onTestFinished(() => crib.close());
  return crib;
}

const status = async ({ store }: Crib) => store?.status();
const park = async (crib: Crib) => (await crib.open(undefined, { id: 'ann' })).call('wipe', {}, { park: true });

describe('a store in code', () => {
  it.each(['memory', 'memory:', 'sqlite::memory:', ':memory:'])('is in memory if it is %s', async (store) => {
    const folder = folderWith({});
    const crib = await cribIn(folder, { store });
    expect(await park(crib)).toMatchObject({ status: 'waiting' });
    expect(await status(crib)).toMatchObject({ engine: 'memory', reachable: true });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['sqlite::memory:', 'sqlite://:memory:'])('is in memory if its url is %s', async (url) => {
    const folder = folderWith({});
    const crib = await cribIn(folder, { store: { url } });
    expect(await park(crib)).toMatchObject({ status: 'waiting' });
    expect(await status(crib)).toMatchObject({ engine: 'memory' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is in memory if a configuration says sqlite::memory:', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'store: { url: "sqlite::memory:" }\n' });
    const crib = await cribIn(folder, { configFile: folder });
    expect(await park(crib)).toMatchObject({ status: 'waiting' });
    expect(await status(crib)).toMatchObject({ engine: 'memory' });
    expect(readdirSync(folder).filter((name) => name !== '.toolcrib')).toEqual(['toolcrib.yaml']);
  });

  it('is a file if it is a path, relative to the working directory', async () => {
    const folder = folderWith({});
    const crib = await cribIn(folder, { store: './state/crib.db' });
    expect(await park(crib)).toMatchObject({ status: 'waiting' });
    expect(await status(crib)).toMatchObject({ engine: 'sqlite', location: join(folder, 'state/crib.db') });
    expect(existsSync(join(folder, 'state/crib.db'))).toBe(true);
  });

  it.each([
    ['an absolute path', (file: string) => file],
    ['sqlite:', (file: string) => `sqlite:${file}`],
    ['sqlite://', (file: string) => `sqlite://${file}`],
    ['file://', (file: string) => pathToFileURL(file).href],
  ])('is the same file by %s', async (_name, toStore) => {
    const folder = folderWith({});
    const crib = await cribIn(folder, { store: toStore(join(folder, 'my crib.db')) });
    expect(await park(crib)).toMatchObject({ status: 'waiting' });
    expect(await status(crib)).toMatchObject({ location: join(folder, 'my crib.db') });
  });

  it('keeps its requests, in every spelling', async () => {
    const folder = folderWith({});
    const crib = await cribIn(folder, { store: 'crib.db' });
    expect(await park(crib)).toMatchObject({ status: 'waiting' });
    await crib.close();
    const again = await cribIn(folder, { store: { url: 'sqlite:./crib.db' } });
    expect(await again.approvals.list({ state: 'waiting' })).toHaveLength(1);
  });

  it.each([
    ['', /is empty/],
    ['Memory', /"Memory" is neither.*'memory', a path such as '.\/crib.db', or a URL/],
    ['mysql://root:hunter2@host/db', /starts with "mysql:"/],
    ['redis://h', /starts with "redis:"/],
    [' postgres://root:hunter2@host/db', /neither a path nor a URL/],
    ['postgres://root:hunter2@host/db\n', /neither a path nor a URL/],
    ['sqlite:postgres://root:hunter2@host/db', /neither a path nor a URL/],
    ['./postgres://root:hunter2@host/db', /neither a path nor a URL/],
    ['  ', /is empty/],
    [7, /'memory', a path, a URL.*got 7/],
    [null, /got null/],
    [[], /'memory', a path/],
    [{}, /url/],
    [{ url: 7 }, /url/],
    [{ url: 'memory:', path: 'x' }, /path/],
    ['./a\0b.db', /character/],
  ])('that is %j is refused at once', async (store, message) => {
    const refused = await createCrib({ store: store as string }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: expect.stringMatching(/^invalid_(option|store)$|unknown_option/) });
    expect(String((refused as Error).message)).toMatch(message);
    expect(String((refused as Error).message)).not.toContain('hunter2');
  });

  it('that is a folder is refused at once, with the correct form', async () => {
    const folder = folderWith({ 'state/x': '' });
    const refused = await cribIn(folder, { store: './state' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'invalid_store', message: expect.stringContaining('state/crib.db') });
  });

  it('does not load the configuration of the working directory, nor plugins', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'tools: [{ name: other, description: d, run: { kind: http, url: "http://x" } }]\n',
    });
    writeFileSync(
      join(folder, 'plugin.mjs'),
      'export const t = { name: "plugged", description: "d", execute: () => 1 };',
    );
    vi.stubEnv('TOOLCRIB_PLUGINS_DIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const crib = await cribIn(folder, { store: 'memory' });
    expect(crib.catalog.specs.map(({ name }) => name)).toEqual(['wipe']);
  });
});

describe('parking without a store', () => {
  it('is refused with the name of the option', async () => {
    const crib = await createCrib({ tools: [wipe] });
    onTestFinished(() => crib.close());
    expect(await park(crib)).toMatchObject({
      status: 'failed',
      error: { code: 'denied', message: expect.stringMatching(/createCrib\(\{ store: 'memory' \}\)/) },
    });
  });
});
