import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createCrib, defineBundle, type ToolInput } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { cribOf, folderWith, write } from './workshop.ts';

const tool = (name: string, description: string): ToolInput => ({
  name,
  description,
  input: { type: 'object' },
  run: () => 'ok',
});
const names = (hits: readonly { readonly name: string }[]) => hits.map(({ name }) => name);
const TOOLS = [tool('weather', 'Tell the forecast of a town'), tool('mail', 'Send a letter to somebody')];

it('search finds tools by meaning, without a word in common', async () => {
  const chest = await (await createCrib({ tools: TOOLS })).open();
  expect(names(await chest.search('will it rain in Paris tomorrow?', { minScore: 0 }))[0]).toBe('weather');
});

it('embeddings: none compares words only', async () => {
  const folder = folderWith({ 'toolcrib.yaml': 'retrieval: { embeddings: none }\n' });
  const chest = await (await cribOf(folder, { tools: TOOLS })).open();
  expect(await chest.search('will it rain in Paris tomorrow?', { minScore: 0 })).toEqual([]);
  expect(names(await chest.search('forecast'))).toEqual(['weather']);
});

it('a tool is found by the name of its bundle, also after it joined another', async () => {
  const crib = await createCrib({
    tools: TOOLS,
    bundles: [defineBundle({ name: 'cartography', tools: [] })],
    profiles: { p: {} },
  });
  const chest = await crib.open('p', { id: 'alice' });
  expect(await chest.search('cartography')).toEqual([]);
  crib.bundles.addTools('cartography', ['mail']);
  expect(names(await chest.search('cartography'))).toEqual(['mail']);
});

it('a tool is found by the purpose of its bundle, also after that changed', async () => {
  const vault = (description: string) => `bundles:\n  vault: { description: ${description}, include: [mail] }\n`;
  const folder = folderWith({ 'toolcrib.yaml': vault('Stamps of philatelists') });
  const crib = await cribOf(folder, { tools: TOOLS });
  const chest = await crib.open();
  expect(names(await chest.search('swap my stamps with philatelists'))).toEqual(['mail']);
  write(folder, { 'toolcrib.yaml': vault('Coins of numismatists') });
  await crib.reload();
  expect(await chest.search('swap my stamps with philatelists')).toMatchObject([{ why: 'similar in meaning' }]);
  expect(names(await chest.search('swap my coins with numismatists'))).toEqual(['mail']);
});

it('an embedding endpoint is called with the key; if it fails, words decide, and one warning is printed', async () => {
  const asked: { key: string | undefined; texts: readonly string[] }[] = [];
  let isDown = false;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input } = JSON.parse(Buffer.concat(chunks).toString());
    asked.push({ key: request.headers.authorization, texts: input });
    if (isDown) return void response.writeHead(500).end();
    const embedding = (text: string) => (/rain|forecast/.test(text) ? [1, 0] : [0, 1]);
    const data = input.map((text: string, index: number) => ({ index, embedding: embedding(text) }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  process.env.EMBEDDING_KEY = 'key-of-the-endpoint';
  onTestFinished(() => void delete process.env.EMBEDDING_KEY);
  const folder = folderWith({
    'toolcrib.yaml': `retrieval: { embeddings: { url: "http://127.0.0.1:${port}/v1", model: small, key: "\${secret:embed}" } }
secrets: { embed: { env: EMBEDDING_KEY, hosts: ["127.0.0.1:${port}"] } }
`,
  });
  const crib = await cribOf(folder, { tools: TOOLS });
  const chest = await crib.open();
  expect(names(await chest.search('will it rain?', { minScore: 0 }))[0]).toBe('weather');
  expect(asked.every(({ key }) => key === 'Bearer key-of-the-endpoint')).toBe(true);
  isDown = true;
  expect(names(await chest.search('send a letter'))).toEqual(['mail']);
  expect(names(await chest.search('a letter to send'))).toEqual(['mail']);
  const said = crib.warnings().filter((warning) => warning.includes('words only'));
  expect(said).toHaveLength(1);
  expect(said[0]).not.toContain('key-of-the-endpoint');
});

it('a retriever of a module is used; an invalid one is an error at start', async () => {
  const folder = folderWith({
    'toolcrib.yaml': 'retrieval: { module: ./mine.js, options: { only: mail } }\n',
    'mine.js': `export default ({ only }) => ({ add() {}, remove() {}, rank: async () => [{ name: only, score: 1, why: 'mine' }] });\n`,
    'none.js': 'export default { add() {} };\n',
    'package.json': '{ "type": "module" }',
  });
  const chest = await (await cribOf(folder, { tools: TOOLS })).open();
  expect(await chest.search('anything')).toMatchObject([{ name: 'mail', why: 'mine' }]);
  write(folder, { 'toolcrib.yaml': 'retrieval: { module: ./none.js }\n' });
  await expect(createCrib({ configFile: folder })).rejects.toThrow(/exports neither a retriever nor/);
});

it.each([
  ['{ module: ./mine.js, options: {}, synonyms: [[invoice, bill]] }', ['retrieval.synonyms has no effect beside']],
  ['{ module: ./mine.js, embeddings: none }', ['retrieval.embeddings has no effect beside']],
  ['{ options: { only: mail }, synonyms: [[invoice, bill]] }', ['retrieval.options has no effect without']],
  ['{ module: ./mine.js, options: { only: mail }, usage: true }', []],
])('settings of search that nothing reads are reported: %s', async (retrieval, reports) => {
  const folder = folderWith({
    'toolcrib.yaml': `retrieval: ${retrieval}\n`,
    'mine.js': 'export default () => ({ add() {}, remove() {}, rank: async () => [] });\n',
    'package.json': '{ "type": "module" }',
  });
  const crib = await cribOf(folder, { tools: TOOLS });
  expect(crib.warnings()).toEqual(reports.map((report) => `${report} retrieval.module.`));
});

it('the confidence of a custom retriever is passed on, and left out if it is invalid', async () => {
  const folder = folderWith({
    'toolcrib.yaml': 'retrieval: { module: ./mine.js }\n',
    'mine.js': `const rank = async (query) => [{ name: 'mail', score: 1, why: 'mine', ...(query && { confidence: query }) }];
export default { add() {}, remove() {}, rank };\n`,
    'package.json': '{ "type": "module" }',
  });
  const chest = await (await cribOf(folder, { tools: TOOLS })).open();
  const said = async (query: string) => (await chest.search(query)).map(({ confidence }) => confidence);
  expect([await said('low'), await said('high'), await said(''), await said('quite')]).toEqual([
    ['low'],
    ['high'],
    [undefined],
    [undefined],
  ]);
});

it('the most used tool of this caller and profile wins a tie', async () => {
  const folder = folderWith({
    'toolcrib.yaml': 'retrieval: { usage: true }\nprofiles: { p: {}, q: {} }\ndefaultProfile: p\n',
  });
  const equal = [tool('copy_xqzj', 'Copy a page'), tool('copy_xqzk', 'Copy a page')];
  const crib = await cribOf(folder, { tools: equal });
  const alice = await crib.open('p', { id: 'alice' });
  const first = async (profile: string, id: string) =>
    names(await (await crib.open(profile, { id })).search('copy a page'))[0];
  expect(await first('p', 'alice')).toBe('copy_xqzj');
  await alice.call('copy_xqzk');
  expect(await first('p', 'alice')).toBe('copy_xqzk');
  expect(await first('p', 'bob')).toBe('copy_xqzj');
  expect(await first('q', 'alice')).toBe('copy_xqzj');
});

it('a large index is stored, and the next process reads it', async () => {
  const many = Array.from({ length: 1200 }, (_, index) =>
    JSON.stringify({
      name: `tool_${index}`,
      description: `Does thing number ${index}`,
      run: { kind: 'http', method: 'GET', url: 'https://example.com' },
    }),
  );
  const folder = folderWith({
    'toolcrib.yaml': 'sources: { many: { files: ./tools } }\n',
    'tools/many.ndjson': many.join('\n'),
  });
  const url = `sqlite:${join(folder, 'crib.db')}`;
  const search = async () => {
    const crib = await createCrib({ configFile: folder, store: { url } });
    const hits = await (await crib.open()).search('tool_77');
    await crib.close();
    return names(hits)[0];
  };
  const kept = async () => {
    const store = await openStore({ url, configFolder: folder, env: {} });
    const index = await store.snapshots.get('search');
    await store.close();
    return index;
  };
  const first = await createCrib({ configFile: folder, store: { url } });
  await (await first.open()).call('nothing'); // puts a row into the store, which makes it
  await first.close();
  expect(await search()).toBe('tool_77');
  const written = await kept();
  expect(written?.length).toBeGreaterThan(1000);
  expect(await search()).toBe('tool_77');
  expect(await kept()).toEqual(written);
  // One that is damaged is made anew.
  const store = await openStore({ url, configFolder: folder, env: {} });
  await store.snapshots.put('search', Uint8Array.of(0, 0, 0));
  await store.close();
  expect(await search()).toBe('tool_77');
  expect((await kept())?.length).toBe(written?.length);
});

it('a tool that changed between runs is found by its new words, a removed one is not found', async () => {
  const toolOf = (index: number, description = `Does thing number ${index}`) =>
    JSON.stringify({
      name: `tool_${index}`,
      description,
      run: { kind: 'http', method: 'GET', url: 'https://example.com' },
    });
  const many = Array.from({ length: 1200 }, (_, index) => toolOf(index));
  const folder = folderWith({
    'toolcrib.yaml': 'sources: { many: { files: ./tools } }\n',
    'tools/many.ndjson': [...many, toolOf(1200, 'Feeds the walrus')].join('\n'),
  });
  const url = `sqlite:${join(folder, 'crib.db')}`;
  const search = async (...queries: readonly string[]) => {
    const crib = await createCrib({ configFile: folder, store: { url } });
    const chest = await crib.open();
    await chest.call('nothing'); // puts a row into the store, which makes it
    const found = [];
    for (const query of queries) found.push(names(await chest.search(query))[0]);
    await crib.close();
    return found;
  };
  expect(await search('feed the walrus')).toEqual(['tool_1200']);
  expect(await search('feed the walrus')).toEqual(['tool_1200']);
  write(folder, { 'tools/many.ndjson': [...many.slice(0, -1), toolOf(1200, 'Paints the fence')].join('\n') });
  const [old, fresh, gone] = await search('feed the walrus', 'paint the fence', 'tool_1199');
  expect(old).not.toBe('tool_1200');
  expect(fresh).toBe('tool_1200');
  expect(gone).not.toBe('tool_1199');
});

it('synonyms of the configuration find tools by words that only the owner uses', async () => {
  const folder = folderWith({
    'toolcrib.yaml': 'retrieval: { embeddings: none, synonyms: [[matter, dossier], [paper trail, dossier]] }\n',
  });
  const tools = [tool('open_dossier', 'Open a dossier'), tool('delete_folder', 'Delete a folder')];
  const chest = await (await cribOf(folder, { tools })).open();
  for (const query of ['open the matter', 'where is the paper trail'])
    expect((await chest.search(query))[0]).toMatchObject({ name: 'open_dossier' });
});
