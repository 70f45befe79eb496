import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { createRetriever, type SearchableTool } from '../../src/search/tool-search.ts';
import { startServer } from '../sources/http-server.ts';

const run = () => 'done';
const tools: readonly SearchableTool[] = [
  defineTool({
    name: 'read_file',
    description: 'Read a text file from disk',
    input: z.object({ path: z.string() }),
    run,
  }),
  { name: 'send_mail', description: 'Send an email', inputSchema: { type: 'object', properties: { recipient: {} } } },
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather forecast', parameters: { type: 'object' } },
  },
  { name: 'browser_click', title: 'Click', description: 'Press a button of a page', source: 'browser', tags: ['web'] },
];

describe('a retriever without a crib', () => {
  it.each(['builtin', 'none'] as const)(
    'finds tools of any form, best first, with embeddings: %s',
    async (embeddings) => {
      const retriever = createRetriever(tools, { embeddings });
      const [first, ...more] = await retriever.search('read a file');
      expect(first).toMatchObject({
        name: 'read_file',
        description: 'Read a text file from disk',
        confidence: 'high',
        score: expect.any(Number),
        why: expect.any(String),
        tool: tools[0],
      });
      expect(more.every(({ score }) => score <= (first?.score ?? 0))).toBe(true);
      expect((await retriever.search('weather'))[0]?.tool).toBe(tools[2]);
      expect((await retriever.search('who is the recipient'))[0]?.name).toBe('send_mail');
    },
  );

  it('finds by meaning, if there are vectors', async () => {
    expect((await createRetriever(tools).search('compose an e-mail message'))[0]?.name).toBe('send_mail');
  });

  it('applies limit, minScore and filter', async () => {
    const retriever = createRetriever(tools);
    expect(await retriever.search('file mail weather button', { limit: 2 })).toHaveLength(2);
    expect((await retriever.search('send_mail')).map(({ name }) => name)).toContain('send_mail');
    const others = await retriever.search('send_mail', { filter: (tool) => tool !== tools[1] });
    expect(others.map(({ name }) => name)).not.toContain('send_mail');
    expect(await retriever.search('bake some bread', { minScore: 0.99 })).toEqual([]);
    expect(await retriever.search('mail', { limit: 0 })).toEqual([]);
  });

  it('follows added, removed and changed tools', async () => {
    const retriever = createRetriever<SearchableTool>();
    expect([retriever.size, await retriever.search('mail')]).toEqual([0, []]);
    retriever.add({ name: 'a', description: 'Send an email' });
    expect((await retriever.search('email'))[0]?.name).toBe('a');
    retriever.add([
      { name: 'a', description: 'Bake bread' },
      { name: 'b', description: 'Send an email' },
    ]);
    expect(retriever.size).toBe(2);
    expect((await retriever.search('email'))[0]?.name).toBe('b');
    expect(retriever.get('a')).toEqual({ name: 'a', description: 'Bake bread' });
    retriever.remove('b');
    retriever.remove(['b', 'none']);
    expect([retriever.size, retriever.get('b')]).toEqual([1, undefined]);
    expect((await retriever.search('email')).map(({ name }) => name)).not.toContain('b');
  });

  it.each(['builtin', 'none'] as const)('applies a removal during a search (%s)', async (embeddings) => {
    const retriever = createRetriever(tools, { embeddings });
    const found = retriever.search('send an email');
    retriever.remove('send_mail');
    expect((await found).map(({ name }) => name)).not.toContain('send_mail');
  });

  it('a snapshot restores the index for tools that are added again', async () => {
    const snapshot = createRetriever(tools).snapshot();
    const again = createRetriever(tools.slice(1), { snapshot });
    expect((await again.search('weather'))[0]?.name).toBe('get_weather');
    expect((await again.search('read a file')).map(({ name }) => name)).not.toContain('read_file');
    expect(createRetriever(tools, { snapshot: new Uint8Array([1, 2, 3]) }).size).toBe(4);
  });

  it('requests vectors from an endpoint, with its key', async () => {
    const asked: (string | undefined)[] = [];
    const server = await startServer(async (request, response) => {
      asked.push(request.headers.authorization);
      let text = '';
      for await (const chunk of request) text += chunk;
      const { input } = JSON.parse(text) as { input: string[] }; // what the endpoint is asked
      const data = input.map((said, index) => ({ index, embedding: /mail|post/i.test(said) ? [1, 0] : [0, 1] }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data }));
    });
    const embeddings = { url: `http://${server.host}/v1`, model: 'm', key: () => 'k3y' };
    const retriever = createRetriever(tools, { embeddings });
    expect((await retriever.search('post'))[0]?.name).toBe('send_mail');
    expect(new Set(asked)).toEqual(new Set(['Bearer k3y']));
  });

  it('warns, and continues with words, if an endpoint does not answer', async () => {
    const warnings: string[] = [];
    const embeddings = { url: 'http://127.0.0.1:1/v1', model: 'm' };
    const retriever = createRetriever(tools, { embeddings, warn: (message) => void warnings.push(message) });
    expect((await retriever.search('read file'))[0]?.name).toBe('read_file');
    expect(warnings.join()).toContain('127.0.0.1');
  });

  it('accepts a custom embedder', async () => {
    const embed = (texts: readonly string[]) =>
      texts.map((text) => new Float32Array(/mail|post/i.test(text) ? [1, 0] : [0, 1]));
    const retriever = createRetriever(tools, { embeddings: { model: 'mine', embed } });
    expect((await retriever.search('post'))[0]?.name).toBe('send_mail');
  });
});

describe('a retriever refuses', () => {
  const wrong = (given: unknown) => given as never;

  it.each([
    ['a tool that is none', [tools[0], 7], 'tools[1] is not a tool'],
    ['a tool without a name', [{ description: 'x' }], 'tools[0] has no name'],
    ['a name that is a number', [{ name: 7 }], 'tools[0] has no name'],
    ['a description that is none', [{ name: 'a', description: 7 }], '"a": description must be text'],
    ['tags that are none', [{ name: 'a', tags: 7 }], '"a": tags takes a name or a list of names'],
    ['a schema that is none', [{ name: 'a', input: 'x' }], '"a": The input schema must be'],
    [
      'a getter that throws',
      [
        {
          get name() {
            throw new Error('no');
          },
        },
      ],
      'cannot be read',
    ],
  ])('%s, and then nothing is added', (_, given, message) => {
    const retriever = createRetriever<SearchableTool>();
    expect(() => retriever.add(wrong([tools[1], ...given]))).toThrow(
      message.replace(/tools\[(\d)\]/, (_all, at) => `tools[${Number(at) + 1}]`),
    );
    expect(retriever.size).toBe(0);
    expect(() => createRetriever(wrong(given))).toThrow(message);
  });

  it.each([
    ['an unknown option', () => createRetriever([], wrong({ embedings: 'none' })), 'Did you mean "embeddings"'],
    ['unknown embeddings', () => createRetriever([], wrong({ embeddings: 'openai' })), 'embeddings must be'],
    [
      'an endpoint without a model',
      () => createRetriever([], { embeddings: wrong({ url: 'http://a.test' }) }),
      'model',
    ],
    [
      'an endpoint that is not an address',
      () => createRetriever([], { embeddings: { url: 'a.test', model: 'm' } }),
      'url',
    ],
    ['a snapshot that is a text', () => createRetriever([], wrong({ snapshot: 'x' })), 'snapshot'],
    ['a name that is none', () => createRetriever().remove(wrong(7)), 'remove'],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message);
  });

  it.each([
    ['a request that is not words', 7, {}, 'search: the query must be text'],
    ['a limit that is none', 'x', { limit: -1 }, 'search: "limit" must be'],
    ['a score that is none', 'x', { minScore: Number.NaN }, 'search: "minScore" must be'],
    ['a filter that is none', 'x', { filter: true }, 'search: "filter" must be'],
    ['an unknown option', 'x', { top: 3 }, 'search has no "top"'],
  ])('%s', async (_, query, options, message) => {
    await expect(createRetriever(tools).search(wrong(query), wrong(options))).rejects.toThrow(message);
  });
});
