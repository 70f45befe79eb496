import { describe, expect, it } from 'vitest';
import { RUN } from '../../src/core/tool-spec.ts';
import { files } from '../../src/sources/files.ts';
import { makeWorkspace, namesIn, openCrib, statusOf, yamlOf } from './files-workspace.ts';

const contract = `tools:
  - name: file_reader
    description: Read a file of the workspace
    input: { type: object, properties: { path: { type: string } }, required: [path], additionalProperties: false }
    run: { kind: shell, command: ["cat", "--", "{path}"], cwd: ./workspace, sandbox: { read: ["./workspace"], network: false } }
    effects: { readOnly: true }
    policy: { timeoutMs: 5000 }
    tags: [files, read]
    meta: { supportsStreaming: false }
`;

describe('spec files', () => {
  it('are listed, with their own claims', async () => {
    const workspace = makeWorkspace();
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.write('tools.yaml', contract) })] });
    expect(crib.get('file_reader')).toMatchObject({
      source: 'local',
      effects: { readOnly: true },
      policy: { timeoutMs: 5000 },
      tags: ['files', 'read'],
    });
    expect(crib.get('file_reader')?.[RUN].cwd).toBe(workspace.at('workspace'));
    expect(statusOf(crib, 'local')).toEqual({ name: 'local', state: 'ready', toolCount: 1 });
    expect((await (await crib.open()).call('file_reader', { path: 'x' })).ok).toBe(false);
  });

  it('can be kept from lowering caution', async () => {
    const path = makeWorkspace().write('tools.yaml', contract);
    const crib = await openCrib({ sources: [files({ name: 'local', path, trust: false })] });
    expect(crib.get('file_reader')).toMatchObject({ effects: {}, policy: {}, tags: [] });
  });

  it('of a folder are found at any depth, in the order of their names', async () => {
    const workspace = makeWorkspace();
    workspace.write('b.yaml', yamlOf('b'));
    workspace.write('a/z.json', '[{"name":"z","run":{"kind":"http","url":"https://example.com"}}]');
    workspace.write('a/y.ndjson', '{"name":"y","run":{"kind":"http","url":"https://example.com"}}\n');
    workspace.write('c.yml', yamlOf('c'));
    workspace.write('a/deep/er/x.yaml', yamlOf('x'));
    workspace.write('.hidden/h.yaml', yamlOf('h'));
    workspace.write('.dot.yaml', yamlOf('dot'));
    workspace.write('node_modules/n.yaml', yamlOf('n'));
    workspace.write('readme.md', 'nothing');
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    expect(namesIn(crib)).toEqual(['x', 'y', 'z', 'b', 'c']);
    expect(crib.warnings()).toEqual([]);
  });

  it('may be in several places', async () => {
    const workspace = makeWorkspace();
    const paths = [workspace.write('two.yaml', yamlOf('two')), workspace.write('one.yaml', yamlOf('one'))];
    const crib = await openCrib({ sources: [files({ name: 'local', path: paths })] });
    expect(namesIn(crib)).toEqual(['two', 'one']);
  });

  it('make a bundle of the name of their source', async () => {
    const path = makeWorkspace().write('a.yaml', yamlOf('a', 'b'));
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    expect(crib.bundles.of('a').map((bundle) => bundle.name)).toEqual(['local']);
  });

  it('bring only the kinds their source allows', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools.yaml', `${contract}  - { name: fine, run: { kind: http, url: "https://example.com" } }\n`);
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path, kinds: ['http'] })] });
    expect(namesIn(crib)).toEqual(['fine']);
    expect(crib.warnings()).toEqual([expect.stringContaining('its source allows only http')]);
  });

  it('that name a tool twice have the second one held back', async () => {
    const path = makeWorkspace().write('a.yaml', yamlOf('a', 'a'));
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    expect(namesIn(crib)).toEqual(['a']);
    expect(crib.warnings()).toEqual([expect.stringContaining('is defined twice in local')]);
  });

  it('that are named and have another type fail', async () => {
    const path = makeWorkspace().write('package.json', '{"name": "mine"}');
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    expect(statusOf(crib, 'local')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('it has no "tools"'),
    });
  });

  it('with other files among them skip those and say so', async () => {
    const workspace = makeWorkspace();
    workspace.write('package.json', '{"name": "mine"}');
    workspace.write('a.yaml', yamlOf('a'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    expect(namesIn(crib)).toEqual(['a']);
    expect(statusOf(crib, 'local')).toMatchObject({ state: 'ready' });
    expect(crib.warnings()).toEqual([expect.stringContaining('package.json: it has no "tools"')]);
  });
});

describe('options of files()', () => {
  it.each([
    [{ name: 'x', pth: 'a' }, 'has no "pth"'],
    [{ name: 'x', path: '' }, 'path must be a file, a folder or a list'],
    [{ name: 'x', path: [] }, 'path must be a file, a folder or a list'],
    [{ name: 'x', path: 7 }, 'path must be a file, a folder or a list'],
    [{ name: 'x' }, 'path must be a file, a folder or a list'],
  ])('%j are refused', (options, message) => {
    expect(() => files(options as never)).toThrow(message);
  });
});

describe('reload', () => {
  it('reports added, removed and changed tools, and keeps the others', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('same', 'gone'));
    workspace.write('b.yaml', yamlOf('other'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    const [same, other] = [crib.get('same'), crib.get('other')];
    workspace.write('a.yaml', yamlOf('same', 'new'));
    workspace.write('b.yaml', yamlOf('other').replace('Does other', 'Does something else'));
    expect(await crib.reload()).toEqual({ added: ['new'], removed: ['gone'], changed: ['other'] });
    expect(crib.get('same')).toBe(same);
    expect(crib.get('other')).not.toBe(other);
  });

  it('returns the same objects for unchanged tools', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('a', 'b'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    const before = crib.catalog.specs;
    workspace.replace('a.yaml', yamlOf('a', 'b')); // another file, the same content
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(crib.catalog.specs.every((spec, index) => spec === before[index])).toBe(true);
  });

  it('keeps tools that were registered in code', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('a'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    crib.register({ name: 'mine', description: 'Mine', run: () => 1 });
    workspace.remove('a.yaml');
    expect((await crib.reload()).removed).toEqual(['a']);
    expect(namesIn(crib)).toEqual(['mine']);
  });

  it.each([
    ['does not parse', 'tools: ['],
    ['is empty', ''],
    ['says "tool" instead of "tools"', 'tool:\n- name: a\n'],
    ['is a binary', '\0\0\0'],
  ])('of a file that %s now keeps its tools and reports it', async (_, broken) => {
    const workspace = makeWorkspace();
    const path = workspace.write('a.yaml', yamlOf('a', 'b'));
    workspace.write('b.yaml', yamlOf('c'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    const before = crib.catalog.specs;
    workspace.write('a.yaml', broken);
    workspace.write('b.yaml', yamlOf('c', 'd'));
    expect(await crib.reload()).toEqual({ added: ['d'], removed: [], changed: [] });
    expect(crib.get('a')).toBe(before[0]);
    expect(statusOf(crib, 'local')).toMatchObject({
      state: 'ready',
      toolCount: 4,
      reason: expect.stringContaining(path),
    });
    expect(crib.warnings().some((warning) => warning.includes(path))).toBe(true);
    workspace.write('a.yaml', yamlOf('b'));
    expect(await crib.reload()).toEqual({ added: [], removed: ['a'], changed: [] });
    expect(statusOf(crib, 'local')).toEqual({ name: 'local', state: 'ready', toolCount: 3 });
  });

  it('of an entry that is bad now keeps the old entry', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('a.yaml', yamlOf('a', 'b'));
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    const before = crib.get('b');
    workspace.write('a.yaml', yamlOf('a', 'b').replace('description: Does b', 'descripton: Does b'));
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(crib.get('b')).toBe(before);
    expect(statusOf(crib, 'local')).toMatchObject({
      state: 'ready',
      reason: `${path}, line 3, tools[1]: Tool "b" has no "descripton". Did you mean "description"?`,
    });
  });

  it('of a removed path keeps its tools and reports it as down', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools/a.yaml', yamlOf('a'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.at('tools') })] });
    workspace.move('tools', 'elsewhere');
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(statusOf(crib, 'local')).toMatchObject({
      state: 'down',
      reason: `${workspace.at('tools')}: it does not exist, or cannot be accessed.`,
    });
    workspace.move('elsewhere', 'tools');
    await crib.reload();
    expect(statusOf(crib, 'local')).toEqual({ name: 'local', state: 'ready', toolCount: 1 });
  });
});
