import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFolderWatch } from '../../src/system/watch.ts';
import { cribOf, folderWith, namesOf, nextChange, write } from './workshop.ts';

const tool = (name: string, description = name) =>
  JSON.stringify({ tools: [{ name, description, run: { kind: 'shell', command: ['true'] } }] });
const configuration = (profile: string) => `
sources:
  local: { files: ./tools }
profiles:
  assistant: ${profile}
`;
const START = {
  'toolcrib.yaml': configuration('{ include: [one] }'),
  'tools/one.json': tool('one'),
  'tools/two.json': tool('two'),
};

afterEach(() => void vi.unstubAllGlobals());

describe('reload', () => {
  it('reports added, removed and changed entries', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder, { watch: false }); // else the watcher may be faster, and nothing is left to report
    write(folder, { 'tools/one.json': tool('one', 'another'), 'tools/two.json': tool('three') });
    expect(await crib.reload()).toEqual({ added: ['three'], removed: ['two'], changed: ['one'] });
    expect(crib.get('one')?.description).toBe('another');
  });

  it('an edit of the configuration is picked up while running, and open chests follow', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    const chest = await crib.open('assistant');
    expect(chest.list().map((spec) => spec.name)).toEqual(['one']);
    write(folder, { 'toolcrib.yaml': configuration('{ include: [two] }') });
    await crib.reload();
    expect(chest.list().map((spec) => spec.name)).toEqual(['two']);
    expect(await chest.call('one')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('an edit is noticed automatically', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    const changed = nextChange(crib);
    write(folder, { 'tools/four.json': tool('four') });
    await changed;
    expect(namesOf(crib)).toContain('four');
  });

  it('other files in its folder, such as a log of the server, do not count as edits', async () => {
    const counted = { reads: 0 };
    vi.stubGlobal('countedReads', counted);
    const source = `export default { name: 'counter', start: async () => ({
      specs: () => [], onChange: () => () => {}, status: () => ({ state: 'ready' }), close: async () => {},
      refresh: async () => void countedReads.reads++,
    }) };`;
    const files = { 'toolcrib.yaml': 'sources: { counter: { module: ./counter.mjs } }\n', 'counter.mjs': source };
    const folder = folderWith(files);
    const crib = await cribOf(folder);
    const told = vi.fn();
    const watching = createFolderWatch({ onChange: told, warn: () => {} });
    onTestFinished(() => watching.close());
    watching.listen(folder);
    for (const line of ['one', 'two', 'three']) {
      told.mockClear();
      write(folder, { 'serve.log': line });
      await vi.waitFor(() => expect(told).toHaveBeenCalled());
    }
    await crib.reload();
    expect(counted.reads).toBe(1); // by the reload
    write(folder, { 'toolcrib.yaml': `${files['toolcrib.yaml']}profiles: { later: {} }\n` });
    await vi.waitFor(() => expect(crib.profiles()).toEqual(['later']));
  });

  it('an added source appears, and a removed one disappears', async () => {
    const folder = folderWith({ ...START, 'more/five.json': tool('five') });
    const crib = await cribOf(folder);
    write(folder, { 'toolcrib.yaml': 'sources:\n  more: { files: ./more }\n' });
    await vi.waitFor(() => expect(namesOf(crib)).toEqual(['five']));
    expect(crib.sources().map((source) => source.name)).toEqual(['code', 'more']);
  });

  it('a configuration that does not parse keeps the old state, and reload says why', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    write(folder, { 'toolcrib.yaml': 'sources: [\n' });
    await expect(crib.reload()).rejects.toMatchObject({ name: 'ToolcribError', code: 'invalid_config' });
    expect(namesOf(crib)).toEqual(['one', 'two']);
    expect((await crib.open('assistant')).list()).toHaveLength(1);
  });

  it('a configuration with a bundle that does not exist keeps the old state', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    write(folder, { 'toolcrib.yaml': configuration('{ include: [two], essential: [nowhere] }') });
    await expect(crib.reload()).rejects.toThrow('nowhere');
    expect((await crib.open('assistant')).list().map((spec) => spec.name)).toEqual(['one']);
  });

  it('a removed profile shows nothing to callers that had opened it', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    const chest = await crib.open('assistant');
    write(folder, {
      'toolcrib.yaml': 'sources:\n  local: { files: ./tools }\nprofiles:\n  other: {}\n  another: {}\n',
    });
    await crib.reload();
    expect(chest.list()).toEqual([]);
    expect(await chest.call('one')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('tools, bundles and extensions added in code survive', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    crib.register({ name: 'mine', description: '', run: () => 'mine' });
    crib.bundles.define({ name: 'hand', include: ['mine'] });
    crib.extensions.add({ name: 'watcher', priority: 500, onEnd() {} });
    write(folder, { 'toolcrib.yaml': configuration('{}') });
    await crib.reload();
    expect(namesOf(crib)).toContain('mine');
    expect(crib.bundles.get('hand')?.members).toEqual(['mine']);
    expect(crib.extensions.list().map((extension) => extension.name)).toContain('watcher');
  });

  it('a source with an unchanged entry keeps running', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder);
    const before = crib.get('one');
    write(folder, { 'toolcrib.yaml': configuration('{ include: ["*"] }') });
    await crib.reload();
    expect(crib.get('one')).toBe(before);
  });

  it('counts are kept over an edit of another entry', async () => {
    const limits = 'extensions: { rateLimit: { rates: [{ scope: all, amount: 1, perMs: 3600000 }] } }\n';
    const folder = folderWith({ 'toolcrib.yaml': limits });
    const crib = await cribOf(folder, { tools: [{ name: 'once', description: '', run: () => 1 }] });
    const chest = await crib.open();
    expect(await chest.call('once')).toMatchObject({ ok: true });
    write(folder, { 'toolcrib.yaml': `${limits}profiles: { other: {} }\n` });
    await crib.reload();
    expect(await (await crib.openAll()).call('once')).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('and over an edit of another extension', async () => {
    const limits = 'extensions:\n  rateLimit: { rates: [{ scope: all, amount: 1, perMs: 3600000 }] }\n';
    const folder = folderWith({ 'toolcrib.yaml': limits });
    const crib = await cribOf(folder, { tools: [{ name: 'once', description: '', run: () => 1 }] });
    await (await crib.open()).call('once');
    write(folder, { 'toolcrib.yaml': `${limits}  timeout: { timeoutMs: 1000 }\n` });
    await crib.reload();
    expect(await (await crib.open()).call('once')).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('an extension that was removed is closed with the crib', async () => {
    const closed: string[] = [];
    Object.assign(globalThis, { closedExtensions: closed });
    const module = `export default { name: 'mine', priority: 500, onEnd() {}, close: async () => void closedExtensions.push('mine') };`;
    const folder = folderWith({
      'toolcrib.yaml': 'extensions: { mine: { module: ./mine.mjs } }\n',
      'mine.mjs': module,
    });
    const crib = await cribOf(folder);
    write(folder, { 'toolcrib.yaml': 'profiles: { other: {} }\n' });
    await crib.reload();
    expect(crib.extensions.list().map(({ name }) => name)).not.toContain('mine');
    await crib.close();
    expect(closed).toEqual(['mine']);
  });
});
