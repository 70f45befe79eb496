import { describe, expect, it, vi } from 'vitest';
import { type Crib, type CribOptions, createCrib, type Source, type ToolInput } from '../../src/index.ts';
import { cribOf, folderWith, namesOf, write } from './workshop.ts';

/** A source whose list can be changed while it runs. */
function server(name: string, ...tools: readonly string[]) {
  let listed = tools;
  let announce = () => {};
  const close = vi.fn(async () => {});
  const source: Source = {
    name,
    start: async () => ({
      specs: () => listed.map((tool) => ({ name: tool, description: `${tool} of ${name}`, run: () => name })) as never, // plain tools, which the crib turns into specs
      onChange(listener) {
        announce = listener;
        return () => {};
      },
      status: () => ({ state: 'ready' }),
      close,
    }),
  };
  return {
    source,
    close,
    list(...next: readonly string[]) {
      listed = next;
      announce();
    },
  };
}

const start = (sources: readonly Source[], more: CribOptions = {}) =>
  createCrib({ sources, config: { onDuplicate: 'error' }, store: { url: 'memory:' }, ...more });
const owners = (crib: Crib) => Object.fromEntries(crib.catalog.specs.map(({ name, source }) => [name, source]));
const stateOf = (crib: Crib, name: string) => crib.sources().find((source) => source.name === name);

describe('onDuplicate: skip', () => {
  it('Discovered or remote: the first in configuration order owns the name, the other is held back with a warning naming both', async () => {
    const sources = [server('one', 'x').source, server('two', 'x', 'y').source];
    for (const config of [{}, { onDuplicate: 'skip' as const }]) {
      const crib = await createCrib({ sources, config, store: { url: 'memory:' } });
      expect(owners(crib)).toEqual({ x: 'one', y: 'two' });
      expect(crib.warnings().join()).toMatch(/"x" comes from both one and two/);
      await crib.close();
    }
  });
});

describe('onDuplicate: error, at start', () => {
  it('two owners of a name are an error that names both and says what to do', async () => {
    const [one, two] = [server('one', 'x', 'z'), server('two', 'x', 'y', 'z')];
    await expect(start([one.source, two.source])).rejects.toMatchObject({
      name: 'ToolcribError',
      code: 'duplicate',
      message: expect.stringMatching(
        /"x" comes from both one and two; prefix one of them\. "z" comes from both one and two.*onDuplicate to skip/,
      ),
    });
    expect([one.close.mock.calls.length, two.close.mock.calls.length]).toEqual([1, 1]);
  });

  it('many clashes are counted, not listed', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `tool_${index}`);
    const message = await start([server('one', ...names).source, server('two', ...names).source]).catch(String);
    expect(message).toContain('And 35 more.');
    expect(message).not.toContain('tool_30');
  });

  it('a tool in code counts, and so does a name that is defined twice in one source', async () => {
    const tools: readonly ToolInput[] = [{ name: 'x', description: '', run: () => 1 }];
    await expect(start([server('one', 'x').source], { tools })).rejects.toThrow('comes from both code and one');
    await expect(start([server('one', 'x', 'x').source])).rejects.toThrow(
      '"x" is defined twice in one; rename one of them.',
    );
  });

  it('names that differ, also by a prefix, do not clash', async () => {
    const tool = JSON.stringify({ tools: [{ name: 'x', description: '', run: { kind: 'shell', command: ['true'] } }] });
    const configuration = (second: string) =>
      `onDuplicate: error\nsources:\n  one: { files: ./x.json }\n  two: { files: ./x.json${second} }\n`;
    const folder = folderWith({ 'toolcrib.yaml': configuration(''), 'x.json': tool });
    await expect(cribOf(folder, { watch: false })).rejects.toThrow('"x" comes from both one and two');
    write(folder, { 'toolcrib.yaml': configuration(', prefix: two') });
    const crib = await cribOf(folder, { watch: false });
    expect(owners(crib)).toEqual({ x: 'one', two_x: 'two' });
    expect(crib.warnings()).toEqual([]);
  });
});

describe('onDuplicate: error, while running', () => {
  it('the change of a source that claims a name of another is refused: its old list stays', async () => {
    const [one, two] = [server('one', 'x'), server('two', 'y')];
    const crib = await start([one.source, two.source]);
    two.list('y', 'x', 'new');
    expect(owners(crib)).toEqual({ x: 'one', y: 'two' });
    expect(stateOf(crib, 'two')).toMatchObject({ state: 'down', toolCount: 1 });
    expect(stateOf(crib, 'one')).toMatchObject({ state: 'ready' });
    const words =
      /"two".*rejected.*"x" comes from both one and two; prefix one of them\. The previous list stays in use\./;
    expect(crib.warnings().join('\n')).toMatch(words);
    const chest = await crib.open();
    expect(await chest.call('y')).toMatchObject({ content: [{ text: 'two' }] });
    expect(await chest.call('x')).toMatchObject({ content: [{ text: 'one' }] });
    expect(await chest.call('new')).toMatchObject({ error: { code: 'unknown_tool' } });
    await crib.close();
  });

  it('the first in configuration order does not take a name from its owner', async () => {
    const [one, two] = [server('one', 'y'), server('two', 'x')];
    const crib = await start([one.source, two.source]);
    one.list('x');
    expect(owners(crib)).toEqual({ y: 'one', x: 'two' });
    await crib.close();
  });

  it('also if both change', async () => {
    const [one, two] = [server('one', 'y'), server('two', 'x')];
    const crib = await start([one.source, two.source]);
    one.list('x');
    two.list('x', 'new');
    expect(owners(crib)).toEqual({ y: 'one', x: 'two', new: 'two' });
    await crib.close();
  });

  it('a refused change is applied as soon as the name is free', async () => {
    const [one, two] = [server('one', 'x'), server('two', 'y')];
    const crib = await start([one.source, two.source]);
    two.list('x');
    expect(owners(crib)).toEqual({ x: 'one', y: 'two' });
    one.list('z');
    expect(owners(crib)).toEqual({ z: 'one', x: 'two' });
    expect(stateOf(crib, 'two')).toEqual({ name: 'two', state: 'ready', toolCount: 1 });
    await crib.close();
  });

  it('names may move between sources at once, also in a circle', async () => {
    const [one, two, three] = [server('one', 'x'), server('two', 'y'), server('three', 'z')];
    const crib = await start([one.source, two.source, three.source]);
    one.list('y');
    two.list('z');
    three.list('x');
    expect(owners(crib)).toEqual({ y: 'one', z: 'two', x: 'three' });
    expect(crib.warnings()).toEqual([]);
    await crib.close();
  });

  it('a refused change blocks another one: both sources keep their lists', async () => {
    const [one, two, three] = [server('one', 'x'), server('two', 'y'), server('three', 'z')];
    const crib = await start([one.source, two.source, three.source]);
    two.list('x'); // has to keep y
    three.list('y');
    expect(owners(crib)).toEqual({ x: 'one', y: 'two', z: 'three' });
    expect(['one', 'two', 'three'].map((name) => stateOf(crib, name)?.state)).toEqual(['ready', 'down', 'down']);
    one.list();
    expect(owners(crib)).toEqual({ x: 'two', y: 'three' });
    await crib.close();
  });

  it('of two that claim a new name at once, the first in configuration order gets it', async () => {
    const [one, two] = [server('one'), server('two')];
    const crib = await start([one.source, two.source]);
    two.list('x');
    one.list('x');
    expect(owners(crib)).toEqual({ x: 'one' });
    await crib.close();
  });

  it('a tool that is registered in code keeps its name, and releases it', async () => {
    const one = server('one', 'y');
    const crib = await start([one.source]);
    expect(crib.register({ name: 'y', description: '', run: () => 1 }).ok).toBe(false);
    expect(crib.register({ name: 'x', description: '', run: () => 1 }).ok).toBe(true);
    one.list('x', 'y');
    expect(owners(crib)).toEqual({ x: 'code', y: 'one' });
    crib.unregister('x');
    expect(owners(crib)).toEqual({ x: 'one', y: 'one' });
    await crib.close();
  });

  it('a source that starts late is refused if it claims a name of another', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const late = server('late', 'x');
      const gate = Promise.withResolvers<void>();
      const slow: Source = { ...late.source, start: (context) => gate.promise.then(() => late.source.start(context)) };
      const made = start([server('one', 'x').source, slow]);
      await vi.advanceTimersByTimeAsync(11_000);
      const crib = await made;
      gate.resolve();
      await vi.advanceTimersByTimeAsync(0);
      expect(owners(crib)).toEqual({ x: 'one' });
      expect(stateOf(crib, 'late')).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining('both one and late'),
      });
      await crib.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('onDuplicate: error, at reload', () => {
  const tools = (...names: readonly string[]) =>
    JSON.stringify({
      tools: names.map((name) => ({ name, description: '', run: { kind: 'shell', command: ['true'] } })),
    });
  const configuration = (onDuplicate: string, ...sources: readonly string[]) =>
    `onDuplicate: ${onDuplicate}\nsources:\n${sources.map((name) => `  ${name}: { files: ./${name}.json }\n`).join('')}`;
  const START = {
    'toolcrib.yaml': configuration('error', 'one'),
    'one.json': tools('x', 'y'),
    'two.json': tools('x', 'z'),
  };

  it('a configuration with a clash is refused, and the old state stays', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder, { watch: false });
    write(folder, { 'toolcrib.yaml': configuration('error', 'one', 'two') });
    await expect(crib.reload()).rejects.toMatchObject({ code: 'duplicate', message: expect.stringContaining('two') });
    expect(owners(crib)).toEqual({ x: 'one', y: 'one' });
    expect(crib.sources().map(({ name }) => name)).toEqual(['code', 'one']);
    write(folder, { 'two.json': tools('z') });
    expect(await crib.reload()).toEqual({ added: ['z'], removed: [], changed: [] });
  });

  it('a tool may move from one source to a new one in one edit', async () => {
    const folder = folderWith(START);
    const crib = await cribOf(folder, { watch: false });
    write(folder, { 'toolcrib.yaml': configuration('error', 'one', 'two'), 'one.json': tools('y') });
    await crib.reload();
    expect(owners(crib)).toEqual({ y: 'one', x: 'two', z: 'two' });
  });

  it('a list with a new clash is refused alone, and reload continues', async () => {
    const folder = folderWith({
      ...START,
      'toolcrib.yaml': configuration('error', 'one', 'two'),
      'two.json': tools('z'),
    });
    const crib = await cribOf(folder, { watch: false });
    write(folder, { 'one.json': tools('x', 'y', 'new'), 'two.json': tools('x', 'z') });
    expect(await crib.reload()).toEqual({ added: ['new'], removed: [], changed: [] });
    expect(stateOf(crib, 'two')).toMatchObject({ state: 'down' });
  });

  it('from skip to error is refused while names clash; from error to skip applies what was refused', async () => {
    const folder = folderWith({ ...START, 'toolcrib.yaml': configuration('skip', 'one', 'two') });
    const crib = await cribOf(folder, { watch: false });
    write(folder, { 'toolcrib.yaml': configuration('error', 'one', 'two') });
    await expect(crib.reload()).rejects.toThrow('comes from both one and two');
    expect(namesOf(crib)).toEqual(['x', 'y', 'z']);
    write(folder, { 'two.json': tools('z') });
    await crib.reload();
    write(folder, { 'two.json': tools('x', 'w') });
    await crib.reload();
    expect(owners(crib)).toEqual({ x: 'one', y: 'one', z: 'two' });
    write(folder, { 'toolcrib.yaml': configuration('skip', 'one', 'two') });
    await crib.reload();
    expect(owners(crib)).toEqual({ x: 'one', y: 'one', w: 'two' });
  });
});
