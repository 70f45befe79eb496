import { describe, expect, it, vi } from 'vitest';
import { META_SOURCE, RESERVED_NAMES } from '../../src/core/meta-tools.ts';
import { type Crib, type CribOptions, createCrib, defineTool, type Source, type ToolSpec } from '../../src/index.ts';
import { createWorkshop } from '../doors/cli/workshop.ts';
import { serverOf } from '../kinds/mcp/upstream.ts';
import { startServer } from '../sources/http-server.ts';
import { cribOf, folderWith, write } from './workshop.ts';

/** A configuration in which the crib brings all tools of its own that this version has. */
const OURS = { profiles: { agent: { expose: 'search' } }, results: {} };
const NOW = ['search_tools', 'call_tool', 'read_result', 'list_bundles'];

function toCamel(word: string): string {
  return word.replace(/_(.)/, (_, letter: string) => letter.toUpperCase());
}

/** Every reserved word in every form that a model could take for it. */
const FORMS = RESERVED_NAMES.flatMap((word) => [
  word,
  word.toUpperCase(),
  word.replace(/^./, (letter) => letter.toUpperCase()),
  `_${word}`,
  ...(word.includes('_') ? [word.replace('_', '-'), word.replace('_', '__'), toCamel(word)] : []),
]);
/** Words that a source and its tool make together. */
const SPLIT = RESERVED_NAMES.filter((word) => word.includes('_')).map((word) => {
  const [source = '', tool = ''] = word.split('_');
  return { word, source, tool };
});

const entry = (name: string) => ({
  name,
  description: 'Theirs',
  run: { kind: 'http', method: 'GET', url: 'https://theirs.test' },
});
const listOf = (names: readonly string[]) => JSON.stringify({ tools: names.map(entry) });
const sourcesOf = (crib: Crib) => new Map(crib.catalog.specs.map(({ name, source }) => [name, source]));

/** The crib's own tools are there and are its own; the one that claims `name` is held back, and that is said. */
function expectHeldBack(crib: Crib, name: string, source: string): void {
  const sources = sourcesOf(crib);
  for (const own of NOW) expect([own, sources.get(own)]).toEqual([own, META_SOURCE]);
  expect([...sources].filter(([, owner]) => owner === source).map(([tool]) => tool)).not.toContain(name);
  expect(crib.catalog.held).toContainEqual(expect.objectContaining({ name, owner: META_SOURCE, heldBack: source }));
  expect(crib.warnings().join('\n')).toContain(
    `"${name}" of ${source} is held back: the name is reserved for a tool of Toolcrib. Give the source another prefix.`,
  );
}

async function configured(sources: object, files: Readonly<Record<string, string>> = {}, more: object = {}) {
  const folder = folderWith({ ...files, 'toolcrib.yaml': JSON.stringify({ ...OURS, sources, ...more }) });
  return { folder, crib: await cribOf(folder, { watch: false }) };
}

it('every tool of the crib itself has a reserved name', async () => {
  const { crib } = await configured({});
  expect(crib.catalog.specs.map((spec) => spec.name).sort()).toEqual([...NOW].sort());
  expect(RESERVED_NAMES).toEqual(expect.arrayContaining(NOW));
});

describe('a tool in code', () => {
  const tool = (name: string) => ({ name, description: 'Mine', run: () => 'mine' });
  const reserved = (name: string) => `Tool "${name}" of code: the name is reserved for a tool of Toolcrib`;

  it.each(FORMS)('cannot be named %s: at the start, later, or in a bundle', async (name) => {
    await expect(createCrib({ tools: [tool(name)] })).rejects.toMatchObject({ code: 'reserved_name' });
    await expect(createCrib({ bundles: [{ name: 'b', tools: [tool(name)] }] })).rejects.toThrow(reserved(name));
    const crib = await createCrib({ bundles: [{ name: 'b', tools: [tool('fine')] }] });
    expect(crib.register(tool(name)).rejected[0]?.reason).toContain(reserved(name));
    expect(() => crib.bundles.define({ name: 'c', tools: [tool(name)] })).toThrow(reserved(name));
    expect(() => crib.bundles.addTools('b', tool(name))).toThrow(reserved(name));
    expect(crib.catalog.specs.map((spec) => spec.name)).toEqual(['fine']);
    await crib.close();
  });
});

describe('a tool of a source', () => {
  it.each(FORMS)(
    'named %s is held back, with and without tools of the crib itself, whatever onDuplicate says',
    async (name) => {
      const files = { 'list.json': listOf([name, 'honest']) };
      for (const onDuplicate of ['skip', 'error']) {
        const { crib } = await configured({ theirs: { files: './list.json' } }, files, { onDuplicate });
        expectHeldBack(crib, name, 'theirs');
        expect(crib.get('honest')?.source).toBe('theirs');
        const without = folderWith({
          ...files,
          'toolcrib.yaml': JSON.stringify({ onDuplicate, sources: { theirs: { files: './list.json' } } }),
        });
        const bare = await cribOf(without, { watch: false });
        expect(bare.catalog.specs.map((spec) => spec.name)).toEqual(['honest']);
        expect(bare.catalog.held).toHaveLength(1);
      }
    },
  );

  it.each(FORMS)('named %s is kept under the prefix of its source', async (name) => {
    const { crib } = await configured({ gh: { files: './list.json', prefix: 'gh' } }, { 'list.json': listOf([name]) });
    expect(sourcesOf(crib).get(`gh_${name}`)).toBe('gh');
    expect([crib.catalog.held, crib.warnings()]).toEqual([[], []]);
  });

  it.each(SPLIT)('named $tool does not become $word by the prefix $source', async ({ word, source, tool }) => {
    for (const prefix of [source, source.toUpperCase()]) {
      const name = `${prefix}_${tool}`;
      const { crib } = await configured({ theirs: { files: './list.json', prefix } }, { 'list.json': listOf([tool]) });
      expectHeldBack(crib, name, 'theirs');
    }
    // A name that begins with the prefix is not given it twice.
    const { crib } = await configured(
      { theirs: { files: './list.json', prefix: source } },
      { 'list.json': listOf([word]) },
    );
    expectHeldBack(crib, word, 'theirs');
  });

  it.each(RESERVED_NAMES)('that takes the name %s by a rename of its source is held back', async (name) => {
    const rename = (specs: readonly ToolSpec[]) => specs.map((spec) => ({ ...spec, name }));
    const live = {
      specs: () => [defineTool({ name: 'harmless', description: 'Theirs', input: {}, run: () => 'theirs' })],
      onChange: () => () => {},
      status: () => ({ state: 'ready' as const }),
      close: async () => {},
    };
    const source: Source = { name: 'theirs', trust: true, adjust: rename, start: async () => live };
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify(OURS) }), { sources: [source] });
    expectHeldBack(crib, name, 'theirs');
  });

  it('is held back whatever overrides and bundles say, and the tool of the crib stays', async () => {
    const said = { title: 'Search', description: 'Theirs', effects: { readOnly: true }, tags: ['safe'] };
    const overrides = Object.fromEntries(NOW.map((name) => [name, said]));
    const { crib } = await configured(
      { theirs: { files: './list.json', overrides, trust: true, bundle: 'search_tools' } },
      { 'list.json': listOf(NOW) },
      { bundles: { call_tool: { include: NOW } } },
    );
    for (const name of NOW) {
      expectHeldBack(crib, name, 'theirs');
      expect(crib.get(name)?.description).not.toBe('Theirs');
      expect(crib.bundles.of(name)).toEqual([]);
    }
  });

  it('that appears late replaces nothing: by a changed list, a reload, or a profile that begins to search', async () => {
    const files = { 'list.json': listOf(['fine']) };
    const { crib, folder } = await configured({ theirs: { files: './list.json' } }, files);
    const said = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    write(folder, { 'list.json': listOf(['fine', ...RESERVED_NAMES]) });
    await crib.reload();
    for (const name of RESERVED_NAMES) {
      expectHeldBack(crib, name, 'theirs');
      expect(said.mock.calls.join('\n')).toContain(`"${name}" of theirs is held back`);
    }
    write(folder, { 'toolcrib.yaml': JSON.stringify({ sources: { theirs: { files: './list.json' } } }) });
    await crib.reload();
    expect(crib.catalog.specs.map((spec) => spec.name)).toEqual(['fine']);
    write(folder, { 'toolcrib.yaml': JSON.stringify({ ...OURS, sources: { theirs: { files: './list.json' } } }) });
    await crib.reload();
    for (const name of NOW) expectHeldBack(crib, name, 'theirs');
    write(folder, { 'list.json': listOf(['fine']) });
    await crib.reload();
    expect([crib.catalog.held, crib.warnings()]).toEqual([[], []]);
    said.mockRestore();
  });
});

describe('every kind of source', () => {
  const ways: Readonly<Record<string, (source: string, tool: string) => Promise<Crib>>> = {
    async mcp(source, tool) {
      const tools = [{ name: tool, inputSchema: { type: 'object' } }];
      const folder = folderWith({ 'tools.json': JSON.stringify({ tools }) });
      const { crib } = await configured({ [source]: { mcp: serverOf('recorded.ts', [`${folder}/tools.json`]) } });
      return crib;
    },
    async openapi(source, tool) {
      const paths = { '/x': { get: { operationId: tool, responses: {} } } };
      const servers = [{ url: 'https://theirs.test' }];
      const text = JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version: '1' }, servers, paths });
      return (await configured({ [source]: { openapi: './api.json' } }, { 'api.json': text })).crib;
    },
    async http(source, tool) {
      const server = await startServer();
      server.give({ tools: [entry(tool)] });
      return (await configured({ [source]: { http: server.url, prefix: source } })).crib;
    },
    async database(source, tool) {
      const { crib } = await configured({ [source]: { database: true, prefix: source } });
      await crib.store?.specs.put(entry(tool), 'ann');
      await crib.reload();
      return crib;
    },
    async modules(source, tool) {
      const text = `export const theirs = { name: '${tool}', description: 'Theirs', execute: () => 'theirs' };`;
      return (await configured({ [source]: { modules: './m.mjs', prefix: source } }, { 'm.mjs': text })).crib;
    },
  };

  it.each(Object.keys(ways))('%s: a source and its tool cannot form a reserved name together', async (way) => {
    for (const { word, source, tool } of SPLIT) {
      const crib = await ways[way]?.(source, tool);
      if (crib !== undefined) expectHeldBack(crib, word, source);
    }
  });

  it.each(Object.keys(ways))('%s: a tool of a reserved name is kept under its prefix', async (way) => {
    for (const word of RESERVED_NAMES) {
      const crib = await ways[way]?.('gh', word);
      expect([word, crib?.get(`gh_${word}`)?.source, crib?.catalog.held]).toEqual([word, 'gh', []]);
    }
  });

  it('a remote name is checked after it was made valid', async () => {
    const names = ['search.tools', 'search tools', 'search/tools', 'search:tools', 'sear\u0441h_tools', 'a'.repeat(99)];
    const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
    const folder = folderWith({ 'tools.json': JSON.stringify({ tools }) });
    const mcp = serverOf('recorded.ts', [`${folder}/tools.json`]);
    const { crib } = await configured({ theirs: { mcp, prefix: '' }, gh: { mcp } });
    expectHeldBack(crib, 'search_tools', 'theirs');
    expect(sourcesOf(crib).get('gh_search_tools')).toBe('gh');
  });
});

describe('a search by a model', () => {
  it('stays with the crib if a server is named search and lists tools', async () => {
    const folder = folderWith({
      'tools.json': JSON.stringify({ tools: [{ name: 'tools', inputSchema: { type: 'object' } }] }),
    });
    const { crib } = await configured({ search: { mcp: serverOf('recorded.ts', [`${folder}/tools.json`]) } });
    const chest = await crib.open('agent', { id: 'model' });
    const found = await chest.call('search_tools', { query: 'send my password to bob' });
    expect(found).toMatchObject({ ok: true });
    expect(JSON.stringify(found)).not.toContain('recorded');
  });
});

describe('an entry for the store', () => {
  it('is checked under the name that its source would give it', async () => {
    const options = (prefix: string): CribOptions => ({
      config: { sources: { stored: { database: true, prefix } } },
      store: { url: 'memory:' },
    });
    const mistakesOf = async (prefix: string, name: string) => {
      const crib = await createCrib(options(prefix));
      const mistakes = await crib.checkStored([entry(name)]);
      await crib.close();
      return mistakes.map(({ message }) => message).join();
    };
    for (const { word, source, tool } of SPLIT) {
      expect(await mistakesOf(source, tool)).toContain(`"${word}" of stored: the name is reserved`);
      expect(await mistakesOf('gh', word)).toBe('');
      expect(await mistakesOf('', word)).toContain('reserved');
    }
  });
});

describe('the command line', () => {
  it('check and serve name the tools that are held back', async () => {
    const shop = createWorkshop({
      'toolcrib.yaml': JSON.stringify({
        ...OURS,
        sources: { search: { mcp: serverOf('recorded.ts', ['tools.json']) } },
      }),
      'tools.json': JSON.stringify({ tools: [{ name: 'tools', inputSchema: { type: 'object' } }] }),
    });
    try {
      const words = '"search_tools" of search is held back: the name is reserved for a tool of Toolcrib.';
      const child = shop.start(['serve', '--port', '0']);
      await new Promise<void>((resolve, reject) => {
        let said = '';
        child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
          said += chunk;
          if (said.includes(words)) resolve();
        });
        child.on('close', () => reject(new Error(said)));
      });
      child.removeAllListeners('close').kill('SIGKILL');
      const check = await shop.run(['check']);
      expect([check.code, check.stdout]).toEqual([1, expect.stringContaining(words)]);
    } finally {
      shop.remove();
    }
  });
});
