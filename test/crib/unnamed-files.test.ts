import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createObservedCrib } from '../../src/crib/create-crib.ts';
import { createFolderWatch } from '../../src/system/watch.ts';
import { folderWith, namesOf, nextChange, write } from './workshop.ts';

afterEach(() => void vi.unstubAllGlobals());

const specs = (name: string) =>
  JSON.stringify({ tools: [{ name, description: name, run: { kind: 'http', url: 'https://x.y' } }] });
const API = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'x', version: '1' },
  servers: [{ url: 'https://x.y' }],
  paths: { '/pets': { get: { operationId: 'pets', responses: {} } } },
});
/** Counts in this process how often it is imported, started and read again. */
const COUNTER = `counted.imports++;
export default { name: 'counter', start: async () => {
  counted.starts++;
  return { specs: () => [], onChange: () => () => {}, status: () => ({ state: 'ready' }), close: async () => {},
    refresh: async () => void counted.refreshes++ };
} };\n`;
const SERVER = join(import.meta.dirname, '../kinds/mcp/servers/editable.ts');
const FILES = {
  'toolcrib.yaml': `sources:
  counter: { module: ./own/counter.mjs }
  specs: { files: ./specs }
  api: { openapi: ./api/pets.json }
  code: { modules: ./code }
  all: { mcpFile: ./servers/mcp.json }
secrets: { key: { file: ./secrets/key } }
`.replace('code:', 'modules:'),
  'own/counter.mjs': COUNTER,
  'specs/a.json': specs('from_file'),
  'api/pets.json': API,
  'code/tool.mjs': `counted.imports++;\nexport const t = { name: 'from_code', description: 'x', input: {}, execute: () => 1 };\n`,
  'servers/mcp.json': JSON.stringify({ mcpServers: { child: { command: './start.sh' } } }),
  'servers/start.sh': `#!/bin/sh\necho x >> "$(dirname "$0")/../started"\nexec "${process.execPath}" "${SERVER}"\n`,
  'secrets/key': 'hunter2hunter2',
};

interface Counted {
  imports: number;
  starts: number;
  refreshes: number;
}

/** A crib of these files that watches, and what it has done so far. */
async function watched(files: Readonly<Record<string, string>> = FILES, folder = folderWith(files)) {
  const counted: Counted = { imports: 0, starts: 0, refreshes: 0 };
  vi.stubGlobal('counted', counted);
  if (existsSync(join(folder, 'servers/start.sh'))) chmodSync(join(folder, 'servers/start.sh'), 0o755);
  const told: string[] = [];
  const onWarning = ({ message }: Error) => void told.push(message);
  process.on('warning', onWarning);
  let reads = 0;
  const crib = await createObservedCrib(
    { configFile: folder, store: { url: `sqlite:${folder}-crib.db` } },
    (config) => {
      reads++;
      return config;
    },
  );
  onTestFinished(async () => {
    process.off('warning', onWarning);
    await crib.close();
    for (const end of ['', '-wal', '-shm']) rmSync(`${folder}-crib.db${end}`, { force: true });
  });
  await vi.waitFor(() => expect(reads).toBe(2)); // the second looks whether it was edited before it was watched
  const serverStarts = () =>
    existsSync(join(folder, 'started')) ? readFileSync(join(folder, 'started'), 'utf8').split('\n').length - 1 : 0;
  const deeds = () => ({ ...counted, reads, told: [...told], starts: counted.starts, serverStarts: serverStarts() });
  return { crib, folder, deeds };
}

/** Resolves when a watcher of its own has seen what `work` does in a folder. */
async function seen(folder: string, work: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watching = createFolderWatch({ onChange: resolve, warn: () => {} });
  watching.listen(folder);
  work();
  await promise;
  watching.close();
}

describe('a file that the configuration does not name', () => {
  it.each(['.', 'own', 'specs', 'api', 'code', 'servers', 'secrets', 'elsewhere'])(
    'is not an edit when it is created, changed, renamed or removed: in %s',
    async (place) => {
      const { crib, folder, deeds } = await watched();
      const changed = vi.fn();
      crib.onChange(changed);
      const before = deeds();
      const inPlace = join(folder, place);
      mkdirSync(inPlace, { recursive: true });
      for (const name of ['serve.log', 'notes.txt', 'toolcrib.yaml.swp', '.hidden']) {
        const file = join(inPlace, name);
        await seen(inPlace, () => appendFileSync(file, 'one\n'));
        await seen(inPlace, () => appendFileSync(file, 'two\n'));
        await seen(inPlace, () => renameSync(file, `${file}.1`));
        await seen(inPlace, () => rmSync(`${file}.1`));
      }
      expect(deeds()).toEqual(before);
      expect(changed).not.toHaveBeenCalled();
    },
  );
});

describe('an edit of the configuration', () => {
  it('reloads only what changed', async () => {
    const { crib, folder, deeds } = await watched();
    const before = deeds();
    const change = nextChange(crib);
    write(folder, {
      'toolcrib.yaml': `${FILES['toolcrib.yaml']}tools: [{ name: new, description: x, run: { kind: http, url: "https://x.y" } }]\n`,
    });
    await change;
    expect(namesOf(crib)).toContain('new');
    expect(deeds()).toEqual({ ...before, reads: expect.any(Number) });
    await crib.reload(); // which waits for what is under way, and reads everything
    expect(deeds()).toMatchObject({ refreshes: 1, imports: before.imports, starts: before.starts });
  });

  it('starts no server that was not running', async () => {
    const first = await watched();
    expect(namesOf(first.crib)).toContain('child_mark');
    expect(first.deeds().serverStarts).toBe(1);
    await first.crib.close();
    const { crib, folder, deeds } = await watched(FILES, first.folder); // which knows the list from the store
    expect(namesOf(crib)).toContain('child_mark');
    for (const profile of ['one', 'two', 'three']) {
      write(folder, { 'toolcrib.yaml': `${FILES['toolcrib.yaml']}profiles: { ${profile}: {} }\n` });
      await vi.waitFor(() => expect(crib.profiles()).toEqual([profile]));
    }
    expect(deeds().serverStarts).toBe(1);
  });

  it('reports an existing problem once', async () => {
    const config = 'sources: { bad: { url: "https://x.y" }, gone: { files: ./gone } }\n';
    const { crib, folder, deeds } = await watched({ 'toolcrib.yaml': config });
    await vi.waitFor(() => expect(deeds().told).toHaveLength(2));
    for (const profile of ['one', 'two', 'three']) {
      write(folder, { 'toolcrib.yaml': `${config}profiles: { ${profile}: {} }\n` });
      await vi.waitFor(() => expect(crib.profiles()).toEqual([profile]));
    }
    expect(deeds().told).toHaveLength(2);
  });

  it('that happens while the crib starts is not missed', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'profiles: { one: {} }\n' });
    let reads = 0;
    const crib = await createObservedCrib({ configFile: folder, store: { url: 'memory:' } }, (config) => {
      if (reads++ === 0) write(folder, { 'toolcrib.yaml': 'profiles: { two: {} }\n' });
      return config;
    });
    onTestFinished(() => crib.close());
    await vi.waitFor(() => expect(crib.profiles()).toEqual(['two']));
  });
});
