import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createCrib, type Retriever, type ToolInput } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { cribOf, folderWith } from './workshop.ts';

const tool = (name: string): ToolInput => ({ name, description: 'Copies', input: { type: 'object' }, run: () => 'ok' });
const MANY = Array.from({ length: 1000 }, (_, index) => tool(`tool_${index}`));
const names = (hits: readonly { readonly name: string }[]) => hits.map(({ name }) => name);

/** A retriever with snapshots, which counts how often one is taken. */
function countingRetriever(bytes: number) {
  const counts = { snapshots: 0 };
  const retriever: Retriever & { snapshot(): Uint8Array; readonly changes: number } = {
    add() {},
    remove() {},
    rank: async () => [],
    changes: 1,
    snapshot() {
      counts.snapshots += 1;
      return new Uint8Array(bytes);
    },
  };
  return { retriever, counts };
}

it('an index without a place to store it is never written', async () => {
  const { retriever, counts } = countingRetriever(8);
  const chest = await (await createCrib({ tools: MANY, retriever })).open();
  for (const query of ['a', 'b', 'c']) await chest.search(query);
  expect(counts.snapshots).toBe(0);
});

it('an index that is too large to store is not written by every search', async () => {
  const { retriever, counts } = countingRetriever(64 * 2 ** 20 + 1);
  const folder = folderWith({ 'toolcrib.yaml': '{}\n' });
  const url = `sqlite:${join(folder, 'crib.db')}`;
  await (await openStore({ url, configFolder: folder, env: {} })).close(); // only a store that is there is used
  const chest = await (await cribOf(folder, { tools: MANY, retriever, store: { url } })).open();
  for (const query of ['a', 'b', 'c']) await chest.search(query);
  expect(counts.snapshots).toBe(1);
});

it('a retriever gets the tools that it failed to index again', async () => {
  const added: string[] = [];
  let isBroken = true;
  const retriever: Retriever = {
    add(specs) {
      if (isBroken) throw new Error('out of memory');
      added.push(...names(specs));
    },
    remove() {},
    rank: async () => [],
  };
  const chest = await (await createCrib({ tools: [tool('copy')], retriever })).open();
  await expect(chest.search('copy')).rejects.toThrow('out of memory');
  isBroken = false;
  await chest.search('copy');
  expect(added).toEqual(['copy']);
});

it('for any answer of a retriever, the hits are tools of the view, each once, and at most the requested number', async () => {
  const found = ['secret', 'nowhere', 'search_tools', 'copy', 'copy', 'paste', 'cut'];
  const retriever: Retriever = {
    add() {},
    remove() {},
    rank: async () => found.map((name) => ({ name, score: 1, why: 'mine' })),
  };
  const tools = ['secret', 'copy', 'paste', 'cut'].map(tool);
  const profiles = { agent: { exclude: ['secret'], expose: 'search' as const } };
  const chest = await (await createCrib({ tools, retriever, profiles })).open('agent', { id: 'alice' });
  expect(names(await chest.search('anything', { limit: 2 }))).toEqual(['copy', 'paste']);
});

it('A removed tool is never returned, even if it is removed during a search.', async () => {
  const started = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const retriever: Retriever = {
    add() {},
    remove() {},
    async rank(_query, { among = () => true }) {
      const found = ['copy', 'paste'].filter(among).map((name) => ({ name, score: 1, why: 'asked for' }));
      started.resolve();
      await answer.promise;
      return found;
    },
  };
  const crib = await createCrib({ tools: [tool('copy'), tool('paste')], retriever });
  const searching = (await crib.open()).search('copy and paste');
  await started.promise;
  crib.unregister('copy');
  answer.resolve();
  expect(names(await searching)).toEqual(['paste']);
});
